"""Services of botocore by name and namespace."""

import pytest
from botocore.exceptions import UnknownServiceError
from case_tables import tabled

from boto_waiters_plus.check.botocore_services import service_by_any_name, service_by_namespace
from boto_waiters_plus.validation import check


@tabled("namespace ends in the service id", "namespace", "name")
def test_namespace_ends_in_the_service_id(namespace, name):
    assert service_by_namespace(f"com.amazonaws.{namespace}").name == name


@pytest.mark.parametrize("name", ["logs", "CloudWatch Logs", "cloudwatch-logs"])
def test_definition_may_use_any_name(name):
    assert service_by_any_name(name).name == "logs"


def test_unknown_service_of_the_caller_raises():
    with pytest.raises(UnknownServiceError):
        check({"smithy": "2.0"}, "nosuch")

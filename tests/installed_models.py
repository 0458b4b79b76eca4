"""What the installed botocore's models know."""

import botocore
import botocore.session
import pytest
from botocore.exceptions import UnknownServiceError

from boto_waiters_plus.definitions.shipped import WRITTEN_FOR


def _numbers(version):
    return tuple(int(part) for part in version.split(".")[:2])


IS_OLDER = _numbers(botocore.__version__) < _numbers(WRITTEN_FOR)
"""Whether botocore's models are older than those that the definitions were written from."""

with_the_operations_of_today = pytest.mark.skipif(
    IS_OLDER, reason="the installed botocore lacks some of the operations"
)

_SESSION = botocore.session.get_session()


def installed_operation(name):
    """The model of `SERVICE.OPERATION`; the test is skipped if the installed botocore lacks it."""
    service, _, operation = name.partition(".")
    try:
        model = _SESSION.get_service_model(service)
    except UnknownServiceError:
        pytest.skip(f"the installed botocore has no {service}")
    if operation not in model.operation_names:
        pytest.skip(f"the installed botocore has no {name}")
    return model.operation_model(operation)

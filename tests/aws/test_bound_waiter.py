"""A definition together with its operation: what is the same for every wait."""

import botocore.session
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp
from boto_waiters_plus.aws.parameters import empty_id_list
from boto_waiters_plus.aws.service_waiters import ServiceWaiters

ANY = {"state": "success", "matcher": {"success": True}}


def bound_waiter(service, name, definitions=()):
    model = botocore.session.get_session().get_service_model(service)
    return ServiceWaiters(model, Loader(), definitions).find(name)


def own(waitable, service, operation, **members):
    document = waitable("Mine", operation, ANY, namespace=f"com.amazonaws.{service}", **members)
    return bound_waiter(service, "Mine", bwp.load_definitions(document))


@pytest.mark.parametrize(
    ("operation", "members", "category", "message"),
    [
        (
            "DeleteTable",
            {},
            UserWarning,
            "waiter Mine polls DeleteTable, which may modify resources",
        ),
        ("DescribeTable", {"deprecated": True}, DeprecationWarning, "waiter Mine is deprecated"),
    ],
)
def test_it_warns_the_caller_once(waitable, operation, members, category, message):
    waiter = own(waitable, "dynamodb", operation, **members)
    with pytest.warns(category, match=f"^{message}$") as caught:
        waiter.warn()
    assert [record.filename for record in caught] == [__file__]
    waiter.warn()  # warnings are errors here


@pytest.mark.parametrize("parameters", [{"InstanceIds": []}, {"InstanceIds": ()}])
def test_an_empty_list_of_ids_is_found(parameters):
    assert empty_id_list(bound_waiter("ec2", "InstanceRunning").operation, parameters) == (
        "InstanceIds is empty; DescribeInstances would match every resource. "
        "Pass at least one value."
    )


def test_other_lists_may_be_empty():
    instances, services = (
        bound_waiter("ec2", "InstanceRunning"),
        bound_waiter("ecs", "ServicesStable"),
    )
    assert empty_id_list(instances.operation, {"Filters": [], "InstanceIds": ["i-1"]}) is None
    assert empty_id_list(services.operation, {"include": [], "services": ["s"]}) is None

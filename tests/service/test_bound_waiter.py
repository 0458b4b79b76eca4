"""A definition together with its operation: what is the same for every wait."""

import boto3
import botocore.session
import pytest
from botocore.loaders import Loader
from case_tables import tabled

import boto_waiters_plus as bwp
from boto_waiters_plus.service.parameters import empty_id_list
from boto_waiters_plus.service.service_waiters import ServiceWaiters

ANY = {"state": "success", "matcher": {"success": True}}


def bound_waiter(service, name, definitions=()):
    model = botocore.session.get_session().get_service_model(service)
    return ServiceWaiters(model, Loader(), definitions).find(name)


def own(waitable, service, operation, **members):
    document = waitable("Mine", operation, ANY, namespace=f"com.amazonaws.{service}", **members)
    return bound_waiter(service, "Mine", bwp.load_definitions(document))


@tabled("operation", "members", "category", "message")
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


NAMES = [f"name-{number}" for number in range(60)]


@pytest.mark.parametrize(
    ("count", "given", "sent"), [(11, None, 100), (60, None, 100), (10, None, None), (60, 70, 70)]
)
def test_a_page_has_all_that_a_request_names(answers, count, given, sent):
    client = bwp.enable(boto3.client("autoscaling"))
    found = [{"AutoScalingGroupName": name, "Instances": []} for name in NAMES[:count]]
    asked = answers(client, {"AutoScalingGroups": found})
    extra = {} if given is None else {"MaxRecords": given}
    names = NAMES[:count]
    client.wait_until_group_exists(AutoScalingGroupNames=names, max_wait=9, **extra)
    assert [request["body"].get("MaxRecords") for request in asked.requests] == [sent]


def test_more_names_than_a_page_has_are_refused(answers):
    client = bwp.enable(boto3.client("ecs"))
    asked = answers(client, {"capacityProviders": []})
    with pytest.raises(ValueError, match=r"^capacityProviders names 11 resources, and a page of "):
        client.wait_until_capacity_providers_active(capacityProviders=NAMES[:11], max_wait=9)
    assert asked.requests == []


def test_other_lists_may_be_empty():
    instances, services = (
        bound_waiter("ec2", "InstanceRunning"),
        bound_waiter("ecs", "ServicesStable"),
    )
    assert empty_id_list(instances.operation, {"Filters": [], "InstanceIds": ["i-1"]}) is None
    assert empty_id_list(services.operation, {"include": [], "services": ["s"]}) is None

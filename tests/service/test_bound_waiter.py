"""A definition together with its operation: what is the same for every wait."""

import boto3
import pytest

import boto_waiters_plus as bwp

ANY = {"state": "success", "matcher": {"success": True}}
NAMES = [f"name-{number}" for number in range(60)]


@pytest.mark.parametrize(("operation", "members", "category", "message"), [
    ("DeleteTable", {}, UserWarning, "DeleteTable"),
    ("DescribeTable", {"deprecated": True}, DeprecationWarning, "Mine"),
])  # fmt: skip
def test_it_warns_the_caller_once(answers, waitable, operation, members, category, message):
    definitions = waitable("Mine", operation, ANY, **members)
    client = bwp.enable(boto3.client("dynamodb"), definitions=definitions)
    answers(client, {})
    with pytest.warns(category, match=message) as caught:
        bwp.wait_until(client, "Mine", TableName="t", max_wait=60)
    assert [record.filename for record in caught] == [__file__]
    bwp.wait_until(client, "Mine", TableName="t", max_wait=60)  # Warnings are errors here.


@pytest.mark.parametrize(
    ("count", "given", "sent"), [(11, None, 100), (60, None, 100), (10, None, None), (60, 70, 70)]
)
def test_a_page_has_all_that_a_request_names(answers, count, given, sent):
    client, names = bwp.enable(boto3.client("autoscaling")), NAMES[:count]
    found = [{"AutoScalingGroupName": name, "Instances": []} for name in names]
    asked = answers(client, {"AutoScalingGroups": found})
    extra = {} if given is None else {"MaxRecords": given}
    client.wait_until_group_exists(AutoScalingGroupNames=names, max_wait=9, **extra)
    assert [request["body"].get("MaxRecords") for request in asked.requests] == [sent]


def test_more_names_than_a_page_has_are_refused(answers):
    client = bwp.enable(boto3.client("ecs"))
    asked = answers(client, {"capacityProviders": []})
    with pytest.raises(ValueError, match="capacityProviders"):
        client.wait_until_capacity_providers_active(capacityProviders=NAMES[:11], max_wait=9)
    assert asked.requests == []


def test_a_list_may_be_empty_unless_it_has_the_identifiers():
    ec2, ecs = bwp.enable(boto3.client("ec2")), bwp.enable(boto3.client("ecs"))
    with pytest.raises(ValueError, match="InstanceIds"):
        bwp.Wait(ec2, "InstanceRunning", {"InstanceIds": (), "Filters": []})
    assert bwp.Wait(ec2, "InstanceRunning", {"Filters": [], "InstanceIds": ["i-1"]})
    assert bwp.Wait(ecs, "ServicesStable", {"include": [], "services": ["s"]})

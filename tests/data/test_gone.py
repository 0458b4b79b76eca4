"""Waits until something is gone, whose answer is an empty list."""

import boto3
import pytest
from data_rules import check

from boto_waiters_plus import WaiterTimeoutError, wait_until

FILTERS = [{"Name": "tag:run", "Values": ["1"]}]
WAITS = [
    # service, waiter, list of the answer, request without names, parameter of names
    ("ec2", "VolumeDeleted", "Volumes", {"Filters": FILTERS}, "VolumeIds"),
    ("ec2", "VolumeDetached", "Volumes", {"Filters": FILTERS}, "VolumeIds"),
    ("ec2", "InstanceTerminated", "Reservations", {"Filters": FILTERS}, "InstanceIds"),
    ("ec2", "NatGatewayDeleted", "NatGateways", {"Filter": FILTERS}, "NatGatewayIds"),
    ("ec2", "VpnConnectionDeleted", "VpnConnections", {"Filters": FILTERS}, "VpnConnectionIds"),
    ("elbv2", "LoadBalancersDeleted", "LoadBalancers", {}, "Names"),
]


@pytest.mark.parametrize(("service", "waiter", "items", "unnamed", "names"), WAITS)
def test_an_empty_list_is_gone_unless_names_were_given(
    service, waiter, items, unnamed, names, answers, virtual_time
):
    client = boto3.client(service)
    answers(client, {items: []})
    assert wait_until(client, waiter, max_wait=60, **unnamed).attempts == 1
    with pytest.raises(WaiterTimeoutError):
        wait_until(client, waiter, max_wait=60, **{names: ["name-1", "name-2"]})


@pytest.mark.parametrize(("service", "waiter", "items", "token"), [
    ("ec2", "VolumeDeleted", "Volumes", "NextToken"),
    ("rds", "DBInstanceDeleted", "DBInstances", "Marker"),
])  # fmt: skip
def test_an_empty_page_that_others_follow_is_not_the_end(
    service, waiter, items, token, answers, virtual_time
):
    client = boto3.client(service)
    answers(client, {items: [], token: "more"}, {items: []})
    assert wait_until(client, waiter, max_wait=60).attempts == 2


@pytest.mark.parametrize(("name", "condition", "found"), [
    ("VolumeDeleted", "length(Volumes[?State == 'deleted']) > `0`", True),
    ("VolumeDeleted", "length(Volumes[?State != 'deleted']) == `0`", False),
    ("VolumeAvailable", "length(Volumes[?State == 'available']) > `0`", False),
])  # fmt: skip
def test_a_wait_that_no_empty_list_ends_is_found(name, condition, found, waitable):
    holds = {"path": condition, "expected": "true", "comparator": "booleanEquals"}
    success = {"state": "success", "matcher": {"output": holds}}
    model = waitable(name, "DescribeVolumes", success, namespace="com.amazonaws.ec2")
    events = [each for each in check(model) if each.id.startswith("WaiterNeverGone")]
    assert [each.id for each in events] == ([f"WaiterNeverGone.{name}"] if found else [])

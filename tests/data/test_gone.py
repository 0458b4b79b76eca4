"""Waits until something is gone, whose answer is an empty list."""

import boto3
import pytest

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

"""Waits until something is gone: what a filter selects, and what is asked for by names."""

import boto3
import pytest
from data_rules import check

import boto_waiters_plus as bwp

FILTER = [{"Name": "tag:Name", "Values": ["web"]}]
GONE = {
    "volume_deleted": ("Volumes", "VolumeIds", "Filters"),
    "nat_gateway_deleted": ("NatGateways", "NatGatewayIds", "Filter"),
    "vpc_peering_connection_deleted": (
        "VpcPeeringConnections",
        "VpcPeeringConnectionIds",
        "Filters",
    ),
    "vpn_connection_deleted": ("VpnConnections", "VpnConnectionIds", "Filters"),
    "instance_terminated": ("Reservations", "InstanceIds", "Filters"),
    "volume_detached": ("Volumes", "VolumeIds", "Filters"),
}
WAITERS = pytest.mark.parametrize("waiter", GONE)


@pytest.fixture
def ec2():
    bwp.install()
    return boto3.client("ec2")


def wait(client, waiter, **parameters):
    return getattr(client, f"wait_until_{waiter}")(**parameters, max_wait=60)


@WAITERS
def test_what_a_filter_selects_is_gone_when_it_finds_nothing(ec2, answers, virtual_time, waiter):
    items, _, by_filter = GONE[waiter]
    answers(ec2, {items: []})
    assert wait(ec2, waiter, **{by_filter: FILTER}).attempts == 1


@WAITERS
def test_what_is_asked_for_by_names_is_counted(ec2, answers, virtual_time, waiter):
    items, names, _ = GONE[waiter]
    answers(ec2, {items: []})
    with pytest.raises(bwp.WaiterTimeoutError):
        wait(ec2, waiter, **{names: ["a", "b"]})


def test_an_empty_page_that_others_follow_is_not_the_end(ec2, answers, virtual_time):
    answers(ec2, {"Volumes": [], "NextToken": "more"}, {"Volumes": []})
    assert wait(ec2, "volume_deleted", Filters=FILTER).attempts == 2
    rds = boto3.client("rds")
    answers(rds, {"DBInstances": [], "Marker": "more"}, {"DBInstances": []})
    assert wait(rds, "db_instance_deleted", Filters=FILTER).attempts == 2


@pytest.mark.parametrize(
    ("path", "is_told"), [(None, True), ("length(Volumes) == `0` && !NextToken", False)]
)
def test_a_wait_that_such_a_list_does_not_end_is_told(waitable, path, is_told):
    error = {"state": "success", "matcher": {"errorType": "InvalidVolume.NotFound"}}
    matcher = {"path": path, "expected": "true", "comparator": "booleanEquals"}
    empty = [] if path is None else [{"state": "success", "matcher": {"output": matcher}}]
    acceptors, namespace = [error, *empty], "com.amazonaws.ec2"
    document = waitable("VolumesDeleted", "DescribeVolumes", *acceptors, namespace=namespace)
    found = [each for each in check(document) if each.id == "WaiterNeverGone.VolumesDeleted"]
    assert bool(found) is is_told

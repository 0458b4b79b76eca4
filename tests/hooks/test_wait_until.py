"""`wait_until` with the caller's own definition instead of a name."""

import boto3
import pytest

import boto_waiters_plus as bwp


@pytest.fixture
def stream_ready(definition):
    (ready,) = bwp.load_definitions(definition("StreamReady"))
    return ready


def test_a_definition_stands_in_for_a_name(stream_ready, answers, active):
    client = boto3.client("kinesis")
    answers(client, active)
    outcome = bwp.wait_until(client, stream_ready, StreamName="s", max_wait=5)
    assert (outcome.waiter, outcome.attempts) == ("StreamReady", 1)
    wait = bwp.Wait(client, stream_ready, {"StreamName": "s"}, max_wait=5)
    assert bwp.wait_all([wait])[0].waiter == "StreamReady"


def test_a_definition_of_another_service_is_refused(stream_ready):
    with pytest.raises(bwp.WaiterDefinitionError, match="not of s3"):
        bwp.wait_until(boto3.client("s3"), stream_ready, max_wait=5)


def test_an_operation_that_the_service_lacks_is_named(definition):
    (ready,) = bwp.load_definitions(definition("StreamReady", operation="DescribeStreams"))
    with pytest.raises(bwp.WaiterDefinitionError, match=r"StreamReady.*DescribeStreams"):
        bwp.wait_until(boto3.client("kinesis"), ready, max_wait=5)


@pytest.mark.parametrize("waiter", [None, 7, {"acceptors": []}])
def test_neither_name_nor_definition_is_refused(waiter):
    with pytest.raises(TypeError, match="name of a waiter or a definition"):
        bwp.wait_until(boto3.client("kinesis"), waiter, max_wait=5)

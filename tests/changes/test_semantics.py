"""call_once against a service that keeps tokens, over a wire that loses requests and replies."""

import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from changes.token_service import FAULTS, TokenService, Wire, disconnect, schedule

from boto_waiters_plus import idempotency


@pytest.fixture(scope="module")
def client():
    """A client without retries of its own."""
    return boto3.client("ec2", config=Config(retries={"total_max_attempts": 1}))


@pytest.fixture
def world(client, virtual_time):
    """`world(*faults)`: a service, and the wire to it."""

    def make(*faults):
        service = TokenService()
        wire = Wire(service, faults)
        wire.connect(client)
        return service, wire

    yield make
    disconnect(client)


@pytest.fixture
def once(call_once, client, image):
    """`once(**options)`: the call."""
    return lambda **options: call_once(
        client.run_instances, **{"max_wait": 3600, **image, **options}
    )


def repeat_plainly(client, **parameters):
    """Call again until there is an answer, as scripts do."""
    while True:
        try:
            return client.run_instances(**parameters)
        except (BotoCoreError, ClientError, ResponseParserError):  # noqa: PERF203 - as scripts do
            time.sleep(2)


def test_one_instance_in_every_schedule(client, world, once, image):
    for seed in range(60):
        service, wire = world(*schedule(seed))
        call = once()
        assert (len(service.instances), {*wire.tokens}) == (1, {call.token})
        assert call.response["Instances"][0]["InstanceId"] == "i-1"
        service, _ = world(*schedule(seed))
        repeat_plainly(client, **image)
        assert len(service.instances) > 1


@pytest.mark.parametrize("fault", FAULTS)
def test_one_instance_after_each_fault(world, once, fault):
    service, wire = world(fault)
    call = once()
    assert (call.attempts, {*wire.tokens}) == (2, {call.token})
    assert [each["token"] for each in service.instances.values()] == [call.token]


def test_retries_of_the_sdk_carry_the_token_too(virtual_time, image):
    retrying = boto3.client("ec2", config=Config(retries={"total_max_attempts": 3}))
    service = TokenService()
    wire = Wire(service, ["reply lost"] * 4)
    wire.connect(retrying)
    call = idempotency.call_once(retrying.run_instances, max_wait=60, **image)
    assert (call.attempts, wire.tokens) == (2, [call.token] * 5)
    assert len(service.instances) == 1


def test_repeated_call_sees_the_resource_as_it_is_now(world, once):
    service, _ = world()
    token = once().token
    again = once(ClientToken=token, then_wait="InstanceExists")
    assert again.response["Instances"][0]["State"]["Name"] == "pending"
    service.instances["i-1"]["state"] = "terminated"
    assert once(ClientToken=token).response["Instances"][0]["State"]["Name"] == "terminated"
    with pytest.raises(idempotency.LateArrivalError):
        once(ClientToken=token, then_wait="InstanceRunning")
    with pytest.raises(idempotency.TokenMismatchError):
        once(ClientToken=token, MaxCount=2)
    assert len(service.instances) == 1

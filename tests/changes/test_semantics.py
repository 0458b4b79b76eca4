"""call_once against a service that keeps tokens, over a wire that loses requests and replies."""

import collections
import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from changes.token_service import FAULTS, TokenService, Wire, disconnect, schedule

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency

SCHEDULES = range(1000)


@pytest.fixture(scope="module")
def client():
    """A client without retries of its own."""
    return boto3.client("ec2", config=Config(retries={"total_max_attempts": 1}))


@pytest.fixture
def world(client, virtual_time):
    """`world(*faults, **options)`: a service, and the wire to it."""

    def make(*faults, **options):
        service = TokenService(virtual_time, **options)
        wire = Wire(service, faults)
        wire.connect(client)
        return service, wire

    yield make
    disconnect(client)


def repeat_plainly(client, **parameters):
    """Call again until there is an answer, as scripts do."""
    while True:
        try:
            return client.run_instances(**parameters)
        except (BotoCoreError, ClientError, ResponseParserError):  # noqa: PERF203 - as scripts do
            time.sleep(2)


def test_one_instance_in_every_schedule(client, world, image, virtual_time):
    once, plainly = collections.Counter(), collections.Counter()
    for seed in SCHEDULES:
        service, wire = world(*schedule(seed))
        call = idempotency.call_once(client.run_instances, max_wait=3600, **image)
        once[len(service.instances)] += 1
        assert set(wire.tokens) == {call.token}
        assert call.response["Instances"][0]["InstanceId"] == "i-1"
        service, _ = world(*schedule(seed))
        repeat_plainly(client, **image)
        plainly[min(len(service.instances), 2)] += 1
    # At least two; how many more depends on the schedule.
    assert {"call_once": once, "plain": plainly} == {"call_once": {1: 1000}, "plain": {2: 1000}}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_instance_after_each_fault(call_once, client, world, image, fault):
    service, wire = world(fault)
    call = call_once(client.run_instances, max_wait=60, **image)
    assert (len(service.instances), call.attempts, len(set(wire.tokens))) == (1, 2, 1)


def test_retries_of_the_sdk_carry_the_token_too(world, image):
    retrying = boto3.client("ec2", config=Config(retries={"total_max_attempts": 3}))
    service, wire = world()
    wire = Wire(service, ["reply lost"] * 4)
    wire.connect(retrying)
    call = idempotency.call_once(retrying.run_instances, max_wait=60, **image)
    assert (call.attempts, wire.tokens) == (2, [call.token] * 5)
    assert len(service.instances) == 1


def test_token_and_resource_are_recorded_together(client, world, image):
    service, _ = world("crash")
    call = idempotency.call_once(client.run_instances, max_wait=60, **image)
    assert call.response["Instances"][0]["InstanceId"] == "i-1"
    assert len(service.instances) == 1


def test_repeated_call_has_an_equivalent_response(client, world, image):
    service, _ = world()
    first = idempotency.call_once(client.run_instances, max_wait=60, **image)
    service.boot()
    repeated = {"ClientToken": first.token, "max_wait": 60, **image}
    again = idempotency.call_once(client.run_instances, then_wait="InstanceRunning", **repeated)
    [before], [after] = first.response["Instances"], again.response["Instances"]
    assert before["InstanceId"] == after["InstanceId"]
    assert before["ClientToken"] == after["ClientToken"] == first.token
    assert (before["State"]["Name"], after["State"]["Name"]) == ("pending", "running")
    assert again.outcome.observed == ["running"]


def test_equal_calls_without_a_common_token_are_two(client, world, image):
    service, _ = world()
    for _ in range(2):
        idempotency.call_once(client.run_instances, max_wait=60, **image)
    assert len(service.instances) == 2


def test_other_parameters_under_one_token_are_refused(client, world, image):
    service, _ = world()
    first = idempotency.call_once(client.run_instances, max_wait=60, **image)
    with pytest.raises(idempotency.TokenMismatchError):
        idempotency.call_once(
            client.run_instances, max_wait=60, ClientToken=first.token, **{**image, "MaxCount": 2}
        )
    assert len(service.instances) == 1


def test_late_repetition_sees_the_deleted_resource(client, world, image):
    service, _ = world()
    first = idempotency.call_once(client.run_instances, max_wait=60, **image)
    service.terminate("i-1")
    repeated = {"ClientToken": first.token, "max_wait": 60, **image}
    again = idempotency.call_once(client.run_instances, **repeated)
    assert again.response["Instances"][0]["State"]["Name"] == "terminated"
    with pytest.raises(idempotency.LateArrivalError):
        idempotency.call_once(client.run_instances, then_wait="InstanceRunning", **repeated)
    assert len(service.instances) == 1


def test_deletion_between_two_attempts_fails_the_wait(client, world, image):
    service, wire = world("reply lost")
    client.meta.events.register_first("request-created.ec2.RunInstances", terminate_all(service))
    with pytest.raises(idempotency.LateArrivalError):
        idempotency.call_once(
            client.run_instances, max_wait=60, then_wait="InstanceRunning", **image
        )
    assert len(wire.tokens) == 2


def terminate_all(service):
    def terminate(**_):
        for name in service.instances:
            service.terminate(name)

    return terminate


def test_forgotten_token_makes_another_resource(client, world, image, virtual_time):
    """What the service forgets, nothing on this side can know."""
    service, _ = world(keep_tokens_for=3600)
    first = idempotency.call_once(client.run_instances, max_wait=60, **image)
    service.terminate("i-1")
    virtual_time.advance(3601)
    again = idempotency.call_once(
        client.run_instances, max_wait=60, ClientToken=first.token, **image
    )
    assert again.response["Instances"][0]["InstanceId"] == "i-2"


def test_resource_can_be_found_by_its_token(client, world, image):
    service, _ = world()
    call = idempotency.call_once(client.run_instances, max_wait=60, **image)
    assert service.instances["i-1"]["token"] == call.token


def test_call_and_wait_in_one(client, world, image):
    service, _ = world("reply lost", "throttled")
    client.meta.events.register("before-call.ec2.DescribeInstances", lambda **_: service.boot())
    call = idempotency.call_once(
        client.run_instances, max_wait=60, then_wait="InstanceRunning", **image
    )
    assert call.outcome.observed == ["running"]
    assert call.outcome.waiter == "InstanceRunning"
    assert isinstance(call.outcome, bwp.ResponseOutcome)

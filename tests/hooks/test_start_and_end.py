"""Every wait that begins tells its start and its end, once each, however it ends.

Cancelled tasks and waits without time are in tests/wait/test_scenarios.py.
"""

import asyncio
import contextlib
import threading

import boto3
import pytest
from botocore.exceptions import NoCredentialsError

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions, testing

STREAM = {"StreamName": "s"}
IS_ACTIVE = {"path": "@", "expected": "ACTIVE", "comparator": "stringEquals"}
UP = {"acceptors": [{"state": "success", "matcher": {"output": IS_ACTIVE}}], "minDelay": 1}


class HookError(Exception):
    """What a hook or a callable of the caller raises."""


def status_of(client):
    return lambda: client.describe_stream(**STREAM)["StreamDescription"]["StreamStatus"]


def a_wait(client, options):
    return bwp.Wait(client, "stream_exists", STREAM, **options)


async def all_completed_async(client, options):
    return [each async for each in bwp.as_completed_async([a_wait(client, options)])]


def in_steps(client, options):
    with conditions.steps(max_wait=60) as step:
        step.wait_for_match(status_of(client), "ACTIVE", **options)


AWS = {
    "method": lambda c, o: c.wait_until_stream_exists(**STREAM, **o),
    "wait_until": lambda c, o: bwp.wait_until(c, "stream_exists", **STREAM, **o),
    "wait_until_async": lambda c, o: bwp.wait_until_async(c, "stream_exists", **STREAM, **o),
    "get_waiter": lambda c, o: c.get_waiter("stream_exists").wait(**STREAM, **o),
    "wait_all": lambda c, o: bwp.wait_all([a_wait(c, o)]),
    "wait_all_async": lambda c, o: bwp.wait_all_async([a_wait(c, o)]),
    "wait_any": lambda c, o: bwp.wait_any([a_wait(c, o)]),
    "as_completed": lambda c, o: list(bwp.as_completed([a_wait(c, o)])),
    "as_completed_async": all_completed_async,
}
FORMS = {
    "poll": lambda c, o: conditions.poll(status_of(c), UP, **o),
    "poll_async": lambda c, o: conditions.poll_async(status_of(c), UP, **o),
    "wait_for": lambda c, o: conditions.wait_for(lambda: status_of(c)() == "ACTIVE", **o),
    "wait_for_first": lambda c, o: conditions.wait_for_first(
        [lambda: status_of(c)() == "ACTIVE"], **o
    ),
    "steps": in_steps,
    "assert_eventually": lambda c, o: testing.assert_eventually(status_of(c), "ACTIVE", **o),
    "assert_always_async": lambda c, o: testing.assert_always_async(status_of(c), "CREATING", **o),
}
WAYS = AWS | FORMS
IS_SET = threading.Event()
IS_SET.set()
DENIED = {"Error": {"Code": "AccessDenied", "Message": "no"}}
ENDINGS = {
    "matched": ("ACTIVE", {}, "success"),
    "failed": (DENIED, {}, "failure"),
    "timed out": ("CREATING", {"max_wait": 3}, "timeout"),
    "cancelled": ("CREATING", {"cancel_event": IS_SET}, "cancel"),
    "a hook raised": (HookError(), {}, "exception"),
    "no credentials": (NoCredentialsError(), {}, "exception"),
    "Ctrl-C": (KeyboardInterrupt(), {}, "exception"),
    "a handler raised": ("CREATING", {"delay_pace": lambda _: 1 / 0}, "exception"),
}


def told(events):
    """Return what the events of one wait tell, without its attempts."""
    return [event.kind for event in events if event.kind != "attempt"]


@pytest.fixture
def events():
    """The events of all waits."""
    found = []
    bwp.install(on_event=found.append)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_start_and_end_come_once(answers, events, way, ending, virtual_time):
    answer, options, expected = ENDINGS[ending]
    match ending:
        case "failed" if way in FORMS and "poll" not in way:
            expected = "exception"  # A form has no acceptors: an error of its callable is raised.
        case "a hook raised" if "poll" in way:
            expected = "failure"  # Any error of the callable may be one that acceptors name.
        case "Ctrl-C" if way.endswith("_async") and way not in AWS:
            expected = "cancel"  # It reaches the loop first, and that cancels its tasks.
    client = boto3.client("kinesis")
    is_state = isinstance(answer, str)
    answers(client, {"StreamDescription": {"StreamStatus": answer}} if is_state else answer)
    with contextlib.suppress(Exception, KeyboardInterrupt):
        waiting = WAYS[way](client, {"max_wait": 30, **options})
        if asyncio.iscoroutine(waiting):
            asyncio.run(waiting)
    assert told(events) == ["start", expected]
    if way in AWS:
        assert {event.label for event in events} == {"kinesis StreamName=s"}


INSTANCE_STATES = {"ACTIVE": "running", "CREATING": "pending"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_each_wait_of_a_shared_call_tells_both(answers, events, ending, virtual_time):
    answer, options, expected = ENDINGS[ending]
    ids = ["i-1", "i-2", "i-3"]
    if isinstance(answer, str):
        state = {"State": {"Name": INSTANCE_STATES[answer]}}
        instances = [{"InstanceId": one, **state} for one in ids]
        answer = {"Reservations": [{"Instances": instances}]}
    client = boto3.client("ec2")
    answers(client, answer)
    options = {"max_wait": 60, **options}
    waits = [bwp.Wait(client, "instance_running", {"InstanceIds": [one]}, **options) for one in ids]
    with contextlib.suppress(Exception, KeyboardInterrupt):
        bwp.wait_all(waits)
    assert told(events) == [*["start"] * 3, *[expected] * 3]


@pytest.mark.parametrize("count", [1, 3])
def test_ctrl_c_in_a_handler_leaves_no_wait_open(answers, creating, count):
    def handle(event):
        events.append(event)
        if event.kind == "attempt":
            raise KeyboardInterrupt

    events = []
    bwp.install(on_event=handle)
    client = boto3.client("kinesis")
    answers(client, creating)
    waits = [a_wait(client, {"max_wait": 60}) for _ in range(count)]
    with pytest.raises(KeyboardInterrupt):
        bwp.wait_all(waits, coalesce=False)
    assert sorted(told(events)) == [*["cancel"] * count, *["start"] * count]


@pytest.mark.usefixtures("virtual_time")
def test_closing_as_completed_tells_the_ends_of_the_rest(answers, events, active, creating):
    clients = [boto3.client("kinesis"), boto3.client("kinesis")]
    answers(clients[0], active)
    answers(clients[1], creating)
    waits = [a_wait(client, {"max_wait": 60}) for client in clients]
    with contextlib.closing(bwp.as_completed(waits)) as results:
        next(results)
    assert [event for event in told(events) if event != "start"] == ["success", "cancel"]

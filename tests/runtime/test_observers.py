"""The events that observers get, and what becomes of the errors that observers raise."""

import asyncio
import dataclasses

import pytest
from runtime.calls import ScriptedCall, scripted_wait

from boto_waiters_plus import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
    WaitEvent,
)
from boto_waiters_plus.conditions import poll, poll_async
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.runtime.attempt import Attempt, Reply
from boto_waiters_plus.runtime.sync import drive


def state(expected, leads_to):
    matcher = {"path": "state", "expected": expected, "comparator": "stringEquals"}
    return {"state": leads_to, "matcher": {"output": matcher}}


WAITER = {
    "acceptors": [
        state("up", "success"),
        state("broken", "failure"),
        {"state": "retry", "matcher": {"errorType": "NotYet"}},
    ],
    "minDelay": 5,
    "maxDelay": 5,
}
DEFINITION = parse_waiter("ThingUp", WAITER, operation="GetThing", source="test")


def seen(observed, acceptor=None):
    return Attempt(facts=Facts(acceptor=acceptor), response={}, observed=observed)


def run(*replies, cancel=None, **policy):
    """Return the events of a wait, and its outcome or error."""
    events = []
    wait_run = scripted_wait(DEFINITION, service="acme", observers=[events.append], **policy)
    try:
        end = drive(wait_run, ScriptedCall(replies), cancel=cancel)
    except Exception as error:
        end = error
    return events, end


def event(kind, **facts):
    return WaitEvent(kind=kind, waiter="ThingUp", operation="GetThing", service="acme", **facts)


def test_observer_gets_start_attempts_and_end(virtual_time):
    error = Attempt(
        facts=Facts(acceptor=2),
        exception=ValueError(),
        error="NotYet, HTTP 404",
        error_code="NotYet",
    )
    events, _ = run(seen("starting"), error, seen("up", 0))
    assert events == [
        event("started"),
        event("attempt", attempts=1, observed="starting", next_delay=5),
        event("attempt", attempts=2, elapsed=5, error="NotYet", next_delay=5),
        event("attempt", attempts=3, elapsed=10, observed="up"),
        event("ended", attempts=3, elapsed=10, observed="up", ending="succeeded"),
    ]


@pytest.mark.parametrize(
    ("replies", "policy", "ending", "kind"),
    [
        ([seen("broken", 1)], {}, "failed", WaiterFailedError),
        ([seen("x")] * 4, {}, "timed out", WaiterTimeoutError),
        ([seen("x")] * 2, {"max_attempts": 2}, "attempts used up", WaiterAttemptsError),
        ([Reply(ended="deadline")], {}, "timed out", TimeoutError),
        ([Reply(ended="cancelled")], {}, "cancelled", WaiterCancelledError),
    ],
)
def test_observer_gets_how_the_wait_ended(replies, policy, ending, kind, virtual_time):
    events, end = run(*replies, **policy)
    assert isinstance(end, kind)
    assert [found.kind for found in events].count("ended") == 1
    assert events[-1].ending == ending
    assert events[-1].attempts == end.attempts


def test_cancelled_wait_without_a_call_is_observed(virtual_time):
    class Set:
        def is_set(self):
            return True

        def wait(self, timeout):
            return True

    events, end = run(cancel=Set())
    assert isinstance(end, WaiterCancelledError)
    assert [found.kind for found in events] == ["started", "ended"]
    assert events[-1].attempts == end.attempts == 0


@pytest.mark.parametrize("value", [{"Password": "hunter2"}, ["x"] * 9, [{"k": "v"}], None, b"raw"])
def test_observer_never_gets_unsafe_values(value, virtual_time):
    events, _ = run(seen(value, 0))
    assert [found.observed for found in events] == [None, None, None]


def test_on_attempt_gets_attempts_only(virtual_time):
    events, states = [], iter(["starting", "up"])
    poll(lambda: {"state": next(states)}, WAITER, max_wait=60, on_attempt=events.append)
    assert [(found.kind, found.attempts) for found in events] == [("attempt", 1), ("attempt", 2)]
    assert [(found.elapsed, found.next_delay) for found in events] == [(0, 5), (5, None)]


class HookError(Exception):
    pass


def test_error_of_on_attempt_ends_the_wait_unchanged(virtual_time):
    def hook(_event):
        raise HookError

    calls = []

    def call():
        calls.append(virtual_time.now)
        return {"state": "starting"}

    async def call_async():
        return call()

    with pytest.raises(HookError):
        poll(call, WAITER, max_wait=60, on_attempt=hook)
    with pytest.raises(HookError):
        asyncio.run(poll_async(call_async, WAITER, max_wait=60, on_attempt=hook))
    assert calls == [0, 0]


class NotYet(Exception):  # noqa: N818 - the name that the waiter's acceptor has
    pass


def test_no_acceptor_matches_an_error_of_on_attempt(virtual_time):
    def hook(_event):
        raise NotYet

    with pytest.raises(NotYet):
        poll(lambda: {"state": "starting"}, WAITER, max_wait=60, on_attempt=hook)


def test_events_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        event("started").attempts = 5

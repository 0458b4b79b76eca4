"""What observers are told, and what becomes of their errors."""

import asyncio
import dataclasses

import pytest

from boto_waiters_plus import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
    WaitEvent,
)
from boto_waiters_plus.conditions import poll, poll_async
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.runtime.attempt import Attempt
from boto_waiters_plus.runtime.sync import drive
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun


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


class Port:
    """Gives the attempts it was made with."""

    def __init__(self, *attempts):
        self._attempts = iter(attempts)

    def poll(self, time_left):
        return next(self._attempts)


def seen(observed, acceptor=None):
    return Attempt(facts=Facts(acceptor=acceptor), response={}, observed=observed)


def run(*attempts, cancel=None, **policy):
    """The events of a wait, and how it ended."""
    events = []
    wait_run = WaitRun(
        WaitDescription.of(DEFINITION, "acme"),
        Policy(**{"min_delay": 5, "max_delay": 5, "max_wait": 12, "pace": "fixed", **policy}),
        observers=[events.append],
    )
    try:
        end = drive(wait_run, Port(*attempts), cancel=cancel)
    except Exception as error:
        end = error
    return events, end


def event(kind, **facts):
    return WaitEvent(kind=kind, waiter="ThingUp", operation="GetThing", service="acme", **facts)


def test_observer_is_told_of_start_attempts_and_end(virtual_time):
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
    ("attempts", "policy", "ending", "kind"),
    [
        ([seen("broken", 1)], {}, "failed", WaiterFailedError),
        ([seen("x")] * 4, {}, "timed out", WaiterTimeoutError),
        ([seen("x")] * 2, {"max_attempts": 2}, "attempts used up", WaiterAttemptsError),
        ([Attempt(facts=Facts(acceptor=None), cut_off="deadline")], {}, "timed out", TimeoutError),
        (
            [Attempt(facts=Facts(acceptor=None), cut_off="cancel")],
            {},
            "cancelled",
            WaiterCancelledError,
        ),
    ],
)
def test_observer_is_told_how_it_ended(attempts, policy, ending, kind, virtual_time):
    events, end = run(*attempts, **policy)
    assert isinstance(end, kind)
    assert [found.kind for found in events].count("ended") == 1
    assert events[-1].ending == ending
    assert events[-1].attempts == end.attempts


def test_observer_is_told_of_a_cancelled_wait_that_made_no_call(virtual_time):
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
def test_observer_is_not_shown_what_may_not_be_shown(value, virtual_time):
    events, _ = run(seen(value, 0))
    assert [found.observed for found in events] == [None, None, None]


def test_on_attempt_is_told_of_attempts_alone(virtual_time):
    events, answers = [], iter(["starting", "up"])
    poll(lambda: {"state": next(answers)}, WAITER, max_wait=60, on_attempt=events.append)
    assert [(found.kind, found.attempts) for found in events] == [("attempt", 1), ("attempt", 2)]
    assert [(found.elapsed, found.next_delay) for found in events] == [(0, 5), (5, None)]


class HookError(Exception):
    pass


def test_what_on_attempt_raises_ends_the_wait_as_it_is(virtual_time):
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


def test_error_of_on_attempt_is_no_answer_that_an_acceptor_could_take(virtual_time):
    def hook(_event):
        raise NotYet

    with pytest.raises(NotYet):
        poll(lambda: {"state": "starting"}, WAITER, max_wait=60, on_attempt=hook)


def test_events_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        event("started").attempts = 5

"""The events that observers get, and what becomes of the errors that observers raise."""

import asyncio
import dataclasses
import warnings

import pytest
from batch.calls import ScriptedCall, scripted_wait

from boto_waiters_plus import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
    WaitEvent,
)
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.conditions import poll, poll_async
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.sync import drive


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
    names = {"waiter": "ThingUp", "operation": "GetThing", "service": "acme", "label": "acme thing"}
    return WaitEvent(kind=kind, **{"wait_id": 0, **names, **facts})


def test_observer_gets_start_attempts_and_end(virtual_time):
    error = Attempt(
        facts=Facts(acceptor=2),
        exception=ValueError(),
        error="NotYet, HTTP 404",
        error_code="NotYet",
    )
    events, _ = run(seen("starting"), error, seen("up", 0))
    assert [dataclasses.replace(found, wait_id=0) for found in events] == [
        event("start"),
        event("attempt", attempt=1, state="starting", next_delay=5),
        event("attempt", attempt=2, elapsed=5, error="NotYet", next_delay=5),
        event("attempt", attempt=3, elapsed=10, state="up"),
        event("success", attempt=3, elapsed=10, state="up"),
    ]


def test_wait_id_tells_waits_apart(virtual_time):
    first, second = run(seen("up", 0))[0], run(seen("up", 0))[0]
    [one], [other] = ({found.wait_id for found in events} for events in (first, second))
    assert one != other


@pytest.mark.parametrize(
    ("replies", "policy", "last", "kind"),
    [
        ([seen("broken", 1)], {}, "failure", WaiterFailedError),
        ([seen("x")] * 4, {}, "timeout", WaiterTimeoutError),
        ([seen("x")] * 2, {"max_attempts": 2}, "timeout", WaiterAttemptsError),
        ([Reply(ended="deadline")], {}, "timeout", TimeoutError),
        ([Reply(ended="cancelled")], {}, "cancel", WaiterCancelledError),
    ],
)
def test_observer_gets_how_the_wait_ended(replies, policy, last, kind, virtual_time):
    events, end = run(*replies, **policy)
    assert isinstance(end, kind)
    assert {found.kind for found in events[:-1]} <= {"start", "attempt"}
    assert (events[-1].kind, events[-1].error) == (last, type(end).__name__)
    assert (events[-1].attempt, events[-1].message) == (end.attempts, str(end))


def test_cancelled_wait_without_a_call_is_observed(virtual_time):
    class Set:
        def is_set(self):
            return True

        def wait(self, timeout):
            return True

    events, end = run(cancel=Set())
    assert isinstance(end, WaiterCancelledError)
    assert [found.kind for found in events] == ["start", "cancel"]
    assert events[-1].attempt == end.attempts == 0


@pytest.mark.parametrize("value", [{"Password": "hunter2"}, ["x"] * 9, [{"k": "v"}], None, b"raw"])
def test_observer_never_gets_unsafe_values(value, virtual_time):
    events, _ = run(seen(value, 0))
    assert [found.state for found in events] == [None, None, None]


def test_on_attempt_gets_attempts_only(virtual_time):
    events, states = [], iter(["starting", "up"])
    poll(lambda: {"state": next(states)}, WAITER, max_wait=60, on_attempt=events.append)
    assert [(found.kind, found.attempt) for found in events] == [("attempt", 1), ("attempt", 2)]
    assert [(found.elapsed, found.next_delay) for found in events] == [(0, 5), (5, None)]


class HookError(Exception):
    pass


@pytest.mark.parametrize("poll_in", [poll, lambda *a, **k: asyncio.run(poll_async(*a, **k))])
def test_error_of_a_handler_is_reported_once(poll_in, virtual_time, caplog):
    told, states = [], iter(["starting", "starting", "up"])

    def hook(event):
        told.append(event.attempt)
        raise HookError("oh")

    with pytest.warns(RuntimeWarning) as warned:
        outcome = poll_in(lambda: {"state": next(states)}, WAITER, max_wait=60, on_attempt=hook)
    assert (outcome.attempts, told) == (3, [1, 2, 3])
    assert [str(each.message) for each in warned] == [
        "on_attempt raised HookError: oh; the wait goes on"
    ]
    assert "boto_waiters_plus" not in warned[0].filename
    [record] = caplog.records
    assert record.exc_info[0] is HookError


def test_a_warning_as_error_does_not_end_the_wait(virtual_time, recwarn):
    warnings.simplefilter("error")
    outcome = poll(lambda: {"state": "up"}, WAITER, max_wait=60, on_attempt=lambda _: 1 / 0)
    assert outcome.attempts == 1


def test_other_observers_are_told_after_one_raised(virtual_time):
    told = []
    wait_run = scripted_wait(DEFINITION, observers=[lambda _: 1 / 0, told.append])
    with pytest.warns(RuntimeWarning, match="on_event raised ZeroDivisionError"):
        drive(wait_run, ScriptedCall([seen("up", 0)]))
    assert [found.kind for found in told] == ["start", "attempt", "success"]


def test_what_is_no_error_passes_a_handler(virtual_time):
    def stop(_event):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        poll(lambda: {"state": "up"}, WAITER, max_wait=60, on_attempt=stop)


def test_events_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        event("start").attempt = 5

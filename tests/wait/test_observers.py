"""The events that observers get, and what becomes of the errors that observers raise."""

import asyncio
import dataclasses
import warnings

import pytest
from botocore.exceptions import ReadTimeoutError
from wait.forms import scripted

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import poll, poll_async

LOST = ReadTimeoutError(endpoint_url="https://thing")


class NotYetError(Exception):
    """An error of the callable that an acceptor retries."""


WAITER = bwp.WaiterDefinition.from_states(
    "Up",
    "GetThing",
    path="state",
    success=["up"],
    failure=["broken"],
    retry_on_error=["NotYetError"],
    min_delay=5,
    max_delay=5,
)


@pytest.fixture
def told():
    """The events of all waits."""
    events = []
    bwp.install(on_event=events.append)
    return events


def test_observer_gets_start_attempts_and_end(told, virtual_time):
    poll(scripted("starting", NotYetError(), "up"), WAITER, max_wait=60, label="thing")
    facts = ("kind", "attempt", "elapsed", "state", "error", "next_delay")
    assert [tuple(getattr(event, fact) for fact in facts) for event in told] == [
        ("start", 0, 0, None, None, None),
        ("attempt", 1, 0, "starting", None, 5),
        ("attempt", 2, 5, None, "NotYetError", 5),
        ("attempt", 3, 10, "up", None, None),
        ("success", 3, 10, "up", None, None),
    ]
    assert {event.label for event in told} == {"thing"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        told[0].attempt = 5


def test_an_attempt_says_why_its_state_does_not_count(told, virtual_time, caplog):
    caplog.set_level("INFO", logger="boto_waiters_plus")
    options = {"settle_for": 60, "success_count": 2, "max_wait": 60}
    poll(scripted("up", LOST, "starting", "up", "up"), WAITER, **options)
    messages = [event.message for event in told if event.kind == "attempt" and event.state]
    old, rest, *others = messages[0], messages[2], messages[1], messages[3]
    assert old == "up may be from before a change: it counts after 60 s"
    assert rest == "up counts once it was seen 2 times in a row"
    assert others == [None, None]
    assert all(any(text in line for line in caplog.messages) for text in (old, rest))


def test_wait_id_tells_waits_apart(told, virtual_time):
    for _ in range(2):
        poll(scripted("starting", "up"), WAITER, max_wait=60)
    ids = [event.wait_id for event in told]
    assert ids == [ids[0]] * 4 + [ids[-1]] * 4
    assert ids[0] != ids[-1]


@pytest.mark.parametrize("value", [{"Password": "hunter2"}, ["x"] * 9, [{"k": "v"}]])
def test_observer_never_gets_unsafe_values(told, value, virtual_time):
    with pytest.raises(bwp.WaiterError):
        poll(scripted(value), WAITER, max_wait=12)
    assert {event.state for event in told} == {None}


@pytest.mark.parametrize("poll_in", [poll, lambda *a, **k: asyncio.run(poll_async(*a, **k))])
def test_error_of_a_handler_is_reported_once(told, poll_in, virtual_time, caplog):
    attempts = []

    def hook(event):
        attempts.append(event.attempt)
        raise LookupError("oh")

    call = scripted("starting", "starting", "up")
    with pytest.warns(RuntimeWarning) as warned:
        outcome = poll_in(call, WAITER, max_wait=60, on_attempt=hook)
    assert (outcome.attempts, attempts) == (3, [1, 2, 3])
    [warning] = warned
    assert "LookupError: oh" in str(warning.message)
    assert "boto_waiters_plus" not in warning.filename
    [record] = caplog.records
    assert record.exc_info[0] is LookupError
    # Other observers are told.
    assert [event.kind for event in told] == ["start", *["attempt"] * 3, "success"]


def test_a_warning_as_error_does_not_end_the_wait(virtual_time):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = poll(scripted("up"), WAITER, max_wait=60, on_attempt=lambda _: 1 / 0)
    assert outcome.attempts == 1


def test_what_is_no_error_passes_a_handler(virtual_time):
    def stop(_event):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        poll(scripted("up"), WAITER, max_wait=60, on_attempt=stop)

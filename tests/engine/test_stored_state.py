"""A wait that is stored, moved and resumed."""

import json
import math

import pytest

from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.machine import (
    Begin,
    Facts,
    Machine,
    Pause,
    Policy,
    Poll,
    Responded,
    Succeeded,
    TimedOut,
    Woken,
)

STATES = (AcceptorState.SUCCESS,)
POLICY = Policy.of(min_delay=5, max_delay=5, max_wait=300)
NO_MATCH = Responded(Facts(acceptor=None))


def machine_after(*events, policy=POLICY):
    """Return a machine that was stepped with these events, one second apart."""
    machine = Machine(STATES, policy, digest="abc")
    for now, event in enumerate(events):
        machine.step(event, now, min)
    return machine


def resumed(machine, policy=POLICY, **options):
    return Machine.from_json(machine.to_json(), STATES, policy, digest="abc", **options)


def test_stored_state_is_small_and_holds_durations_only():
    stored = json.loads(machine_after(Begin(), NO_MATCH).to_json())
    texts = {name: stored.pop(name) for name in ("definition", "phase")}
    assert texts == {"definition": "abc", "phase": "pausing"}
    assert (stored["version"], stored["attempts"], stored["elapsed"]) == (1, 1, 1.0)
    assert all(isinstance(each, (bool, int, float)) for each in stored.values())
    assert len(stored) < 20


def test_wait_can_be_stored_before_it_begins():
    machine = resumed(Machine(STATES, POLICY, digest="abc"))
    assert machine.step(Begin(), 1e9, min) == Poll(300)


def test_awaited_event_is_accepted_after_loading():
    assert resumed(machine_after(Begin())).step(NO_MATCH, 50, min) == Pause(5)
    assert resumed(machine_after(Begin(), NO_MATCH)).step(Woken(), 50, min) == Poll(294)


def test_begin_repeats_the_last_decision():
    paused = resumed(machine_after(Begin(), NO_MATCH))
    assert paused.step(Begin(), 777, min) == Pause(5)
    assert paused.step(Woken(), 782, min) == Poll(294)
    polling = resumed(machine_after(Begin(), NO_MATCH, Woken()))
    assert polling.step(Begin(), 777, min) == Poll(294)
    assert polling.state.attempts == 2
    assert polling.step(Responded(Facts(acceptor=0)), 778, min) == Succeeded(0)


@pytest.mark.parametrize(("options", "elapsed"), [({}, 0), ({"now": 1000}, 7)])
def test_time_counts_from_now_if_that_is_given(options, elapsed):
    machine = resumed(machine_after(Begin()), **options)
    machine.step(NO_MATCH, 1007, min)
    assert machine.state.elapsed == elapsed


def test_time_since_now_shortens_the_pause():
    policy = Policy.of(min_delay=20, max_delay=20, max_wait=10)
    paused = machine_after(Begin(), NO_MATCH, policy=policy)
    assert paused.state.last
    machine = resumed(paused, policy, now=100)
    pause = machine.step(Begin(), 105, min)
    # One second had passed before and five since: a longer pause would miss the deadline.
    assert pause.seconds <= 4
    assert isinstance(machine.step(Woken(), 105 + pause.seconds, min), Poll)


@pytest.mark.parametrize("events", [[Begin()], [Begin(), NO_MATCH]])
def test_wait_resumed_after_its_deadline_makes_no_call(events):
    machine = resumed(machine_after(*events), now=100)
    assert machine.step(Begin(), 1000, min) == TimedOut()


@pytest.mark.parametrize("delay", [5, 1])
def test_a_signal_is_remembered_whether_or_not_it_shortened_the_pause(delay):
    policy = Policy.of(min_delay=delay, max_delay=delay, max_wait=300)
    paused = machine_after(Begin(), NO_MATCH, Woken(early=True), policy=policy)
    paused.step(NO_MATCH, 2.25, min)
    pause = paused.step(Woken(early=True), 2.25, min)
    assert 0 < pause.seconds < 1
    assert pause.is_brought_forward
    assert resumed(paused, policy).step(Begin(), 500, min) == pause


STORED = json.loads(machine_after(Begin()).to_json())
WRONG = {
    "version": [2, None],
    "definition": ["other", None],
    "phase": ["dancing", None],
    "attempts": ["many", None, -1, 1.5],
    "elapsed": [[]],
    "slept": [math.nan],
    "pause": [-5],
    "last": ["no"],
    "unknown": [1],
}


@pytest.mark.parametrize(
    "text",
    [
        *("", "not json", "null", "[]", "5", "{}", '{"version": 1}'),
        '{"version": 1, "definition": "abc"}',
        *(
            pytest.param(json.dumps(STORED | {name: value}), id=f"{name} {value}")
            for name, values in WRONG.items()
            for value in values
        ),
    ],
)
def test_invalid_state_is_refused(text):
    with pytest.raises(ValueError):
        Machine.from_json(text, STATES, POLICY, digest="abc")

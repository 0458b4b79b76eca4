"""A wait that is stored, moved and resumed."""

import json

import pytest
from case_tables import tabled

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
POLICY = Policy(min_delay=5, max_delay=5, max_wait=300)
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
    assert stored == {
        "version": 1,
        "definition": "abc",
        "phase": "pausing",
        "attempts": 1,
        "elapsed": 1.0,
        "slept": 0,
        "pause": 5,
        "last": False,
        "brought_forward": False,
        "next_early": 0,
        "successes": 0,
        "slowest": 1.0,
        "throttles": 0,
        "first_attempt": 0.0,
        "answered": True,
        "transient_errors": 0,
        "holding": False,
        "held_since": 0,
        "moved": False,
    }


def test_a_state_of_version_0_1_0_can_be_loaded():
    stored = json.loads(machine_after(Begin(), NO_MATCH).to_json())
    for name in ("answered", "transient_errors", "holding", "held_since"):
        del stored[name]
    machine = Machine.from_json(json.dumps(stored), STATES, POLICY, digest="abc")
    assert machine.step(Begin(), 50, min) == Pause(5)
    assert machine.step(Woken(), 55, min) == Poll(294)


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


def test_time_between_storing_and_loading_is_not_counted():
    machine = resumed(machine_after(Begin()))
    machine.step(NO_MATCH, 1e9, min)
    assert machine.state.elapsed == 0


def test_with_now_time_passes_from_then_on():
    machine = resumed(machine_after(Begin()), now=1000)
    machine.step(NO_MATCH, 1007, min)
    assert machine.state.elapsed == 7


def test_time_since_now_shortens_the_pause():
    policy = Policy(min_delay=20, max_delay=20, max_wait=10)
    paused = machine_after(Begin(), NO_MATCH, policy=policy)
    assert paused.state.last
    machine = resumed(paused, policy, now=100)
    pause = machine.step(Begin(), 105, min)
    # One second had passed before and five since: a longer pause would miss the deadline.
    assert pause.seconds <= 4
    assert isinstance(machine.step(Woken(), 105 + pause.seconds, min), Poll)


def test_wait_resumed_after_its_deadline_makes_no_call():
    machine = resumed(machine_after(Begin()), now=100)
    assert machine.step(Begin(), 1000, min) == TimedOut()


def test_a_pause_that_a_signal_shortened_is_resumed():
    paused = machine_after(Begin(), NO_MATCH, Woken(early=True))
    for event in (NO_MATCH, Woken(early=True)):
        paused.step(event, 2.25, min)
    assert 0 < paused.state.pause < 1
    pause = Pause(paused.state.pause, is_brought_forward=True)
    assert resumed(paused).step(Begin(), 500, min) == pause


def test_a_signal_that_did_not_shorten_the_pause_is_remembered():
    policy = Policy(min_delay=1, max_delay=1, max_wait=300)
    paused = machine_after(Begin(), NO_MATCH, Woken(early=True), policy=policy)
    paused.step(NO_MATCH, 2, min)
    pause = paused.step(Woken(early=True), 2, min)
    assert pause.is_brought_forward
    assert resumed(paused, policy).step(Begin(), 500, min) == pause


@tabled("text")
def test_invalid_state_is_refused(text):
    with pytest.raises(
        ValueError,
        match=r"^not the state|^state of definition .+, not of 'abc'$|^Expecting|valid Phase$",
    ):
        Machine.from_json(text, STATES, POLICY, digest="abc")

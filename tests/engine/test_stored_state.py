"""A wait that is stored, moved and taken up again."""

import json

import pytest

from boto_waiters_plus.engine.machine import (
    Begin,
    Facts,
    Machine,
    MachineMisuseError,
    Pause,
    Phase,
    Policy,
    Poll,
    Responded,
    Succeeded,
    TimedOut,
    Woken,
)
from boto_waiters_plus.engine.model import AcceptorState

STATES = (AcceptorState.SUCCESS,)
POLICY = Policy(min_delay=5, max_delay=5, max_wait=300)
NO_MATCH = Responded(Facts(acceptor=None, seconds=1))


def machine_after(*events, policy=POLICY):
    """A machine that took these events, each a second after the one before."""
    machine = Machine(STATES, policy, digest="abc")
    for now, event in enumerate(events):
        machine.step(event, now, min)
    return machine


def taken_up(machine, policy=POLICY, **options):
    return Machine.from_json(machine.to_json(), STATES, policy, digest="abc", **options)


def test_stored_state_is_small_and_holds_durations_only():
    stored = json.loads(machine_after(Begin(), NO_MATCH).to_json())
    assert stored == {
        "version": 1,
        "definition": "abc",
        "phase": "pausing",
        "attempts": 1,
        "elapsed": 1.0,
        "spent": 1.0,
        "pause": 5,
        "last": False,
        "successes": 0,
        "slowest": 1,
        "throttles": 0,
        "first_attempt": 0.0,
    }


def test_a_wait_can_be_stored_before_it_begins():
    machine = taken_up(Machine(STATES, POLICY, digest="abc"))
    assert machine.step(Begin(), 1e9, min) == Poll(300)


def test_an_event_that_was_waited_for_is_taken_after_loading():
    assert taken_up(machine_after(Begin())).step(NO_MATCH, 50, min) == Pause(5)
    assert taken_up(machine_after(Begin(), NO_MATCH)).step(Woken(), 50, min) == Poll(294)


def test_begin_repeats_the_pause_or_the_look_that_was_under_way():
    paused = taken_up(machine_after(Begin(), NO_MATCH))
    assert paused.step(Begin(), 777, min) == Pause(5)
    assert paused.step(Woken(), 782, min) == Poll(294)
    polling = taken_up(machine_after(Begin(), NO_MATCH, Woken()))
    assert polling.step(Begin(), 777, min) == Poll(294)
    assert polling.attempts == 2
    assert polling.step(Responded(Facts(acceptor=0)), 778, min) == Succeeded(0)


def test_what_happens_between_storing_and_loading_is_not_counted():
    machine = taken_up(machine_after(Begin()))
    machine.step(NO_MATCH, 1e9, min)
    assert machine.elapsed == 0


def test_with_now_the_clock_goes_on_from_there():
    machine = taken_up(machine_after(Begin()), now=1000)
    machine.step(NO_MATCH, 1007, min)
    assert machine.elapsed == 7


def test_time_that_has_passed_since_now_is_taken_off_the_pause():
    policy = Policy(min_delay=20, max_delay=20, max_wait=10)
    paused = machine_after(Begin(), NO_MATCH, policy=policy)
    assert paused.last
    machine = taken_up(paused, policy, now=100)
    pause = machine.step(Begin(), 105, min)
    # One second was used before, five have passed since: a longer pause would miss the deadline.
    assert pause.seconds <= 4
    assert isinstance(machine.step(Woken(), 105 + pause.seconds, min), Poll)


def test_a_wait_that_is_taken_up_after_its_deadline_makes_no_call():
    machine = taken_up(machine_after(Begin()), now=100)
    assert machine.step(Begin(), 1000, min) == TimedOut()


def test_an_ended_wait_stays_ended():
    machine = taken_up(machine_after(Begin(), Responded(Facts(acceptor=0))))
    assert machine.phase is Phase.ENDED
    with pytest.raises(MachineMisuseError):
        machine.step(Begin(), 0, min)


def changed(**members):
    stored = json.loads(machine_after(Begin()).to_json())
    return json.dumps({**stored, **members})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "null",
        "[]",
        "5",
        "{}",
        json.dumps({"version": 1}),
        json.dumps({"version": 1, "definition": "abc"}),
        changed(version=2),
        changed(version=None),
        changed(definition="other"),
        changed(definition=None),
        changed(phase="dancing"),
        changed(phase=None),
        changed(unknown=1),
        changed(attempts="many"),
        changed(attempts=None),
        changed(attempts=-1),
        changed(elapsed=[]),
        changed(spent=float("nan")),
        changed(pause=-5),
        changed(last="no"),
    ],
)
def test_a_state_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"state|Expecting|Phase"):
        Machine.from_json(text, STATES, POLICY, digest="abc")

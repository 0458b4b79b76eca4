"""A wait that is stored, moved and resumed."""

import json
import math

import pytest

from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState

STATES = (AcceptorState.SUCCESS,)
POLICY = m.Policy.of(min_delay=5, max_delay=5, max_wait=300)
NO_MATCH = m.Responded(m.Facts(acceptor=None))


def machine_after(*events, policy=POLICY):
    """Return a machine that was stepped with these events, one second apart."""
    machine = m.Machine(STATES, policy, digest="abc")
    for now, event in enumerate(events):
        machine.step(event, now, min)
    return machine


def resumed(machine, policy=POLICY, **options):
    return m.Machine.from_json(machine.to_json(), STATES, policy, digest="abc", **options)


def test_stored_state_is_small_and_holds_durations_only():
    stored = json.loads(machine_after(m.Begin(), NO_MATCH).to_json())
    texts = {name: stored.pop(name) for name in ("definition", "phase")}
    assert texts == {"definition": "abc", "phase": "pausing"}
    assert (stored["version"], stored["attempts"], stored["elapsed"]) == (1, 1, 1.0)
    assert all(isinstance(each, (bool, int, float)) for each in stored.values())
    assert len(stored) < 20


def test_wait_can_be_stored_before_it_begins():
    machine = resumed(m.Machine(STATES, POLICY, digest="abc"))
    assert machine.step(m.Begin(), 1e9, min) == m.Poll(300)


@pytest.mark.parametrize(("options", "elapsed"), [({}, 0), ({"now": 1000}, 7)])
def test_time_counts_from_now_if_that_is_given(options, elapsed):
    machine = resumed(machine_after(m.Begin()), **options)
    machine.step(NO_MATCH, 1007, min)
    assert machine.state.elapsed == elapsed


def test_time_since_now_shortens_the_pause():
    policy = m.Policy.of(min_delay=20, max_delay=20, max_wait=10)
    machine = resumed(machine_after(m.Begin(), NO_MATCH, policy=policy), policy, now=100)
    assert machine.state.last
    pause = machine.step(m.Begin(), 105, min)
    # One second had passed before and five since: a longer pause would miss the deadline.
    assert pause.seconds <= 4
    assert isinstance(machine.step(m.Woken(), 105 + pause.seconds, min), m.Poll)


@pytest.mark.parametrize("events", [[m.Begin()], [m.Begin(), NO_MATCH]])
def test_wait_resumed_after_its_deadline_makes_no_call(events):
    machine = resumed(machine_after(*events), now=100)
    assert machine.step(m.Begin(), 1000, min) == m.TimedOut()


@pytest.mark.parametrize("delay", [5, 1])
def test_a_signal_is_remembered_whether_or_not_it_shortened_the_pause(delay):
    policy = m.Policy.of(min_delay=delay, max_delay=delay, max_wait=300)
    paused = machine_after(m.Begin(), NO_MATCH, m.Woken(early=True), policy=policy)
    paused.step(NO_MATCH, 2.25, min)
    pause = paused.step(m.Woken(early=True), 2.25, min)
    assert 0 < pause.seconds < 1
    assert pause.is_brought_forward
    assert resumed(paused, policy).step(m.Begin(), 500, min) == pause


STORED = json.loads(machine_after(m.Begin()).to_json())
WRONG = {
    "version": [2, None], "definition": ["other", None], "phase": ["dancing", None],
    "attempts": ["many", None, -1, 1.5], "elapsed": [[]], "slept": [math.nan], "pause": [-5],
    "last": ["no"], "unknown": [1],
}  # fmt: skip


WRONG_ROWS = [json.dumps(STORED | {name: each}) for name in WRONG for each in WRONG[name]]
NO_STATE = ["", "not json", "null", "[]", "5", "{}", '{"version": 1}']


@pytest.mark.parametrize("text", [*NO_STATE, '{"version": 1, "definition": "abc"}', *WRONG_ROWS])
def test_invalid_state_is_refused(text):
    with pytest.raises(ValueError):
        m.Machine.from_json(text, STATES, POLICY, digest="abc")

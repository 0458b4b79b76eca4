"""A wait, stepped by hand through `cases/machine.json`."""

import json
import math
import re
from unittest import mock

import pytest
from case_tables import cases
from engine.delays import run

from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState

CASES = cases("machine")["cases"]
SUCCESS = (AcceptorState.SUCCESS,)
BOUNDS = {"min_delay": 2, "max_delay": 120, "max_wait": 300}
MATCH, NO_MATCH = (m.Responded(m.Facts(acceptor=index)) for index in (0, None))
EVENTS = {
    "begin": m.Begin(), "expired": m.CallTimedOut(),
    "woken": m.Woken(), "early": m.Woken(early=True),
    "cancelled": m.Cancelled(), "uncalled": m.Cancelled(uncalled=True),
    "read": m.ReadEnded(), "read more": m.ReadEnded(more=True),
}  # fmt: skip


def draws_of(draw):
    left = iter(draw)
    return {"low": min, "high": max}.get(str(draw), lambda *_: next(left))


def event_of(text):
    """Return the event that the words of the table stand for."""
    if text in EVENTS:
        return EVENTS[text]
    kind, *words = text.split()
    index = next((int(word) for word in words if word.isdigit()), None)
    pairs = (word.partition("=") for word in words if word.islower())
    flags = {name: json.loads(value) if value else True for name, _, value in pairs}
    names = frozenset(word for word in words if word.isupper())
    facts = m.Facts(acceptor=index, error_names=names, **flags)
    return {"response": m.Responded, "error": m.Raised}[kind](facts)


def text_of(decision):
    """Return the words of the table: what is decided, and its seconds or its acceptor."""
    words = re.sub("(?<!^)([A-Z])", r" \1", type(decision).__name__).lower()
    match decision:
        case m.Poll(time_left=None):
            return f"{words} -"
        case m.Poll(time_left=number) | m.Pause(seconds=number):
            return f"{words} {number:.9g}"
        case m.Succeeded(acceptor=int(number)) | m.Failed(acceptor=int(number)):
            return f"{words} {number}"
    return words


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_decisions(case):
    states = tuple(AcceptorState(state) for state in case["states"])
    rule = m.LastAttempt(case["policy"].get("last_attempt", "late"))
    policy = m.Policy.of(**{**case["policy"], "last_attempt": rule})
    machine, draws = m.Machine(states, policy), draws_of(case["draw"])
    for event, now, decision in case["steps"]:
        answer = text_of(machine.step(event_of(event), now, draws))
        assert answer == decision, f"after {event} at {now}"


def test_pace_function_gets_the_number_of_attempts():
    pace = mock.Mock(side_effect=lambda number: 10 * number)
    machine = m.Machine(SUCCESS, m.Policy.of(**BOUNDS, pace=pace))
    decision, _, pauses = run(machine, lambda _: m.Facts(acceptor=None), min)
    assert isinstance(decision, m.TimedOut)
    assert [call.args for call in pace.mock_calls] == [(number,) for number in range(1, 9)]
    assert pauses == [10, 20, 30, 40, 50, 60, 70, 19.75]  # the last one is cut to what is left


def first_pause(pace):
    """Return the decision after the first attempt of a wait with this pace."""
    machine = m.Machine(SUCCESS, m.Policy.of(**BOUNDS, pace=pace))
    machine.step(m.Begin(), 0, min)
    return machine.step(NO_MATCH, 0, min)


@pytest.mark.parametrize("delay", [0, -5, 1e-9])
def test_pace_of_zero_never_becomes_a_busy_loop(delay):
    assert first_pause(lambda _: delay) == m.Pause(0.001)


@pytest.mark.parametrize("delay", [float("nan"), float("inf"), None, "5", True, [5]])
def test_pace_must_return_a_length_of_time(delay):
    with pytest.raises(ValueError, match="delay_pace"):
        first_pause(lambda _: delay)


@pytest.mark.parametrize("events", [
    [m.Woken()],
    [m.CallTimedOut()],
    [MATCH],
    [m.Begin(), m.Woken()],
    [m.Begin(), NO_MATCH, MATCH],
    [m.Begin(), MATCH, m.Begin()],
    [m.Begin(), MATCH, m.Cancelled()],
])  # fmt: skip
def test_unexpected_event_is_refused(events):
    machine = m.Machine(SUCCESS, m.Policy.of(**BOUNDS))
    *before, wrong = events
    for event in before:
        machine.step(event, 0, min)
    with pytest.raises(m.MachineMisuseError, match=type(wrong).__name__):
        machine.step(wrong, 0, min)


def test_rounding_does_not_cost_the_last_attempt():
    bounds, rule = dict.fromkeys(BOUNDS, 10_000_000), m.LastAttempt.DEADLINE
    policy = m.Policy.of(**bounds, initial_delay=2253740.907812, last_attempt=rule)
    machine, now = m.Machine(SUCCESS, policy), 0.1
    now += machine.step(m.Begin(), now, min).seconds
    machine.step(m.Woken(), now, min)
    last = machine.step(NO_MATCH, now, min)
    assert machine.state.last
    assert isinstance(machine.step(m.Woken(), now + last.seconds, min), m.Poll)


# --- a wait that is stored, moved and resumed ---------------------------------------------------

POLICY = m.Policy.of(min_delay=5, max_delay=5, max_wait=300)


def machine_after(*events, policy=POLICY):
    """Return a machine that was stepped with these events, one second apart."""
    machine = m.Machine(SUCCESS, policy, digest="abc")
    for now, event in enumerate(events):
        machine.step(event, now, min)
    return machine


def resumed(machine, policy=POLICY, **options):
    return m.Machine.from_json(machine.to_json(), SUCCESS, policy, digest="abc", **options)


def test_wait_can_be_stored_before_it_begins():
    machine = resumed(m.Machine(SUCCESS, POLICY, digest="abc"))
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
        m.Machine.from_json(text, SUCCESS, POLICY, digest="abc")

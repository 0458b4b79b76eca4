"""A wait, stepped by hand through `cases/machine.json`."""

import json
from pathlib import Path

import pytest

from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.machine import (
    AttemptsUsedUp,
    Begin,
    CallTimedOut,
    Cancelled,
    Explain,
    Facts,
    Failed,
    LastAttempt,
    Machine,
    MachineMisuseError,
    Pause,
    Policy,
    Poll,
    Raised,
    ReadEnded,
    Responded,
    Succeeded,
    TimedOut,
    WaitCancelled,
    Woken,
)

CASES = json.loads((Path(__file__).parents[1] / "cases" / "machine.json").read_text())["cases"]
SUCCESS = (AcceptorState.SUCCESS,)
SIMPLE_EVENTS = {
    "begin": Begin(),
    "woken": Woken(),
    "early": Woken(early=True),
    "expired": CallTimedOut(),
    "cancelled": Cancelled(),
    "uncalled": Cancelled(uncalled=True),
    "read": ReadEnded(),
}


def draws_of(draw):
    left = iter(draw)
    return {"low": min, "high": max}.get(str(draw), lambda *_: next(left))


def event_of(text):
    """Return the event that the words of the table stand for."""
    kind, *words = text.split()
    if words == ["more"]:
        return ReadEnded(more=True)
    if kind in SIMPLE_EVENTS:
        return SIMPLE_EVENTS[kind]
    index = next((int(word) for word in words if word.isdigit()), None)
    pairs = (word.partition("=") for word in words if word.islower())
    flags = {name: json.loads(value) if value else True for name, _, value in pairs}
    names = frozenset(word for word in words if word.isupper())
    facts = Facts(acceptor=index, error_names=names, **flags)
    return {"response": Responded, "error": Raised}[kind](facts)


def text_of(decision):
    match decision:
        case Poll(time_left=seconds):
            kind = "explain" if isinstance(decision, Explain) else "poll"
            return f"{kind} -" if seconds is None else f"{kind} {seconds:.9g}"
        case Pause(seconds=seconds):
            return f"pause {seconds:.9g}"
        case Succeeded(acceptor=index):
            return f"succeeded {index}"
        case Failed(acceptor=None):
            return "failed"
        case Failed(acceptor=index):
            return f"failed {index}"
        case TimedOut():
            return "timed out"
        case AttemptsUsedUp():
            return "attempts used up"
        case WaitCancelled():
            return "wait cancelled"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_decisions(case):
    states = tuple(AcceptorState(state) for state in case["states"])
    rule = LastAttempt(case["policy"].get("last_attempt", "late"))
    policy = Policy.of(**{**case["policy"], "last_attempt": rule})
    machine, draws = Machine(states, policy), draws_of(case["draw"])
    for event, now, decision in case["steps"]:
        answer = text_of(machine.step(event_of(event), now, draws))
        assert answer == decision, f"after {event} at {now}"


def test_pace_function_gets_the_number_of_attempts():
    asked, pauses, now = [], [], 0
    policy = Policy.of(
        min_delay=2, max_delay=120, max_wait=300, pace=lambda n: asked.append(n) or 10 * n
    )
    machine = Machine(SUCCESS, policy)
    decision = machine.step(Begin(), now, min)
    while not isinstance(decision, TimedOut):
        event = Responded(Facts(acceptor=None))
        if isinstance(decision, Pause):
            pauses.append(decision.seconds)
            now += decision.seconds
            event = Woken()
        decision = machine.step(event, now, min)
    assert asked == [1, 2, 3, 4, 5, 6, 7, 8]
    assert pauses == [10, 20, 30, 40, 50, 60, 70, 19.75]  # the last one is cut to what is left


def first_pause(pace):
    """Return the decision after the first attempt of a wait with this pace."""
    machine = Machine(SUCCESS, Policy.of(min_delay=2, max_delay=120, max_wait=300, pace=pace))
    machine.step(Begin(), 0, min)
    return machine.step(Responded(Facts(acceptor=None)), 0, min)


@pytest.mark.parametrize("delay", [0, -5, 1e-9])
def test_pace_of_zero_never_becomes_a_busy_loop(delay):
    assert first_pause(lambda _: delay) == Pause(0.001)


@pytest.mark.parametrize("delay", [float("nan"), float("inf"), None, "5", True, [5]])
def test_pace_must_return_a_length_of_time(delay):
    with pytest.raises(ValueError, match="delay_pace"):
        first_pause(lambda _: delay)


NO_MATCH = Responded(Facts(acceptor=None))


@pytest.mark.parametrize(
    "events",
    [
        [Woken()],
        [CallTimedOut()],
        [Responded(Facts(acceptor=0))],
        [Begin(), Woken()],
        [Begin(), NO_MATCH, Responded(Facts(acceptor=0))],
        [Begin(), Responded(Facts(acceptor=0)), Begin()],
        [Begin(), Responded(Facts(acceptor=0)), Cancelled()],
    ],
)
def test_unexpected_event_is_refused(events):
    machine = Machine(SUCCESS, Policy.of(min_delay=2, max_delay=120, max_wait=300))
    *before, wrong = events
    for event in before:
        machine.step(event, 0, min)
    with pytest.raises(MachineMisuseError, match=type(wrong).__name__):
        machine.step(wrong, 0, min)


def test_rounding_does_not_cost_the_last_attempt():
    bounds = dict.fromkeys(("min_delay", "max_delay", "max_wait"), 10_000_000)
    policy = Policy.of(**bounds, initial_delay=2253740.907812, last_attempt=LastAttempt.DEADLINE)
    machine, now = Machine(SUCCESS, policy), 0.1
    now += machine.step(Begin(), now, min).seconds
    machine.step(Woken(), now, min)
    last = machine.step(NO_MATCH, now, min)
    assert machine.state.last
    assert isinstance(machine.step(Woken(), now + last.seconds, min), Poll)

"""What a successful wait returns."""

import dataclasses

import pytest

from boto_waiters_plus import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from boto_waiters_plus.engine.acceptors import MatchedAcceptor

SECRET = "hunter2-very-secret"
FACTS = {
    "waiter": "ThingUp",
    "attempts": 3,
    "elapsed": 4.5678,
    "acceptor": MatchedAcceptor(0, "success when state is 'up'"),
    "observed": "up",
}


def responded(**facts):
    return ResponseOutcome(response={"state": "up", "Secret": SECRET}, **{**FACTS, **facts})


def raised(**facts):
    return ExceptionOutcome(exception=KeyError(SECRET), **{**FACTS, **facts})


def test_outcomes_are_told_apart_by_a_match_statement():
    def told(outcome):
        match outcome:
            case ResponseOutcome(response=response):
                return response["state"]
            case ExceptionOutcome(exception=exception):
                return type(exception)

    assert told(responded()) == "up"
    assert told(raised()) is KeyError


@pytest.mark.parametrize("outcome", [responded(), raised()], ids=["response", "exception"])
def test_both_carry_the_facts_and_cannot_be_changed(outcome):
    assert isinstance(outcome, WaiterOutcome)
    assert {name: getattr(outcome, name) for name in FACTS} == FACTS
    assert (outcome.response is None) != (outcome.exception is None)
    for name in (*FACTS, "response", "exception", "new"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(outcome, name, 1)


def test_repr_tells_the_facts_and_never_the_response():
    for shown in (repr(responded()), repr(raised())):
        assert "waiter='ThingUp', attempts=3, elapsed=4.568, acceptor=" in shown
        assert "observed='up'" in shown
        assert SECRET not in shown
    assert repr(raised()).endswith(", exception=KeyError)")


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        *[(value, True) for value in ("3", 3, 2.5, True, ["up", "3", 3], [])],
        *[(value, False) for value in ({"k": SECRET}, [SECRET] * 6, [{"k": SECRET}], b"raw")],
    ],
)
def test_repr_shows_what_may_be_shown(value, is_shown):
    outcome = responded(observed=value)
    assert repr(outcome).endswith(f", observed={value!r})") is is_shown
    assert SECRET not in str(outcome)
    assert outcome.observed == value
    assert len(repr(responded(observed="x" * 5000))) < 400


def test_outcomes_compare_by_their_facts():
    assert responded() == responded()
    assert responded() != responded(attempts=4)
    assert raised() == raised()  # two exceptions are never equal, what they say may be
    assert responded() != raised()

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
    for name in (*FACTS, "response", "exception", "new"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(outcome, name, 1)


def test_each_has_none_for_what_only_the_other_carries():
    assert responded().exception is None
    assert raised().response is None
    with pytest.raises(TypeError):
        ResponseOutcome(**FACTS)
    with pytest.raises(TypeError):
        ResponseOutcome(response={}, exception=KeyError(), **FACTS)


def test_repr_tells_the_facts_and_never_the_response():
    assert repr(responded()) == (
        "ResponseOutcome(waiter='ThingUp', attempts=3, elapsed=4.568, "
        "acceptor=\"success when state is 'up'\", observed='up')"
    )
    assert repr(raised(observed=None)) == (
        "ExceptionOutcome(waiter='ThingUp', attempts=3, elapsed=4.568, "
        "acceptor=\"success when state is 'up'\", exception=KeyError)"
    )


@pytest.mark.parametrize("value", ["3", 3, 2.5, True, ["up", "3", 3], []])
def test_repr_shows_the_observed_value_as_it_is(value):
    assert repr(responded(observed=value)).endswith(f", observed={value!r})")


@pytest.mark.parametrize("value", [{"Secret": SECRET}, [SECRET] * 6, [{"k": SECRET}], b"raw"])
def test_repr_shows_no_observed_value_that_may_not_be_shown(value):
    outcome = responded(observed=value)
    assert "observed" not in repr(outcome)
    assert SECRET not in str(outcome)
    assert outcome.observed == value


def test_long_observed_value_is_cut_in_the_repr_alone():
    outcome = responded(observed="x" * 5000)
    assert len(repr(outcome)) < 400
    assert len(outcome.observed) == 5000


def test_outcomes_compare_by_their_facts():
    assert responded() == responded()
    assert responded() != responded(attempts=4)
    assert raised() == raised()  # two exceptions are never equal, what they say may be
    assert responded() != raised()


def test_facts_are_given_by_name():
    with pytest.raises(TypeError):
        ResponseOutcome({}, "ThingUp", 1, 1.0, FACTS["acceptor"])

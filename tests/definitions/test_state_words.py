"""States sorted by their names, and those that documentation names."""

import json
from pathlib import Path

import pytest

from boto_waiters_plus.definitions.state_words import documented_states, sort_states

CASES = json.loads((Path(__file__).parents[1] / "cases" / "state-words.json").read_text())


def sorted_as(values, success=""):
    return [" ".join(group) for group in sort_states(values.split(), success.split())]


@pytest.mark.parametrize(("success", "failure", "passing"), CASES["sorted"])
def test_states_are_sorted_by_their_words(success, failure, passing):
    mixed, groups = sorted(success + failure + passing), [success, failure, passing]
    assert [sorted(group) for group in sort_states(mixed)] == [*map(sorted, groups)]


def test_the_callers_success_decides_what_fails():
    states = "CREATING CREATE_FAILED ACTIVE DELETING DELETE_FAILED DELETED STOPPED"
    success, *others = sorted_as(states, "DELETED")
    assert (success, others[0]) == ("DELETED", "DELETE_FAILED")
    assert others[1] == "CREATING CREATE_FAILED ACTIVE DELETING STOPPED"
    success, *others = sorted_as(states, "STOPPED")
    assert (success, others[0]) == ("STOPPED", "CREATE_FAILED DELETE_FAILED DELETED")
    assert others[1] == "CREATING ACTIVE DELETING"


@pytest.mark.parametrize(("documentation", "states"), CASES["documented"])
def test_states_are_read_from_documentation(documentation, states):
    found = documented_states(documentation)
    assert found == tuple(states)

"""`boto-wait draft`."""

import json

import pytest
from installed_models import with_the_operations_of_today

import boto_waiters_plus as bwp


@pytest.fixture
def draft_of(command):
    """`draft_of(words)`: the waiter, its states, and what stderr has."""

    def run(words):
        code, out, err = command(f"draft {words}")
        assert code == 0
        [waiter] = bwp.load_definitions(json.loads(out))
        shapes = json.loads(out)["shapes"].values()
        [facts] = [each for s in shapes for each in s["traits"]["smithy.waiters#waitable"].values()]
        states = {"success": set(), "failure": set(), "retry": set()}
        for acceptor in facts["acceptors"]:
            states[acceptor["state"]].add(acceptor["matcher"]["output"]["expected"])
        return waiter, states, err

    return run


@with_the_operations_of_today
def test_states_are_sorted_and_marked_as_guesses(draft_of):
    waiter, states, err = draft_of("accessanalyzer get-finding-recommendation")
    assert (waiter.name, waiter.tags) == ("FindingRecommendationSucceeded", ("draft",))
    assert (states["success"], states["failure"]) == ({"SUCCEEDED"}, {"FAILED"})
    assert waiter.documentation.startswith("DRAFT: ")
    assert f"has {waiter.name} already" in err


def test_other_paths_are_named_and_can_be_chosen(draft_of):
    *_, err = draft_of("appstream DescribeImages")
    assert "--path Images[].ImageErrors[].ErrorCode" in err
    *_, err = draft_of("appstream describe-images --path Images[0].State")
    assert "--path" not in err


def test_given_states_are_no_guesses(draft_of):
    words = "--success ENDED --failure LOST --name JobOver --path Status"
    waiter, states, err = draft_of(f"appstream describe-images {words}")
    assert (waiter.name, waiter.documentation[:8]) == ("JobOver", "Success:")
    assert (states["success"], states["failure"]) == ({"ENDED"}, {"LOST"})
    assert "[DANGER]" in err  # there is no such path

"""Words of names: what states mean, and which waiter is meant by a name that none has."""

import pytest
from botocore import xform_name
from case_tables import cases

from boto_waiters_plus.definitions.near_waiters import near_waiters
from boto_waiters_plus.definitions.shipped import shipped_services, unread_shipped
from boto_waiters_plus.definitions.state_words import documented_states, sort_states

NEAR, WORDS = cases("near-waiters"), cases("state-words")
ENDS = frozenset(NEAR["ends"])
# Another waiter has the very state that was given.
NOT_SUGGESTED = {("deadline", "job_succeeded"), ("rds", "db_snapshot_available")}


@pytest.mark.parametrize(("success", "failure", "passing"), WORDS["sorted"])
def test_states_are_sorted_by_their_words(success, failure, passing):
    mixed, groups = sorted(success + failure + passing), [success, failure, passing]
    assert [sorted(group) for group in sort_states(mixed)] == [*map(sorted, groups)]


@pytest.mark.parametrize(("success", "failure", "passing"), WORDS["chosen"])
def test_the_callers_success_decides_what_fails(success, failure, passing):
    assert [*map(list, sort_states(WORDS["states"], success))] == [success, failure, passing]


@pytest.mark.parametrize(("documentation", "states"), WORDS["documented"])
def test_states_are_read_from_documentation(documentation, states):
    assert documented_states(documentation) == tuple(states)


# --- the names that are suggested for a waiter that does not exist ------------------------------


def is_end(name):
    return not ENDS.isdisjoint(name.partition("_or_")[0].split("_"))


def waiters(service):
    return [xform_name(name) for name in unread_shipped(service)]


@pytest.mark.parametrize(("service", "guess", "meant"), NEAR["guesses"], ids=str)
def test_a_guess_is_answered_with_what_was_meant(service, guess, meant):
    suggested = near_waiters(guess, waiters(service))
    assert len(suggested) <= 3
    assert {*meant} <= {*suggested}
    assert meant or not suggested


def test_names_keep_the_spelling_of_those_known():
    assert near_waiters("bucketexists", ["BucketExists", "BucketNotExists"]) == ["BucketExists"]
    assert near_waiters("BucketReady", ["bucket-exists", "bucket-not-exists"]) == ["bucket-exists"]
    assert near_waiters("anything", []) == []


def test_no_suggestion_has_the_opposite_meaning():
    wrong = []
    pairs = NEAR["opposites"].items()
    for service in shipped_services():
        known = waiters(service)
        for name in known:
            for state, opposite in (*pairs, *((two, one) for one, two in pairs)):
                resource = name.removesuffix(f"_{state}")
                if resource == name or {"not", "or"} & {*resource.split("_")}:
                    continue
                guesses = {f"{resource}_{opposite}"}
                if not is_end(resource):
                    guesses.add(f"{opposite}_{resource}")
                for guess in guesses - {*known}:
                    near = near_waiters(guess, known)
                    if name in near or any(is_end(each) != is_end(guess) for each in near):
                        wrong.append((service, guess, near))
    assert not wrong


def test_words_of_one_meaning_are_near():
    missed = set()
    for service in shipped_services():
        known = waiters(service)
        for place, name in enumerate(known):
            resource, _, state = name.rpartition("_")
            # A third of the words for each name: all of them take too long.
            words = NEAR["near"][place % 3 :: 3] if state in NEAR["near"] else ()
            guesses = {f"{resource}_{word}" for word in words}
            if any(name not in near_waiters(guess, known) for guess in guesses - {*known}):
                missed.add((service, name))
    assert missed <= NOT_SUGGESTED

"""The names that are suggested for a waiter that does not exist."""

import json
from pathlib import Path

import pytest
from botocore import xform_name

from boto_waiters_plus.definitions.near_waiters import near_waiters
from boto_waiters_plus.definitions.shipped import shipped_services, unread_shipped

CASES = json.loads((Path(__file__).parents[1] / "cases" / "near-waiters.json").read_text())

OTHER_WORDS = {
    **dict.fromkeys(("complete", "completed", "succeeded", "successful", "done"), "finished"),
    **dict.fromkeys(("available", "active", "ready"), "running"),
}
OPPOSITES = ("deleted", "terminated", "failed", "_stopped", "not_exists", "delete_complete")


def waiters(service):
    return [xform_name(name) for name in unread_shipped(service)]


@pytest.mark.parametrize(("service", "guess", "meant"), CASES, ids=str)
def test_a_guess_is_answered_with_what_was_meant(service, guess, meant):
    suggested = near_waiters(guess, waiters(service))
    assert len(suggested) <= 3
    assert {*meant} <= {*suggested}
    assert meant or not suggested


def test_another_word_of_the_meaning_finds_each_waiter():
    wrong, tried = [], 0
    for service in list(shipped_services())[::5]:
        known = waiters(service)
        for name in known:
            resource, _, state = name.rpartition("_")
            guess = f"{resource}_{OTHER_WORDS.get(state)}"
            if state in OTHER_WORDS and "delete" not in name and guess not in known:
                tried += 1
                suggested = near_waiters(guess, known)
                opposite = [
                    each for each in suggested if each.endswith(OPPOSITES) and "_or_" not in each
                ]
                wrong += [(service, guess, suggested)] if opposite or name not in suggested else []
    assert tried > 100
    assert wrong == []


def test_names_keep_the_spelling_of_those_known():
    assert near_waiters("bucketexists", ["BucketExists", "BucketNotExists"]) == ["BucketExists"]
    assert near_waiters("BucketReady", ["bucket-exists", "bucket-not-exists"]) == ["bucket-exists"]
    assert near_waiters("anything", []) == []

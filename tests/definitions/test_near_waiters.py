"""The names that are suggested for a waiter that does not exist."""

import json
from pathlib import Path

import pytest
from botocore import xform_name

from boto_waiters_plus.definitions.near_waiters import near_waiters
from boto_waiters_plus.definitions.shipped import unread_shipped

CASES = json.loads((Path(__file__).parents[1] / "cases" / "near-waiters.json").read_text())


def waiters(service):
    return [xform_name(name) for name in unread_shipped(service)]


@pytest.mark.parametrize(("service", "guess", "meant"), CASES, ids=str)
def test_a_guess_is_answered_with_what_was_meant(service, guess, meant):
    suggested = near_waiters(guess, waiters(service))
    assert len(suggested) <= 3
    assert {*meant} <= {*suggested}
    assert meant or not suggested


def test_names_keep_the_spelling_of_those_known():
    assert near_waiters("bucketexists", ["BucketExists", "BucketNotExists"]) == ["BucketExists"]
    assert near_waiters("BucketReady", ["bucket-exists", "bucket-not-exists"]) == ["bucket-exists"]
    assert near_waiters("anything", []) == []

"""Definitions as objects: their words, their digest, and conversion to JSON."""

import dataclasses
from unittest import mock

import pytest

from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.acceptors import MatchedAcceptor, StatusMatcher
from boto_waiters_plus.engine.computed_once import computed_once


def matcher(comparator, expected="up", path="state"):
    return {"path": path, "expected": expected, "comparator": comparator}


ACCEPTORS = [
    ("success when state is 'up'", {"output": matcher("stringEquals")}),
    ("success when every all[] is 'up'", {"output": matcher("allStringEquals", path="all[]")}),
    ("success when state is 'up'", {"output": matcher("stringEquals")}),
    ("retry when any any[] is 'up'", {"inputOutput": matcher("anyStringEquals", path="any[]")}),
    ("retry when state is false", {"output": matcher("booleanEquals", "false")}),
    ("retry when the call fails with NotThere", {"errorType": "com.acme#NotThere"}),
    ("failure when the call succeeds", {"success": True}),
    ("failure when the call fails", {"success": False}),
]
BODY = {"acceptors": [{"state": text.split()[0], "matcher": each} for text, each in ACCEPTORS]}
BODY |= {"documentation": "Waits for a thing.", "minDelay": 3, "maxDelay": 9}
BODY |= {"deprecated": True, "tags": ["one", "two"]}
BODY["acceptors"][6]["message"] = "reason"


def parsed(body=None, name="ThingUp"):
    return parse_waiter(name, BODY if body is None else body, operation="GetThing", source="test")


def test_every_acceptor_is_described():
    found = [parsed().matched(index) for index in range(len(ACCEPTORS))]
    assert found == [MatchedAcceptor(index, text) for index, (text, _) in enumerate(ACCEPTORS)]
    assert parsed().goal == "state is 'up' or every all[] is 'up'"
    assert StatusMatcher(404).describe() == "the HTTP status is 404"
    assert StatusMatcher(404).to_json() == {"status": 404}


def test_acceptor_equals_what_says_that_it_is_equal():
    first = parsed().acceptors[0]
    assert (first == mock.ANY, first == parsed().acceptors[0], first == 1) == (True, True, False)


ANY = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


def test_json_is_what_was_parsed_without_defaults():
    assert parsed().to_json() == BODY
    assert parsed(parsed().to_json()) == parsed()
    assert parsed(ANY).to_json() == ANY
    assert (parsed(ANY).min_delay, parsed(ANY).max_delay) == (2, 120)


def test_digest_depends_on_operation_and_acceptors():
    digest = parsed().digest
    assert digest == parsed({**BODY, "minDelay": 1, "documentation": "", "tags": []}).digest
    assert digest == parsed(name="OtherName").digest
    assert digest != parsed({**BODY, "acceptors": BODY["acceptors"][:-1]}).digest
    assert digest != parsed({**BODY, "acceptors": BODY["acceptors"][::-1]}).digest
    assert digest != dataclasses.replace(parsed(), operation="Other").digest


def test_digest_is_stable_across_processes():
    """Stored waits are identified by it."""
    assert parsed(ANY).digest == "448a73e3235d789c"


# --- attributes that are computed at first use ---------------------------------------------------


class Thing:
    def __init__(self, *results):
        self.results = list(results)

    @computed_once
    def value(self):
        """The value."""
        return 5 // self.results.pop()


def test_the_value_is_computed_once_and_an_error_is_not_kept():
    thing = Thing(1, 2, 0)
    with pytest.raises(ZeroDivisionError):
        thing.value  # noqa: B018 - it raises
    assert (thing.value, thing.value, thing.results) == (2, 2, [1])

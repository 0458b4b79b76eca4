"""Definitions as objects: their words, their digest, and conversion to JSON."""

import dataclasses
from unittest import mock

from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.acceptors import MatchedAcceptor, StatusMatcher


def matcher(comparator, expected="up", path="state"):
    return {"path": path, "expected": expected, "comparator": comparator}


BODY = {
    "documentation": "Waits for a thing.",
    "acceptors": [
        {"state": "success", "matcher": {"output": matcher("stringEquals")}},
        {"state": "success", "matcher": {"output": matcher("allStringEquals", path="all[]")}},
        {"state": "success", "matcher": {"output": matcher("stringEquals")}},
        {"state": "retry", "matcher": {"inputOutput": matcher("anyStringEquals", path="any[]")}},
        {"state": "retry", "matcher": {"output": matcher("booleanEquals", "false")}},
        {"state": "retry", "matcher": {"errorType": "com.acme#NotThere"}},
        {"state": "failure", "matcher": {"success": True}, "message": "reason"},
        {"state": "failure", "matcher": {"success": False}},
    ],
    "minDelay": 3,
    "maxDelay": 9,
    "deprecated": True,
    "tags": ["one", "two"],
}


def parsed(body=None, name="ThingUp"):
    return parse_waiter(name, BODY if body is None else body, operation="GetThing", source="test")


def test_every_acceptor_is_described():
    texts = [
        "success when state is 'up'",
        "success when every all[] is 'up'",
        "success when state is 'up'",
        "retry when any any[] is 'up'",
        "retry when state is false",
        "retry when the call fails with NotThere",
        "failure when the call succeeds",
        "failure when the call fails",
    ]
    found = [parsed().matched(index) for index in range(len(texts))]
    assert found == [MatchedAcceptor(index, text) for index, text in enumerate(texts)]
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

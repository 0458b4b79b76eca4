"""Smithy JSON AST: the specification's own examples and the members of waiters."""

import pytest

from boto_waiters_plus.definitions.files import parse_document
from boto_waiters_plus.engine.acceptors import Acceptor, AcceptorState, SuccessMatcher

WAITABLE = "smithy.waiters#waitable"


BUCKET_EXISTS = {
    "documentation": "Wait until a bucket exists",
    "acceptors": [
        {"state": "success", "matcher": {"success": True}},
        {"state": "retry", "matcher": {"errorType": "NotFound"}},
    ],
}
STATUS = {"path": "status", "comparator": "stringEquals"}
THING_EXISTS = {
    "description": "Waits until a thing has been created",
    "acceptors": [
        {"state": state, "matcher": {"output": {**STATUS, "expected": expected}}}
        for state, expected in (("failure", "failed"), ("success", "success"))
    ],
}
SAME_LENGTH = {
    "path": "length(input.groups) == length(output.groups)",
    "expected": "true",
    "comparator": "booleanEquals",
}
GROUP_EXISTS = {"acceptors": [{"state": "success", "matcher": {"inputOutput": SAME_LENGTH}}]}


def operation(waiters, **members):
    shape = {
        "type": "operation",
        "input": {"target": "smithy.example#Input"},
        "output": {"target": "smithy.example#Output"},
        "errors": [{"target": "smithy.example#NotFound"}],
        "traits": {WAITABLE: waiters, "smithy.api#documentation": "An operation."},
    }
    structure = {"type": "structure", "members": {"status": {"target": "smithy.api#String"}}}
    return {
        "smithy": "2.0",
        "metadata": {"suppressions": []},
        "shapes": {
            "smithy.example#Get": {**shape, **members},
            "smithy.example#Input": structure,
            "smithy.example#Output": structure,
            "smithy.example#NotFound": {**structure, "traits": {"smithy.api#error": "client"}},
        },
    }


def parsed(body):
    waiters = {"Ready": body, "Other": BUCKET_EXISTS}
    definition, _ = parse_document(operation(waiters), source="model.json")
    return definition


@pytest.mark.parametrize(
    ("body", "acceptors"),
    [
        (
            BUCKET_EXISTS,
            ["success when the call succeeds", "retry when the call fails with NotFound"],
        ),
        (THING_EXISTS, ["failure when status is 'failed'", "success when status is 'success'"]),
        (GROUP_EXISTS, ["success when length(input.groups) == length(output.groups) is true"]),
    ],
    ids=["BucketExists", "ThingExists", "GroupExists"],
)
def test_examples_of_the_specification(body, acceptors):
    definition = parsed(body)
    assert (definition.name, definition.operation) == ("Ready", "Get")
    assert [str(definition.matched(index).text) for index in range(len(acceptors))] == acceptors
    assert definition.to_json()["acceptors"] == body["acceptors"]
    assert (definition.min_delay, definition.max_delay) == (2, 120)
    assert definition.documentation == body.get("documentation", body.get("description", ""))
    assert (definition.deprecated, definition.tags, definition.service) == (False, (), None)


def test_every_member_of_a_waiter_is_kept():
    failure = {"state": "failure", "matcher": {"success": False}, "message": "error.reason"}
    definition = parsed(
        {
            "documentation": "Why.",
            "acceptors": [*BUCKET_EXISTS["acceptors"], failure],
            "minDelay": 7,
            "maxDelay": 8,
            "deprecated": True,
            "tags": ["a", "b"],
        }
    )
    assert (definition.min_delay, definition.max_delay) == (7, 8)
    assert (definition.documentation, definition.deprecated) == ("Why.", True)
    assert definition.tags == ("a", "b")
    assert definition.acceptors[2].message == "error.reason"


def test_unknown_members_are_ignored():
    acceptor = {"state": "success", "matcher": {"success": True}, "note": "x", "x": None}
    assert parsed({"acceptors": [acceptor], "maxAttempts": 40, "note": []}).acceptors == (
        Acceptor(state=AcceptorState.SUCCESS, matcher=SuccessMatcher(success=True)),
    )


@pytest.mark.parametrize(
    ("body", "output"),
    [
        (GROUP_EXISTS, "smithy.api#Unit"),
        (BUCKET_EXISTS, "other.model#Missing"),
        (BUCKET_EXISTS, "smithy.example#Streaming"),
    ],
)
def test_operation_may_have_any_output_that_is_no_event_stream(body, output):
    document = operation({"Ready": body}, output={"target": output})
    streaming = {"type": "blob", "traits": {"smithy.api#streaming": {}}}
    members = {"body": {"target": "smithy.example#Body"}}
    document["shapes"]["smithy.example#Body"] = streaming
    document["shapes"]["smithy.example#Streaming"] = {"type": "structure", "members": members}
    assert [each.name for each in parse_document(document, source="m.json")] == ["Ready"]

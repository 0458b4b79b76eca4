"""Smithy JSON AST: the specification's own examples and the members of waiters."""

import pytest

from boto_waiters_plus.definitions.files import parse_document

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
SAME_LENGTH = {"path": "length(input.groups) == length(output.groups)"}
SAME_LENGTH |= {"expected": "true", "comparator": "booleanEquals"}
GROUP_EXISTS = {"acceptors": [{"state": "success", "matcher": {"inputOutput": SAME_LENGTH}}]}


def operation(waiters, **members):
    named = {name: {"target": f"smithy.example#{name}"} for name in ("Input", "Output", "NotFound")}
    shape = {"type": "operation", "input": named["Input"], "output": named["Output"]}
    shape |= {"errors": [named["NotFound"]]}
    shape |= {"traits": {WAITABLE: waiters, "smithy.api#documentation": "An operation."}}
    structure = {"type": "structure", "members": {"status": {"target": "smithy.api#String"}}}
    shapes = {"Get": {**shape, **members}, "Input": structure, "Output": structure}
    shapes |= {"NotFound": {**structure, "traits": {"smithy.api#error": "client"}}}
    shapes = {f"smithy.example#{name}": each for name, each in shapes.items()}
    return {"smithy": "2.0", "metadata": {"suppressions": []}, "shapes": shapes}


def parsed(body):
    waiters = {"Ready": body, "Other": BUCKET_EXISTS}
    definition, _ = parse_document(operation(waiters), source="model.json")
    return definition


@pytest.mark.parametrize("body", [BUCKET_EXISTS, THING_EXISTS, GROUP_EXISTS])
def test_examples_of_the_specification(body):
    definition = parsed(body)
    assert (definition.name, definition.operation) == ("Ready", "Get")
    assert definition.to_json()["acceptors"] == body["acceptors"]
    assert (definition.min_delay, definition.max_delay) == (2, 120)
    assert definition.documentation == body.get("documentation", body.get("description", ""))
    assert (definition.deprecated, definition.tags, definition.service) == (False, (), None)


def test_unknown_members_are_ignored():
    acceptor = BUCKET_EXISTS["acceptors"][0]
    body = {"acceptors": [{**acceptor, "note": "x", "x": None}], "maxAttempts": 40, "note": []}
    assert parsed(body).to_json() == {"acceptors": [acceptor]}


@pytest.mark.parametrize(("body", "output"), [
    (GROUP_EXISTS, "smithy.api#Unit"),
    (BUCKET_EXISTS, "other.model#Missing"),
    (BUCKET_EXISTS, "smithy.example#Streaming"),
])  # fmt: skip
def test_operation_may_have_any_output_that_is_no_event_stream(body, output):
    document = operation({"Ready": body}, output={"target": output})
    streaming = {"type": "blob", "traits": {"smithy.api#streaming": {}}}
    members = {"body": {"target": "smithy.example#Body"}}
    document["shapes"]["smithy.example#Body"] = streaming
    document["shapes"]["smithy.example#Streaming"] = {"type": "structure", "members": members}
    assert [each.name for each in parse_document(document, source="m.json")] == ["Ready"]

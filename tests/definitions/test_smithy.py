"""Smithy JSON AST: the specification's own examples, and malformed definitions by their place."""

import operator

import pytest
from case_tables import cases

from boto_waiters_plus import WaiterDefinitionError, load_definitions
from boto_waiters_plus.definitions.files import parse_document
from boto_waiters_plus.validation import Severity, check

CASES = cases("malformed")
WAITABLE = "smithy.waiters#waitable"
ANY_RESPONSE = {"state": "success", "matcher": {"success": True}}


named = operator.itemgetter("name")


def model(waiter):
    shape = {"type": "apply", "traits": {WAITABLE: {"Ready": waiter}}}
    return {"smithy": "2.0", "shapes": {"com.amazonaws.eks#DescribeCluster": shape}}


def refusal(document):
    """The error of the loader; the checker refuses what the loader refuses."""
    with pytest.raises(WaiterDefinitionError) as caught:
        parse_document(document, source="waiters.json")
    assert max(event.severity for event in check(document)) >= Severity.DANGER
    return caught.value


@pytest.mark.parametrize("case", CASES["waiters"], ids=named)
def test_malformed_waiters_are_refused_by_place(case):
    error = refusal(model(case["waiter"]))
    assert case["says"] in error.problem
    place = error.source, error.waiter, error.acceptor
    assert place == ("waiters.json", "Ready", case["acceptor"])
    where = "waiters.json: waiter Ready"
    where += "" if error.acceptor is None else f", acceptor {error.acceptor}"
    assert str(error) == f"{where}: {error.problem}"
    assert len(str(error)) < 500


@pytest.mark.parametrize("case", [*CASES["models"], *CASES["documents"]], ids=named)
def test_malformed_model_or_document_is_refused(case):
    error = refusal(case.get("model") or case.get("document"))
    assert case["says"] in error.problem
    assert (error.waiter, error.acceptor) == (case.get("waiter"), case.get("acceptor"))


def with_path(path):
    matcher = {"path": path, "expected": "up", "comparator": "stringEquals"}
    return model({"acceptors": [ANY_RESPONSE, {"state": "retry", "matcher": {"output": matcher}}]})


@pytest.mark.parametrize("path", [
    "a" * 10001, f"{'(' * 20000}a{')' * 20000}", "[" * 5000, f"{'!' * 9000}a",
    f"{'a[*].' * 1900}a", f"{'a||' * 3000}a", f"{'a|' * 4500}a", f"a{'[]' * 4500}",
], ids=lambda path: f"{path[:5]} {len(path)}")  # fmt: skip
def test_expressions_of_excessive_size_are_refused(path):
    error = refusal(with_path(path))
    assert (error.waiter, error.acceptor) == ("Ready", 1)
    assert "path" in error.problem
    assert len(str(error)) < 500


def test_expressions_of_ten_thousand_characters_are_allowed():
    [definition] = parse_document(with_path("a" * 10_000), source="waiters.json")
    assert len(definition.acceptors) == 2


@pytest.mark.parametrize("document", [
    {"smithy": "2.0", "shapes": {5: {"type": "apply", "traits": {WAITABLE: {}}}}},
    {"smithy": "2.0", "shapes": {"a#B": {"type": "apply", "traits": {WAITABLE: {5: {}}}}}},
    model({"acceptors": [{"state": "success", "matcher": {5: True, "success": True}}]}),
    {"waiters": {5: {"operation": "Op", "delay": 1, "acceptors": []}}},
], ids=["shape id", "waiter name", "matcher", "waiters-2 name"])  # fmt: skip
def test_dicts_with_other_keys_are_refused(document):
    with pytest.raises(WaiterDefinitionError):
        load_definitions(document)


@pytest.mark.parametrize("source", [5, None, 1.5, object(), [5], b"bytes"])
def test_other_sources_are_refused(source):
    with pytest.raises(WaiterDefinitionError, match="definitions"):
        load_definitions(source)


# --- the examples of the specification ----------------------------------------------------------


BUCKET_EXISTS = {
    "acceptors": [
        {"state": "success", "matcher": {"success": True}},
        {"state": "retry", "matcher": {"errorType": "NotFound"}},
    ],
}
SAME_LENGTH = {"path": "length(input.groups) == length(output.groups)"}
SAME_LENGTH |= {"expected": "true", "comparator": "booleanEquals"}
GROUP_EXISTS = {"acceptors": [{"state": "success", "matcher": {"inputOutput": SAME_LENGTH}}]}


def operation_model(waiters, **members):
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
    definition, _ = parse_document(operation_model(waiters), source="model.json")
    return definition


def test_unknown_members_are_ignored():
    acceptor = BUCKET_EXISTS["acceptors"][0]
    body = {"acceptors": [{**acceptor, "note": "x", "x": None}], "maxAttempts": 40, "note": []}
    definition = parsed({**body, "description": "As the specification's examples."})
    assert definition.documentation == "As the specification's examples."
    assert definition.to_json()["acceptors"] == [acceptor]
    assert (definition.deprecated, definition.tags, definition.service) == (False, (), None)


@pytest.mark.parametrize(("body", "output"), [
    (GROUP_EXISTS, "smithy.api#Unit"),
    (BUCKET_EXISTS, "other.model#Missing"),
    (BUCKET_EXISTS, "smithy.example#Streaming"),
])  # fmt: skip
def test_operation_may_have_any_output_that_is_no_event_stream(body, output):
    document = operation_model({"Ready": body}, output={"target": output})
    streaming = {"type": "blob", "traits": {"smithy.api#streaming": {}}}
    members = {"body": {"target": "smithy.example#Body"}}
    document["shapes"]["smithy.example#Body"] = streaming
    document["shapes"]["smithy.example#Streaming"] = {"type": "structure", "members": members}
    assert [each.name for each in parse_document(document, source="m.json")] == ["Ready"]

"""Smithy JSON AST: the specification's own examples, and malformed definitions by their place."""

import json
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
    with pytest.raises(WaiterDefinitionError) as caught:
        parse_document(document, source="waiters.json")
    return caught.value


def checked_refusal(document, tmp_path):
    """The error of the loader, of what the checker refuses too."""
    file = tmp_path / "waiters.json"
    file.write_text(json.dumps(document))
    assert max(event.severity for event in check(file)) >= Severity.DANGER
    return refusal(document)


@pytest.mark.parametrize("case", CASES["waiters"], ids=named)
def test_malformed_waiters_are_refused_by_place(case, tmp_path):
    error = checked_refusal(model(case["waiter"]), tmp_path)
    assert case["says"] in error.problem
    place = error.source, error.waiter, error.acceptor
    assert place == ("waiters.json", "Ready", case["acceptor"])
    where = "waiters.json: waiter Ready"
    where += "" if error.acceptor is None else f", acceptor {error.acceptor}"
    assert str(error) == f"{where}: {error.problem}"
    assert len(str(error)) < 500


@pytest.mark.parametrize("case", [*CASES["models"], *CASES["documents"]], ids=named)
def test_malformed_model_or_document_is_refused(case, tmp_path):
    error = checked_refusal(case.get("model") or case.get("document"), tmp_path)
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


def test_unknown_members_are_ignored():
    acceptor = {**ANY_RESPONSE, "note": "x", "x": None}
    body = {"acceptors": [acceptor], "maxAttempts": 40, "note": [], "description": "As examples."}
    [definition] = parse_document(model(body), source="model.json")
    assert definition.documentation == "As examples."
    assert definition.to_json()["acceptors"] == [ANY_RESPONSE]
    assert (definition.deprecated, definition.tags, definition.service) == (False, (), "eks")


@pytest.mark.parametrize(("matcher", "output"), [
    ("inputOutput", "smithy.api#Unit"),
    ("output", "other.model#Missing"),
    ("output", "smithy.example#Streaming"),
])  # fmt: skip
def test_operation_may_have_any_output_that_is_no_event_stream(matcher, output):
    compared = {"path": "a", "expected": "true", "comparator": "booleanEquals"}
    body = {"acceptors": [{"state": "success", "matcher": {matcher: compared}}]}
    get = {"type": "operation", "output": {"target": output}}
    shapes = {"Get": {**get, "traits": {WAITABLE: {"Ready": body}}}}
    shapes["Body"] = {"type": "blob", "traits": {"smithy.api#streaming": {}}}
    members = {"body": {"target": "smithy.example#Body"}}
    shapes["Streaming"] = {"type": "structure", "members": members}
    named = {f"smithy.example#{name}": shape for name, shape in shapes.items()}
    [found] = parse_document({"smithy": "2.0", "shapes": named}, source="m.json")
    assert found.name == "Ready"

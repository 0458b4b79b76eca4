"""Smithy IDL to JSON AST, and the waiters in it."""

import json
import sys
from pathlib import Path

import pytest
from case_tables import tabled

pytest.importorskip("lark")

from boto_waiters_plus import WaiterDefinitionError
from boto_waiters_plus.definitions.files import load_definitions, parse_document
from boto_waiters_plus.definitions.idl import parse_idl
from boto_waiters_plus.engine.acceptors import AcceptorState, ErrorTypeMatcher, SuccessMatcher

CASES = json.loads((Path(__file__).parents[1] / "cases" / "idl.json").read_text())

HEAD = """$version: "2"
namespace smithy.example
use smithy.waiters#waitable
"""

BUCKET = """\
$version: "2"
namespace com.amazonaws.s3

use smithy.waiters#waitable

@waitable(
    BucketThere: {
        documentation: "Wait until it is there"
        acceptors: [
            // Commas are white space, and so is this.
            { state: "success", matcher: { success: true } }
            {
                state: "retry"
                matcher: { errorType: "NotFound" }
            }
        ]
        minDelay: 5
    }
)
operation HeadBucket {
    input: HeadBucketInput
    output: HeadBucketOutput
    errors: [NotFound]
}
"""


def ast(text, head=HEAD):
    return parse_idl(head + text, source="x.smithy")[0]


def shapes(text, head=HEAD):
    return {
        name.removeprefix("smithy.example#"): shape
        for name, shape in ast(text, head)["shapes"].items()
    }


def waiters(text):
    return parse_document(ast(text, head=""), source="x.smithy")


def refusal(text, head=HEAD):
    with pytest.raises(WaiterDefinitionError) as caught:
        waiters(head + text)
    return str(caught.value)


def test_a_waiter_is_read_whole():
    [definition] = waiters(BUCKET)
    assert (definition.name, definition.operation) == ("BucketThere", "HeadBucket")
    assert (definition.service, definition.source) == ("s3", "x.smithy")
    assert (definition.min_delay, definition.max_delay) == (5, 120)
    assert definition.documentation == "Wait until it is there"
    assert definition.states == (AcceptorState.SUCCESS, AcceptorState.RETRY)
    assert [acceptor.matcher for acceptor in definition.acceptors] == [
        SuccessMatcher(success=True),
        ErrorTypeMatcher("NotFound"),
    ]


def test_an_operation_without_output_has_the_unit_type():
    text = """@waitable(A: {acceptors: [{state: "success", matcher: {output: {
        path: "a", expected: "b", comparator: "stringEquals"}}}]}) operation GetThing {}"""
    assert "an output matcher on an operation with no output" in refusal(text)


def test_waiters_apply_to_operations_of_other_files():
    text = """apply com.amazonaws.ec2#GetThing @waitable(
        ThingThere: { acceptors: [{ state: "success", matcher: { success: true } }] })"""
    [definition] = waiters(HEAD + text)
    assert (definition.operation, definition.service) == ("GetThing", "ec2")
    assert next(iter(ast(text)["shapes"].values()))["type"] == "apply"


@tabled("node values", "text", "value")
def test_node_values(text, value):
    found = shapes(f"@a.b#c({text}) string A")["A"]["traits"]["a.b#c"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_shapes_become_those_of_the_json_ast(case):
    assert ast("\n".join(case["text"]), head="")["shapes"] == case["shapes"]


def test_metadata_and_version():
    model = ast('$version: "1.0"\nmetadata a = [1]\nmetadata "b c" = {}', head="")
    assert model == {"smithy": "1.0", "metadata": {"a": [1], "b c": {}}, "shapes": {}}
    assert ast("namespace a.b", head="")["smithy"] == "2.0"


@tabled("invalid idl is refused with its line", "text", "problem")
def test_invalid_idl_is_refused_with_its_line(text, problem):
    message = refusal(text)
    assert message.startswith("x.smithy: not Smithy IDL: ")
    assert problem in message


@tabled("text that is not read is refused", "text", "problem")
def test_text_that_is_not_read_is_refused(text, problem):
    assert problem in refusal(text, head="")


def test_without_lark_the_message_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "lark", None)
    monkeypatch.delitem(sys.modules, parse_idl.__module__)
    (tmp_path / "x.smithy").write_text(BUCKET)
    with pytest.raises(WaiterDefinitionError, match=r"pip install 'boto-waiters-plus\[idl\]'"):
        load_definitions(tmp_path / "x.smithy")


def test_an_empty_acceptor_is_refused_by_place():
    text = """@waitable(ThingThere: { acceptors: [
        { inputOutput: { path: "a", expected: "true", comparator: "booleanEquals" } }
    ] }) operation ListThings { input: A, output: B }"""
    assert refusal(text).startswith("x.smithy: waiter ThingThere, acceptor 0: state must be one of")

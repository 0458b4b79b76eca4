"""Smithy IDL to JSON AST, and the waiters in it."""

import sys

import pytest
from case_tables import cases

pytest.importorskip("lark")

from boto_waiters_plus import WaiterDefinitionError
from boto_waiters_plus.definitions.files import load_definitions, parse_document
from boto_waiters_plus.definitions.idl import parse_idl
from boto_waiters_plus.validation import Severity, check

CASES = cases("idl")

HEAD = """$version: "2"
namespace smithy.example
use smithy.waiters#waitable
"""

BUCKET = """$version: "2"
namespace com.amazonaws.s3
use smithy.waiters#waitable
@waitable(BucketThere: {
    documentation: "Wait until it is there"
    acceptors: [ // Commas are white space, and so is this.
        { state: "success", matcher: { success: true } }
        { state: "retry"
          matcher: { errorType: "NotFound" } }]
    minDelay: 5
})
operation HeadBucket { input: HeadBucketInput, output: HeadBucketOutput, errors: [NotFound] }
"""


def ast(text, head=HEAD):
    return parse_idl(head + text, source="x.smithy")[0]


def shapes(text, head=HEAD):
    found = ast(text, head)["shapes"]
    return {name.removeprefix("smithy.example#"): shape for name, shape in found.items()}


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
    assert definition.to_json() == {
        "documentation": "Wait until it is there",
        "acceptors": [
            {"state": "success", "matcher": {"success": True}},
            {"state": "retry", "matcher": {"errorType": "NotFound"}},
        ],
        "minDelay": 5,
    }


def test_an_operation_without_output_has_the_unit_type():
    text = """@waitable(A: {acceptors: [{state: "success", matcher: {output: {
        path: "a", expected: "b", comparator: "stringEquals"}}}]}) operation GetThing {}"""
    assert "an output matcher on an operation with no output" in refusal(text)


@pytest.mark.parametrize(("text", "value"), CASES["values"])
def test_node_values(text, value):
    found = shapes(f"@a.b#c({text}) string A")["A"]["traits"]["a.b#c"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("case", CASES["shapes"], ids=lambda case: case["name"])
def test_shapes_become_those_of_the_json_ast(case):
    assert ast("\n".join(case["text"]), head="")["shapes"] == case["shapes"]


def test_metadata_and_version():
    model = ast('$version: "1.0"\nmetadata a = [1]\nmetadata "b c" = {}', head="")
    assert model == {"smithy": "1.0", "metadata": {"a": [1], "b c": {}}, "shapes": {}}
    assert ast("namespace a.b", head="")["smithy"] == "2.0"


TOO_LONG = f"@a.b#c({'9' * 5000}) string A", "Exceeds the limit"


@pytest.mark.parametrize(("text", "problem"), [*CASES["invalid"], TOO_LONG])
def test_invalid_idl_is_refused_with_its_line(text, problem):
    message = refusal(text)
    assert message.startswith("x.smithy: not Smithy IDL: ")
    assert problem in message


@pytest.mark.parametrize(("text", "problem"), [
    ("namespace a.b @waitable(A: {}) operation B {}", "add: use smithy.waiters#waitable"),
    ('$version: "3"', "unknown version of Smithy: 3"),
    (f"namespace a.b @c({'[' * 5000}{']' * 5000}) string A", "nested too deeply"),
], ids=["no use", "version", "depth"])  # fmt: skip
def test_text_that_is_not_read_is_refused(text, problem):
    assert problem in refusal(text, head="")


def test_without_lark_the_message_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "lark", None)
    monkeypatch.delitem(sys.modules, parse_idl.__module__)
    (tmp_path / "x.smithy").write_text(BUCKET)
    with pytest.raises(WaiterDefinitionError, match="requires the extra idl"):
        load_definitions(tmp_path / "x.smithy")


# --- files --------------------------------------------------------------------------------------


MODEL = f"""{HEAD}
@waitable(ThingThere: {{
    description: "Waits until it is there"
    acceptors: [{{ state: "success", matcher: {{ success: true }} }}]
}})
operation GetThing {{}}
"""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "things.smithy"
    file.write_text(MODEL, encoding="utf-8")
    return file


def test_idl_files_and_folders_are_loaded_and_checked(file):
    for path in (file, file.parent):
        for source in (path, str(path)):
            [definition] = load_definitions(source)
            assert (definition.name, definition.source) == ("ThingThere", str(file))
        [event] = check(path)
        assert event.severity is Severity.NOTE
        assert event.id == "TraitValue.UnknownMember.smithy.waiters#Waiter.description"
        assert str(event.location) == f"{file}:5:11"


def test_invalid_idl_files_are_named_with_the_line(file):
    file.write_text(MODEL + "}")
    with pytest.raises(WaiterDefinitionError, match=r"things\.smithy.*line 10"):
        load_definitions(file)
    [event] = check(file)
    assert (event.severity, str(event.location)) == (Severity.ERROR, f"{file}:10")

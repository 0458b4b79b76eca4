"""Smithy IDL to JSON AST, and the waiters in it."""

import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("lark")

from boto_waiters_plus import WaiterDefinitionError
from boto_waiters_plus.definitions.files import parse_document
from boto_waiters_plus.definitions.idl import parse_idl, parse_idl_with_offsets
from boto_waiters_plus.engine.model import AcceptorState, ErrorTypeMatcher, SuccessMatcher

SEEDS = Path(__file__).resolve().parents[3] / "shared/seeds"

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
    return parse_idl(head + text, source="x.smithy")


def shapes(text, head=HEAD):
    return {
        name.removeprefix("smithy.example#"): shape
        for name, shape in ast(text, head)["shapes"].items()
    }


def waiters(text):
    return parse_document(parse_idl(text, source="x.smithy"), source="x.smithy")


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


def test_an_operation_has_targets_and_errors():
    [shape] = ast(BUCKET, head="")["shapes"].values()
    del shape["traits"]
    assert shape == {
        "type": "operation",
        "input": {"target": "com.amazonaws.s3#HeadBucketInput"},
        "output": {"target": "com.amazonaws.s3#HeadBucketOutput"},
        "errors": [{"target": "com.amazonaws.s3#NotFound"}],
    }


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


def test_a_member_may_be_called_like_a_keyword():
    names = ["apply", "for", "with", "use", "metadata", "namespace", "structure", "service"]
    names += ["operation", "list", "input", "true", "null"]
    text = "structure A { " + " ".join(f"@required {name}: String" for name in names) + " }"
    members = shapes(text)["A"]["members"]
    assert list(members) == names
    assert members["service"] == {
        "target": "smithy.api#String",
        "traits": {"smithy.api#required": {}},
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\n\\"\\u00e9\\ud83d\\ude00\\\\"', 'a\n"é😀\\'),
        ('""', ""),
        ('"two\nlines"', "two\nlines"),
        ('"not // a comment"', "not // a comment"),
        ('"""\n    a\n      b\n\n    "c"\n    """', 'a\n  b\n\n"c"\n'),
        ('"""\n    a \\\n    b"""', "a b"),
        ('"""\n    a  \n  """', "  a\n"),
        ("-1.5e2", -150.0),
        ("7", 7),
        ("true", True),
        ("null", None),
        ("[1, 2 3,]", [1, 2, 3]),
        ('{a: {}, "b c": []}', {"a": {}, "b c": []}),
        ("String", "smithy.api#String"),
        ("Other", "smithy.example#Other"),
        ("waitable", "smithy.waiters#waitable"),
        ("a.b#C$d", "a.b#C$d"),
    ],
)
def test_node_values(text, value):
    found = shapes(f"@a.b#c({text}) string A")["A"]["traits"]["a.b#c"]
    assert found == value
    assert type(found) is type(value)


def test_a_trait_without_a_value_is_an_object():
    traits = shapes("@a.b#c @a.b#d() @a.b#e(null) @a.b#f(x: 1, y: 2) string A")["A"]["traits"]
    assert traits == {"a.b#c": {}, "a.b#d": {}, "a.b#e": None, "a.b#f": {"x": 1, "y": 2}}


def test_aggregate_shapes():
    text = """
        list Names { @required member: String }
        map Ages { key: String, value: Age }
        union Either { a: Names, b: Ages }
        structure Thing with [Base] { state: State = "UP" }
        @mixin structure Base { id: String }
        enum State { UP, @a.b#c DOWN = "down" }
        intEnum Level { LOW = 1, HIGH = 2 }
        integer Age
    """
    found = shapes(text)
    unit = "smithy.api#Unit"
    assert found == {
        "Names": {
            "type": "list",
            "member": {"target": "smithy.api#String", "traits": {"smithy.api#required": {}}},
        },
        "Ages": {
            "type": "map",
            "key": {"target": "smithy.api#String"},
            "value": {"target": "smithy.example#Age"},
        },
        "Either": {
            "type": "union",
            "members": {
                "a": {"target": "smithy.example#Names"},
                "b": {"target": "smithy.example#Ages"},
            },
        },
        "Thing": {
            "type": "structure",
            "members": {
                "state": {
                    "target": "smithy.example#State",
                    "traits": {"smithy.api#default": "UP"},
                }
            },
            "mixins": [{"target": "smithy.example#Base"}],
        },
        "Base": {
            "type": "structure",
            "members": {"id": {"target": "smithy.api#String"}},
            "traits": {"smithy.api#mixin": {}},
        },
        "State": {
            "type": "enum",
            "members": {
                "UP": {"target": unit, "traits": {"smithy.api#enumValue": "UP"}},
                "DOWN": {"target": unit, "traits": {"a.b#c": {}, "smithy.api#enumValue": "down"}},
            },
        },
        "Level": {
            "type": "intEnum",
            "members": {
                "LOW": {"target": unit, "traits": {"smithy.api#enumValue": 1}},
                "HIGH": {"target": unit, "traits": {"smithy.api#enumValue": 2}},
            },
        },
        "Age": {"type": "integer"},
    }


def test_services_and_resources():
    text = """
        service Store {
            version: "2026-01-01"
            operations: [GetThing]
            resources: [Shelf]
            errors: [Oops]
            rename: { "a.b#C": "D" }
        }
        resource Shelf {
            identifiers: { shelfId: String }
            properties: { width: Integer }
            read: GetShelf
            operations: [PaintShelf]
            collectionOperations: []
        }
    """
    assert shapes(text) == {
        "Store": {
            "type": "service",
            "version": "2026-01-01",
            "operations": [{"target": "smithy.example#GetThing"}],
            "resources": [{"target": "smithy.example#Shelf"}],
            "errors": [{"target": "smithy.example#Oops"}],
            "rename": {"a.b#C": "D"},
        },
        "Shelf": {
            "type": "resource",
            "identifiers": {"shelfId": {"target": "smithy.api#String"}},
            "properties": {"width": {"target": "smithy.api#Integer"}},
            "read": {"target": "smithy.example#GetShelf"},
            "operations": [{"target": "smithy.example#PaintShelf"}],
            "collectionOperations": [],
        },
    }


def test_inline_input_and_output():
    text = """
        operation GetThing {
            input := { @required name: String }
            output := @a.b#c for Thing with [Base] { state: String }
        }
    """
    found = shapes(text, head='$operationInputSuffix: "Request"\n' + HEAD)
    assert found["GetThing"] == {
        "type": "operation",
        "input": {"target": "smithy.example#GetThingRequest"},
        "output": {"target": "smithy.example#GetThingOutput"},
    }
    assert found["GetThingRequest"]["traits"] == {"smithy.api#input": {}}
    assert list(found["GetThingRequest"]["members"]) == ["name"]
    assert found["GetThingOutput"]["traits"] == {"smithy.api#output": {}, "a.b#c": {}}
    assert found["GetThingOutput"]["mixins"] == [{"target": "smithy.example#Base"}]


def test_documentation_comments_belong_to_the_next_shape():
    text = """
        /// Of a thing,
        ///   in two lines.
        @a.b#c
        /// Lost, because it stands behind a trait.
        structure Thing {
            /// Of a member.
            name: String
            // Of nothing.
            other: String /// Of nothing either.
        }
        /// Not this:
        @documentation("but this")
        string Other
        /// Of nothing.
    """
    found = shapes(text, head="/// Of nothing.\n" + HEAD)
    documentation = "smithy.api#documentation"
    assert found["Thing"]["traits"] == {
        "a.b#c": {},
        documentation: "Of a thing,\n  in two lines.",
    }
    assert found["Thing"]["members"] == {
        "name": {"target": "smithy.api#String", "traits": {documentation: "Of a member."}},
        "other": {"target": "smithy.api#String"},
    }
    assert found["Other"]["traits"] == {documentation: "but this"}


def test_traits_apply_to_shapes_and_members():
    text = """
        apply Thing @a.b#c
        apply Thing$name { @required @a.b#d(1) }
        apply Names$member @a.b#e
        apply Far$member @a.b#f
        structure Thing { name: String }
        list Names { member: String }
    """
    found = shapes(text)
    assert found["Thing"]["traits"] == {"a.b#c": {}}
    assert found["Thing"]["members"]["name"]["traits"] == {"smithy.api#required": {}, "a.b#d": 1}
    assert found["Names"]["member"]["traits"] == {"a.b#e": {}}
    assert found["Far$member"] == {"type": "apply", "traits": {"a.b#f": {}}}


def test_names_resolve_to_used_defined_then_prelude():
    text = """
        use a.b#Blob
        string String
        structure Thing { a: String, b: Blob, c: Integer, d: Elsewhere }
    """
    targets = [member["target"] for member in shapes(text)["Thing"]["members"].values()]
    assert targets == [
        "smithy.example#String",
        "a.b#Blob",
        "smithy.api#Integer",
        "smithy.example#Elsewhere",
    ]


def test_metadata_and_version():
    model = parse_idl('$version: "1.0"\nmetadata a = [1]\nmetadata "b c" = {}', source="x")
    assert model == {"smithy": "1.0", "metadata": {"a": [1], "b c": {}}, "shapes": {}}
    assert parse_idl("namespace a.b", source="x")["smithy"] == "2.0"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("structure A {", "the text ends too early"),
        ("structure A }", "unexpected '}' (line 4)"),
        ("string A string A", "A is defined twice (line 4)"),
        ("strin A", "unknown type of shape: strin (line 4)"),
        ("string A { b: C }", "a string has no members (line 4)"),
        ("structure A {\n a: B\n a: C }", "a occurs twice (line 6)"),
        ("@a.b#c(d: 1\n d: 2) string A", "d occurs twice (line 5)"),
        ("@a.b#c(1) @a.b#c(2) string A", "the trait a.b#c has two values (line 4)"),
        ("apply A @a.b#c(1) apply A @a.b#c(2)", "a.b#c of A has two values (line 4)"),
        ("structure A { b: C } apply A$d @e", "smithy.example#A has no member d (line 4)"),
        ("structure A { b }", "the member b has no target (line 4)"),
        (
            "structure A for B { $c }",
            "$c: elided targets are not supported; write the target (line 4)",
        ),
        ("operation A { inputs: B }", "unknown property of an operation: inputs (line 4)"),
        ("service A { operations: B }", "operations must be a list of shapes (line 4)"),
        ("service A { version }", "version has no value (line 4)"),
        ("enum A { B: 1 }", "B: the value of an enum member follows = (line 4)"),
        ('@a.b#c("\\x") string A', "unknown escape \\x (line 4)"),
        ('@a.b#c("\\ud83d") string A', "incomplete surrogate pair (line 4)"),
        ("@a.b#c({d.e: 1}) string A", "d.e must be quoted here (line 4)"),
        ("string a.b#C", "a.b#C is not a valid name of a shape (line 4)"),
        ("structure A { @b }", "@b applies to nothing (line 4)"),
        ("use a", "use a: not an absolute shape id (line 4)"),
        (f"@a.b#c({'9' * 5000}) string A", "Exceeds the limit"),
    ],
)
def test_invalid_idl_is_refused_with_its_line(text, problem):
    message = refusal(text)
    assert message.startswith("x.smithy: not Smithy IDL: ")
    assert problem in message


def test_waitable_without_use_is_refused():
    text = '$version: "2" namespace a.b @waitable(A: {}) operation GetThing {}'
    assert "unknown trait @waitable; add: use smithy.waiters#waitable (line 1)" in refusal(text, "")
    assert "@waitable is not known" not in refusal(HEAD + "@waitable(A: {}) operation B {}", "")


def test_an_unknown_version_is_refused():
    assert "unknown version of Smithy: 3" in refusal('$version: "3"', "")


def test_deep_nesting_is_refused():
    assert "nested too deeply" in refusal(f"@a.b#c({'[' * 5000}{']' * 5000}) string A")


def test_without_lark_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "lark", None)
    monkeypatch.delitem(sys.modules, "lark.exceptions")
    with pytest.raises(WaiterDefinitionError, match=r"pip install 'boto-waiters-plus\[idl\]'"):
        parse_idl(BUCKET, source="x.smithy")


def test_unknown_members_of_a_waiter_are_ignored():
    [definition] = waiters(BUCKET.replace("documentation:", "description:"))
    assert definition.documentation == ""
    assert json.dumps(parse_idl(BUCKET, source="x")).count("documentation") == 1


def test_an_empty_acceptor_is_refused_by_place():
    text = """@waitable(ThingThere: { acceptors: [
        { inputOutput: { path: "a", expected: "true", comparator: "booleanEquals" } }
    ] }) operation ListThings { input: A, output: B }"""
    assert refusal(text).startswith("x.smithy: waiter ThingThere, acceptor 0: state must be one of")


def test_offsets_are_those_of_the_text():
    model, offsets = parse_idl_with_offsets(BUCKET, source="x.smithy")
    shape = ("shapes", "com.amazonaws.s3#HeadBucket")
    waiter = (*shape, "traits", "smithy.waiters#waitable", "BucketThere")
    places = {
        shape: "HeadBucket {",
        waiter: "BucketThere: {",
        (*waiter, "minDelay"): "minDelay: 5",
        (*waiter, "acceptors", 0): 'state: "success"',
        (*waiter, "acceptors", 1, "matcher", "errorType"): 'errorType: "NotFound"',
    }
    assert {path: BUCKET[offsets[path] :][: len(text)] for path, text in places.items()} == places
    assert model == parse_idl(BUCKET, source="x.smithy")


def seeds():
    """The models in the text of the specification."""
    for path in sorted(SEEDS.glob("000*.txt")):
        text = path.read_text(encoding="utf-8")
        yield from re.findall(
            r'^\$version: "2"\n.*?^}\n(?=\n[A-Z])', text, re.DOTALL | re.MULTILINE
        )
        # One example has no header.
        for part in re.findall(r"\n\n(@waitable\(\n    Res.*^})", text, re.DOTALL | re.MULTILINE):
            yield HEAD + part


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the specification's text is not here")
def test_the_specifications_examples_load():
    by_operation = {
        re.findall(r"^operation (\w+)", text, re.MULTILINE)[0]: text for text in seeds()
    }
    assert list(by_operation) == ["HeadBucket", "GetThing", "ListGroups", "GetResource"]
    slip = by_operation.pop("ListGroups")
    found = {found.name: found for text in by_operation.values() for found in waiters(text)}
    assert list(found) == ["BucketExists", "ThingExists", "ResourceRunning"]
    # A waiter has the member `documentation`, not `description`.
    assert found["ThingExists"].documentation == ""
    assert found["ThingExists"].states == (AcceptorState.FAILURE, AcceptorState.SUCCESS)
    # Its acceptor has no state, and its matcher is not in the member `matcher`.
    with pytest.raises(WaiterDefinitionError) as caught:
        waiters(slip)
    assert (caught.value.waiter, caught.value.acceptor) == ("GroupExists", 0)

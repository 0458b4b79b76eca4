"""Shapes and operations of a Smithy model."""

from boto_waiters_plus.check.shapes import enum_of, members_of
from boto_waiters_plus.check.smithy_model import SmithyModel

INTEGER, STRING = {"target": "smithy.api#Integer"}, {"target": "smithy.api#String"}


def targets(*names):
    return [{"target": f"x#{name}"} for name in names]


def model(**shapes):
    return SmithyModel({f"x#{name}": shape for name, shape in shapes.items()})


def test_members_and_traits_of_mixins_come_first_and_local_traits_stay():
    short = {
        "smithy.api#mixin": {"localTraits": ["smithy.api#private"]},
        "smithy.api#private": {},
        "smithy.api#length": {"min": 1, "max": 1},
        "smithy.api#documentation": "of the mixin",
    }
    own = {"smithy.api#documentation": "its own"}
    found = model(
        Base={"type": "structure", "members": {"id": INTEGER}},
        Thing={"type": "structure", "mixins": targets("Base"), "members": {"name": STRING}},
        Short={"type": "string", "traits": short},
        Code={"type": "string", "mixins": targets("Short"), "traits": own},
    )
    members = members_of(found.shape("x#Thing"))
    assert [(name, each.type_name) for name, each in members.items()] == [
        ("id", "integer"),
        ("name", "string"),
    ]
    assert found.traits("x#Code") == {"smithy.api#length": {"min": 1, "max": 1}, **own}
    assert found.shape("x#Code").metadata["max"] == 1


def test_mixin_of_itself_is_ignored():
    found = model(
        One={"type": "structure", "mixins": targets("Two"), "members": {"a": INTEGER}},
        Two={"type": "structure", "mixins": targets("One")},
        Own={"type": "structure", "mixins": targets("Own"), "members": {"a": INTEGER}},
    )
    assert [list(members_of(found.shape(f"x#{name}"))) for name in ("One", "Own")] == [["a"]] * 2


def test_operation_has_what_its_mixins_add():
    operation = model(
        Base={"type": "operation", "errors": targets("Gone")},
        Get={"type": "operation", "mixins": targets("Base"), "errors": targets("Denied")},
    ).operation("x#Get")
    assert [error.name for error in operation.errors] == ["Gone", "Denied"]
    assert operation.input is None


def test_enumerations_of_both_versions_of_smithy_are_known():
    named = {"A": {}, "B": {"traits": {"smithy.api#enumValue": "b!"}}}
    found = model(
        New={"type": "enum", "members": named},
        Old={"type": "string", "traits": {"smithy.api#enum": [{"value": "c"}]}},
        Number={"type": "intEnum", "members": {"ONE": {}}},
    )
    values = [enum_of(found.shape(f"x#{name}")) for name in ("New", "Old", "Number")]
    assert values == [("A", "b!"), ("c",), ()]


def test_service_contains_the_operations_of_its_resources():
    thing = {
        "type": "resource",
        "read": {"target": "x#GetThing"},
        "collectionOperations": targets("CountThings"),
        "resources": targets("Part", "Thing"),
    }
    found = model(
        Service={"type": "service", "operations": targets("Ping"), "resources": targets("Thing")},
        Thing=thing,
        Part={"type": "resource", "operations": targets("MovePart")},
        Alone={"type": "operation"},
    )
    operations = {"x#Ping", "x#GetThing", "x#CountThings", "x#MovePart"}
    assert found.closures() == {"x#Service": operations}


def test_only_a_streaming_union_is_an_event_stream():
    for kind in ("union", "blob"):
        found = model(
            Get={"type": "operation", "output": {"target": "x#Out"}},
            Out={"type": "structure", "members": {"body": {"target": "x#Body"}}},
            Body={"type": kind, "traits": {"smithy.api#streaming": {}}},
        )
        assert found.operation("x#Get").event_stream == (kind == "union")

"""Shapes and operations of a Smithy model."""

from boto_waiters_plus.check.shapes import enum_of, members_of
from boto_waiters_plus.check.smithy_model import SmithyModel

TARGET = "smithy.api#Integer"


def targets(*names):
    return [{"target": name} for name in names]


def test_members_of_mixins_come_first():
    model = SmithyModel(
        {
            "x#Base": {"type": "structure", "members": {"id": {"target": TARGET}}},
            "x#Thing": {
                "type": "structure",
                "mixins": targets("x#Base"),
                "members": {"name": {"target": "smithy.api#String"}},
            },
        }
    )
    members = members_of(model.shape("x#Thing"))
    assert [(name, shape.type_name) for name, shape in members.items()] == [
        ("id", "integer"),
        ("name", "string"),
    ]


def test_traits_of_mixins_are_inherited_except_local_ones():
    model = SmithyModel(
        {
            "x#Short": {
                "type": "string",
                "traits": {
                    "smithy.api#mixin": {"localTraits": ["smithy.api#private"]},
                    "smithy.api#private": {},
                    "smithy.api#length": {"min": 1, "max": 1},
                    "smithy.api#documentation": "of the mixin",
                },
            },
            "x#Code": {
                "type": "string",
                "mixins": targets("x#Short"),
                "traits": {"smithy.api#documentation": "its own"},
            },
        }
    )
    assert model.traits("x#Code") == {
        "smithy.api#length": {"min": 1, "max": 1},
        "smithy.api#documentation": "its own",
    }
    assert model.shape("x#Code").metadata["max"] == 1


def test_mixin_of_itself_is_ignored():
    member = {"a": {"target": TARGET}}
    model = SmithyModel(
        {
            "x#One": {"type": "structure", "mixins": targets("x#Two"), "members": member},
            "x#Two": {"type": "structure", "mixins": targets("x#One")},
            "x#Own": {"type": "structure", "mixins": targets("x#Own"), "members": member},
            "x#User": {"type": "structure", "mixins": targets("x#Own")},
        }
    )
    names = ("One", "Own", "User")
    assert [list(members_of(model.shape(f"x#{name}"))) for name in names] == [["a"]] * 3


def test_operation_has_what_its_mixins_add():
    model = SmithyModel(
        {
            "x#Base": {"type": "operation", "errors": targets("x#Gone")},
            "x#Get": {
                "type": "operation",
                "mixins": targets("x#Base"),
                "output": {"target": "x#Out"},
                "errors": targets("x#Denied"),
            },
            "x#Out": {"type": "structure", "members": {}},
        }
    )
    operation = model.operation("x#Get")
    assert [error.name for error in operation.errors] == ["Gone", "Denied"]
    assert operation.input is None
    assert operation.output.name == "x#Out"


def test_enumerations_of_both_versions_of_smithy_are_known():
    model = SmithyModel(
        {
            "x#New": {
                "type": "enum",
                "members": {
                    "A": {"target": "smithy.api#Unit"},
                    "B": {"traits": {"smithy.api#enumValue": "b!"}},
                },
            },
            "x#Old": {"type": "string", "traits": {"smithy.api#enum": [{"value": "c"}]}},
            "x#Number": {"type": "intEnum", "members": {"ONE": {}}},
        }
    )
    assert enum_of(model.shape("x#New")) == ("A", "b!")
    assert enum_of(model.shape("x#Old")) == ("c",)
    assert enum_of(model.shape("x#Number")) == ()


def test_shapes_of_the_prelude_are_known():
    kinds = {
        "String": "string",
        "PrimitiveLong": "long",
        "BigDecimal": "integer",
        "Timestamp": "timestamp",
        "Document": "document",
        "Unit": "structure",
    }
    model = SmithyModel({})
    assert {name: model.shape(f"smithy.api#{name}").type_name for name in kinds} == kinds
    assert model.shape("x#String").type_name == "unknown"


def test_service_contains_the_operations_of_its_resources():
    model = SmithyModel(
        {
            "x#Service": {
                "type": "service",
                "operations": targets("x#Ping"),
                "resources": targets("x#Thing"),
            },
            "x#Thing": {
                "type": "resource",
                "read": {"target": "x#GetThing"},
                "collectionOperations": targets("x#CountThings"),
                "resources": targets("x#Part", "x#Thing"),
            },
            "x#Part": {"type": "resource", "operations": targets("x#MovePart")},
            "x#Alone": {"type": "operation"},
        }
    )
    found = {"x#Ping", "x#GetThing", "x#CountThings", "x#MovePart"}
    assert model.closures() == {"x#Service": found}


def test_only_a_streaming_union_is_an_event_stream():
    def streaming(kind):
        return SmithyModel(
            {
                "x#Get": {"type": "operation", "output": {"target": "x#Out"}},
                "x#Out": {"type": "structure", "members": {"body": {"target": "x#Body"}}},
                "x#Body": {"type": kind, "traits": {"smithy.api#streaming": {}}},
            }
        ).operation("x#Get")

    assert streaming("union").event_stream
    assert not streaming("blob").event_stream

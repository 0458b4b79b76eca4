"""Sample data, as Smithy makes it."""

import pytest

from boto_waiters_plus.check.samples import sample
from boto_waiters_plus.check.smithy_model import SmithyModel
from boto_waiters_plus.check.type_checker import ANY

STRING = "smithy.api#String"


def plain(value):
    """A sample with its structures as dicts."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if hasattr(value, "items"):
        return {name: plain(item) for name, item in value.items()}
    return value


def sample_of(definition, **shapes):
    shapes["Root"] = definition
    return sample(SmithyModel({f"x#{name}": body for name, body in shapes.items()}).shape("x#Root"))


def structure(**members):
    targets = {name: {"target": target} for name, target in members.items()}
    return {"type": "structure", "members": targets}


def bounded(kind, trait, **bounds):
    parts = {part: {"target": STRING} for part in ("member", "key", "value")}
    return {"type": kind, "traits": {f"smithy.api#{trait}": bounds}, **parts}


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"type": "blob"}, "blob"),
        ({"type": "boolean"}, True),
        ({"type": "timestamp"}, 0),
        ({"type": "document"}, ANY),
        ({"type": "nonsense"}, ANY),
        ({"type": "string"}, "aa"),
        (bounded("string", "length", min=4), "aaaa"),
        (bounded("string", "length", max=1), "a"),
        ({"type": "integer"}, 8),
        (bounded("integer", "range", min=10), 10),
        (bounded("double", "range", max=3.5), 3.5),
        (bounded("list", "length"), ["aa", "aa"]),
        (bounded("list", "length", max=0), []),
        (bounded("list", "length", min=3), ["aa"] * 3),
        (bounded("map", "length"), {"aa0": "aa", "aa1": "aa"}),
        (structure(a=STRING, b="smithy.api#Boolean"), {"a": "aa", "b": True}),
        ({**structure(a=STRING), "type": "union"}, {"a": "aa"}),
    ],
)
def test_sample_has_all_that_the_shape_allows(definition, expected):
    assert plain(sample_of(definition)) == expected


def test_map_may_have_any_key():
    found = sample_of(bounded("map", "length"))
    assert found["no key of the sample"] == "aa"
    assert "key" not in sample_of(bounded("map", "length", max=0))


def test_map_has_the_keys_of_its_enumeration():
    kinds = {"type": "enum", "members": {"SIZE": {}, "AGE": {}}}
    found = sample_of(
        {"type": "map", "key": {"target": "x#Kind"}, "value": {"target": STRING}}, Kind=kinds
    )
    assert found == {"SIZE": "aa", "AGE": "aa"}


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        # Smithy has visited `name` before `child`, and does not visit it twice.
        (
            structure(name=STRING, child="x#Root"),
            {"name": "aa", "child": {"name": ANY, "child": ANY}},
        ),
        ({"type": "list", "member": {"target": "x#Root"}}, [[ANY, ANY], [ANY, ANY]]),
    ],
)
def test_shape_within_itself_may_be_anything(definition, expected):
    assert plain(sample_of(definition)) == expected


def test_huge_sample_costs_only_what_is_read():
    levels = {f"L{n}": structure(**{f"m{i}": f"x#L{n + 1}" for i in range(10)}) for n in range(12)}
    value = sample_of(structure(m="x#L0"), **levels)
    assert value["m"]["m9"]["m0"]["m5"]["m1"].keys() == {f"m{i}" for i in range(10)}

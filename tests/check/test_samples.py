"""What the linter knows of a value from its shape: sample data, as Smithy makes it."""

import json

import pytest

STRING = "smithy.api#String"


def structure(**members):
    targets = {name: {"target": target} for name, target in members.items()}
    return {"type": "structure", "members": targets}


def bounded(kind, trait="length", **bounds):
    parts = {part: {"target": STRING} for part in ("member", "key", "value")}
    return {"type": kind, "traits": {f"smithy.api#{trait}": bounds}, **parts}


@pytest.fixture
def type_of(linted):
    """`type_of(path, definition)`: the type of a path to a value of this shape, `v`."""

    def result(path, definition, **shapes):
        return_type, problems = linted(path, structure(v="x#Value"), Value=definition, **shapes)
        return "problem" if problems else return_type

    return result


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"type": "blob"}, "blob"),
        ({"type": "boolean"}, True),
        ({"type": "timestamp"}, 0),
        ({"type": "string"}, "aa"),
        (bounded("string", min=4), "aaaa"),
        (bounded("string", max=1), "a"),
        ({"type": "integer"}, 8),
        (bounded("integer", "range", min=10), 10),
        (bounded("double", "range", max=3.5), 3.5),
        (bounded("list"), ["aa", "aa"]),
        (bounded("list", max=0), []),
        (bounded("list", min=3), ["aa"] * 3),
    ],
)
def test_sample_has_the_size_that_the_shape_allows(type_of, definition, expected):
    # A comparison that fails would make the whole a boolean.
    assert type_of(f"v == `{json.dumps(expected)}` && `1`", definition) == "number"


KINDS = {"type": "enum", "members": {"SIZE": {}, "AGE": {}}}
BY_KIND = {"type": "map", "key": {"target": "x#Kind"}, "value": {"target": STRING}}
CHILD, MIXED = structure(name=STRING, child="x#Value"), structure(a=STRING, b="smithy.api#Boolean")
PARTS = {"type": "list", "member": {"target": "x#Part"}}


@pytest.mark.parametrize(
    ("definition", "path", "found"),
    [
        *[({"type": kind}, "v.any", "any") for kind in ("document", "nonsense")],
        *[(MIXED, "v.a", "string"), (MIXED, "v.b", "boolean"), (MIXED, "v.c", "problem")],
        ({**MIXED, "type": "union"}, "v.a && v.b", "boolean"),
        (bounded("map"), "v.no_key_of_the_sample", "string"),
        (bounded("map"), "length(keys(v)) && v.* | [1]", "string"),
        (bounded("map", max=0), "v.key", "problem"),
        *[(BY_KIND, "v.SIZE", "string"), (BY_KIND, "v.NAME", "problem")],
        # Smithy has visited `name` before `child`, and does not visit it twice.
        *[(CHILD, "v.name", "string"), (CHILD, "v.name.x", "problem")],
        *[(CHILD, f"v.child.{path}", "any") for path in ("name.x", "child.x")],
        *[(PARTS, "v[1].parts[1].x", "any"), (PARTS, "v[1].parts.x", "problem")],
    ],
)
def test_path_is_followed_through_shapes(type_of, definition, path, found):
    assert type_of(path, definition, Kind=KINDS, Part=structure(parts="x#Value")) == found


def test_huge_sample_costs_only_what_is_read(type_of):
    levels = {f"L{n}": structure(**{f"m{i}": f"x#L{n + 1}" for i in range(10)}) for n in range(12)}
    found = [type_of(f"v.m9.m0.m5.m1.{name}", levels["L0"], **levels) for name in ("m9", "m10")]
    assert found == ["object", "problem"]


def test_members_and_traits_of_mixins_count_but_local_ones(type_of):
    def mixin(**more):
        return {"smithy.api#mixin": more, "smithy.api#length": {"max": 1}}

    mixins = {
        name: {"type": "string", "traits": mixin(**more)}
        for name, more in {"Short": {}, "Local": {"localTraits": ["smithy.api#length"]}}.items()
    }
    codes = {
        f"{name}Code": {"type": "string", "mixins": [{"target": f"x#{name}"}]} for name in mixins
    }
    base = structure(short="x#ShortCode", local="x#LocalCode")
    thing = {**structure(own=STRING), "mixins": [{"target": "x#Base"}]}
    path = "v.short == 'a' && v.local == 'aa' && v.own"
    assert type_of(path, thing, Base=base, **mixins, **codes) == "string"


@pytest.mark.parametrize("other", ["Value", "Two"])
def test_mixin_of_itself_is_ignored(type_of, other):
    value = {**structure(a=STRING), "mixins": [{"target": f"x#{other}"}]}
    two = {"type": "structure", "mixins": [{"target": "x#Value"}]}
    assert type_of("v.a", value, Two=two) == "string"

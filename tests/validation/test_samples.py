"""Sample data: as Smithy makes it up."""

import itertools

import pytest

from boto_waiters_plus.validation.samples import sample
from boto_waiters_plus.validation.shapes import Kind, Member, Shape
from boto_waiters_plus.validation.smithy_model import SmithyModel
from boto_waiters_plus.validation.type_checker import ANY

numbers = itertools.count()


def shape(kind, minimum=None, maximum=None, **parts):
    name = f"Shape{next(numbers)}"
    members = {part: Member(f"{name}${part}", target) for part, target in parts.items()}
    return Shape(name, kind, lambda: members, minimum=minimum, maximum=maximum)


def plain(value):
    """A sample with its structures taken apart."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if hasattr(value, "items"):
        return {name: plain(item) for name, item in value.items()}
    return value


STRING = shape(Kind.STRING)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (None, {}),
        (shape(Kind.BLOB), "blob"),
        (shape(Kind.BOOLEAN), True),
        (shape(Kind.TIMESTAMP), 0),
        (shape(Kind.DOCUMENT), ANY),
        (shape(Kind.UNKNOWN), ANY),
        (STRING, "aa"),
        (shape(Kind.STRING, minimum=4), "aaaa"),
        (shape(Kind.STRING, maximum=1), "a"),
        (shape(Kind.NUMBER), 8),
        (shape(Kind.NUMBER, minimum=10), 10),
        (shape(Kind.NUMBER, maximum=3.5), 3.5),
        (shape(Kind.LIST, member=STRING), ["aa", "aa"]),
        (shape(Kind.LIST, maximum=0, member=STRING), []),
        (shape(Kind.LIST, minimum=3, member=STRING), ["aa"] * 3),
        (shape(Kind.MAP, key=STRING, value=shape(Kind.NUMBER)), {"aa0": 8, "aa1": 8}),
        (shape(Kind.STRUCTURE, a=STRING, b=shape(Kind.BOOLEAN)), {"a": "aa", "b": True}),
    ],
)
def test_a_sample_has_all_that_the_shape_allows(of, expected):
    assert plain(sample(of)) == expected


def test_map_keys_are_in_the_order_of_a_java_hash_map():
    of = shape(Kind.MAP, minimum=3, key=STRING, value=STRING)
    assert list(sample(of)) == ["aa1", "aa0", "aa2"]
    of = shape(Kind.MAP, minimum=13, key=STRING, value=STRING)
    # By hand: the keys' hash codes modulo 32, the table's size after its one growth.
    assert list(sample(of))[:4] == ["aa12", "aa11", "aa1", "aa0"]


def model(**shapes):
    return SmithyModel({f"x#{name}": definition for name, definition in shapes.items()})


def structure(**members):
    return {
        "type": "structure",
        "members": {name: {"target": target} for name, target in members.items()},
    }


def test_where_a_shape_contains_itself_anything_goes():
    of = model(Tree=structure(name="smithy.api#String", child="x#Tree")).shape("x#Tree")
    # Inside, `name` is visited already: the reference does not make it up a second time.
    assert plain(sample(of)) == {"name": "aa", "child": {"name": ANY, "child": ANY}}


def test_a_shape_used_twice_side_by_side_is_made_up_twice():
    shapes = model(
        Pair=structure(left="x#Leaf", right="x#Leaf"), Leaf=structure(size="smithy.api#Integer")
    )
    leaf = {"size": 8}
    assert plain(sample(shapes.shape("x#Pair"))) == {"left": leaf, "right": leaf}


def test_a_list_may_contain_itself():
    shapes = model(Nest={"type": "list", "member": {"target": "x#Nest"}})
    assert plain(sample(shapes.shape("x#Nest"))) == [[ANY, ANY], [ANY, ANY]]


def test_a_response_too_large_to_take_apart_costs_only_what_is_looked_at():
    levels = {f"L{n}": structure(**{f"m{i}": f"x#L{n + 1}" for i in range(10)}) for n in range(12)}
    value = sample(model(**levels).shape("x#L0"))
    assert value["m9"]["m0"]["m5"]["m1"].keys() == {f"m{i}" for i in range(10)}

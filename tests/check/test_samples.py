"""The linter on values that come from shapes: on sample data, as Smithy makes them."""

import json

import pytest
from case_tables import cases
from check.models import linted

STRING = "smithy.api#String"
CASES = cases("check-expressions")


def structure(**members):
    targets = {name: {"target": target} for name, target in members.items()}
    return {"type": "structure", "members": targets}


def type_of(path, definition, **shapes):
    """The type of a path to a value of this shape, `v`."""
    return_type, problems = linted(path, structure(v="x#Value"), Value=definition, **shapes)
    return "problem" if problems else return_type


SHAPES = {
    "Sizes": {"type": "list", "member": {"target": "smithy.api#Double"}},
    "Any": {"type": "document"},
    "Thing": structure(on="smithy.api#Boolean", at="smithy.api#Timestamp"),
}
OUTPUT = structure(name=STRING, sizes="x#Sizes", thing="x#Thing", doc="x#Any")


@pytest.mark.parametrize(("expression", "kind", "problem"), CASES["typed"])
def test_expression_is_checked_on_a_sample(expression, kind, problem):
    return_type, problems = linted(expression, OUTPUT, **SHAPES)
    assert return_type == kind
    assert len(problems) == (problem is not None)
    assert all(each.startswith(problem) for each in problems)


def test_without_a_sample_nothing_is_reported():
    assert linted("a.b[*].c[?d == 'x'].e | length(@) > `0`") == ("boolean", [])


def test_problem_of_several_elements_is_reported_once():
    assert len(linted("sizes[*].x", OUTPUT, **SHAPES)[1]) == 1


@pytest.mark.parametrize(("kind", "bounds", "expected"), CASES["samples"])
def test_sample_has_the_size_that_the_shape_allows(kind, bounds, expected):
    traits = {f"smithy.api#{trait}": value for trait, value in bounds.items()}
    definition = {"type": kind, "traits": traits, "member": {"target": STRING}}
    # A comparison that fails would make the whole a boolean.
    assert type_of(f"v == `{json.dumps(expected)}` && `1`", definition) == "number"


@pytest.mark.parametrize(("definition", "path", "found"), CASES["paths"])
def test_path_is_followed_through_shapes(definition, path, found):
    kinds = {"type": "enum", "members": {"SIZE": {}, "AGE": {}}}
    assert type_of(path, definition, Kind=kinds, Part=structure(parts="x#Value")) == found


def test_huge_sample_costs_only_what_is_read():
    levels = {f"L{n}": structure(**{f"m{i}": f"x#L{n + 1}" for i in range(10)}) for n in range(12)}
    found = [type_of(f"v.m9.m0.m5.m1.{name}", levels["L0"], **levels) for name in ("m9", "m10")]
    assert found == ["object", "problem"]


@pytest.mark.parametrize(("definition", "path", "found", "shapes"), CASES["mixins"])
def test_mixins_count_but_for_local_traits_and_circles(definition, path, found, shapes):
    assert type_of(path, definition, **shapes) == found

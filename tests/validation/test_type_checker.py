"""What the linter's published verdicts do not show: values that come from shapes."""

import pytest

from boto_waiters_plus.validation.expressions import parse
from boto_waiters_plus.validation.type_checker import ANY, lint

DOCUMENT = {"name": "aa", "sizes": [8.0, 8.0], "thing": {"on": True, "at": 0}, "doc": ANY}


def problems(expression, document=DOCUMENT):
    verdict = lint(parse(expression), document)
    return verdict.return_type, [str(problem) for problem in verdict.problems]


@pytest.mark.parametrize(
    ("expression", "kind", "found"),
    [
        ("thing.on", "boolean", []),
        (
            "thing.off",
            "null",
            ["[DANGER] Object field 'off' does not exist in object with properties [on, at] (1:7)"],
        ),
        ("doc.anything[0].at_all", "any", []),
        (
            "name.length",
            "any",
            ["[DANGER] Object field 'length' extraction performed on string (1:6)"],
        ),
        ("sizes[7]", "null", []),
        ("sizes[1:]", "array", []),
        ("name[1:]", "array", ["[DANGER] Slice performed on string (1:6)"]),
        ("name[0]", "any", ["[DANGER] Array index '0' extraction performed on string (1:6)"]),
        ("thing.*", "array", []),
        ("name.*", "object", ["[DANGER] Object projection performed on string (1:6)"]),
        ("sizes == thing", "boolean", []),
        ("name == doc", "boolean", []),
        ("doc < name", "boolean", []),
        ("name < name", "null", ["[WARNING] Invalid comparator '<' for string (1:8)"]),
        ("thing.at <= sizes[0]", "boolean", []),
        ("sum(sizes)", "number", []),
        (
            "sum(@.*)",
            "number",
            [
                (
                    "[ERROR] sum function argument 0 error: Expected an array of number, but found "
                    "string at "
                    "index 0 (1:7)"
                )
            ],
        ),
        ("starts_with(name, 'a')", "boolean", []),
        ("ends_with(name, 'a')", "number", []),
        ("nope(name)", "any", ["[ERROR] Unknown function: nope (1:1)"]),
        (
            "merge(thing, thing, name)",
            "object",
            [
                (
                    "[ERROR] merge function argument 2 error: Expected argument to be object, but "
                    "found "
                    "string (1:21)"
                )
            ],
        ),
        ("merge()", "object", []),
        (
            "not_null()",
            "any",
            ["[ERROR] not_null function expected 1 arguments, but was given 0 (1:1)"],
        ),
        (
            "sort_by(sizes, name)",
            "array",
            [
                (
                    "[ERROR] sort_by function argument 1 error: Expected argument to be "
                    "expression, but found "
                    "string (1:16)"
                )
            ],
        ),
        # Checked against what the function stands on, where the field happens to exist.
        ("sort_by(sizes, &name)", "array", []),
        (
            "sort_by(sizes, &size)",
            "array",
            [
                (
                    "[DANGER] Object field 'size' does not exist in object with properties "
                    "[name, sizes, thing, doc] (1:17)"
                )
            ],
        ),
        ("[&name][0]", "any", []),
        ("!name", "boolean", []),
        ("name && thing.on", "boolean", []),
        ("sizes[?@ > `7`] | [0]", "number", []),
        ("sizes[?@ > `9`] | [0]", "null", []),
        # A function's result is one sample, whatever it is applied to.
        ("length(sizes) == `2` && name", "boolean", []),
        ('`{"a": [1, {"b": true}]}` == `{"a": [1, {"b": true}]}` && name', "string", []),
        ("`[1]` == `[true]` && name", "boolean", []),
    ],
)
def test_expressions_are_checked_on_a_sample(expression, kind, found):
    assert problems(expression) == (kind, found)


def test_without_a_sample_anything_goes():
    assert problems("a.b[*].c[?d == 'x'].e | length(@) > `0`", ANY) == ("boolean", [])


def test_a_problem_met_twice_is_reported_once():
    assert len(problems("sizes[*].x")[1]) == 1

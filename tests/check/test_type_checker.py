"""The linter on values that come from shapes, which its published verdicts do not show."""

import pytest

TARGETS = {"name": "smithy.api#String", "sizes": "x#Sizes", "thing": "x#Thing"}
TARGETS |= {"on": "smithy.api#Boolean", "at": "smithy.api#Timestamp", "doc": "x#Any"}
SHAPES = {
    "Sizes": {"type": "list", "member": {"target": "smithy.api#Double"}},
    "Any": {"type": "document"},
}


def structure(*names):
    return {"type": "structure", "members": {name: {"target": TARGETS[name]} for name in names}}


OUTPUT, THING = structure("name", "sizes", "thing", "doc"), structure("on", "at")


@pytest.mark.parametrize(("expression", "kind", "problem"), [
    ("thing.on", "boolean", None),
    ("thing.off", "null", "DANGER Object field 'off' does not exist in object with properties"),
    ("doc.anything[0].at_all", "any", None),
    ("name.length", "any", "DANGER Object field 'length' extraction performed on string"),
    ("sizes[7]", "null", None), ("sizes[1:]", "array", None),
    ("name[1:]", "array", "DANGER Slice performed on string"),
    ("name[0]", "any", "DANGER Array index '0' extraction performed on string"),
    ("name[*]", "array", "DANGER Array projection performed on string"),
    ("name[]", "array", "DANGER Array flatten performed on string"),
    ("name[?@]", "array", "DANGER Filter projection performed on string"),
    ("thing.*", "array", None),
    ("name.*", "object", "DANGER Object projection performed on string"),
    ("sizes == thing", "boolean", None), ("name == doc", "boolean", None),
    ("doc < name", "boolean", None),
    ("name < name", "null", "WARNING Invalid comparator '<' for string"),
    ("thing.at <= sizes[0]", "boolean", None), ("sum(sizes)", "number", None),
    ("sum(@.*)", "number", "ERROR sum function argument 0 error"),
    ("avg([sizes])", "number", "ERROR avg function argument 0 error"),
    ("starts_with(name, 'a')", "boolean", None), ("ends_with(name, 'a')", "number", None),
    ("nope(name)", "any", "ERROR Unknown function: nope"),
    ("merge(thing, thing, name)", "object", "ERROR merge function argument 2 error"),
    ("merge()", "object", None), ("not_null(doc, name)", "any", None),
    ("not_null()", "any", "ERROR not_null function expected 1 arguments, but was given 0"),
    ("length(name, name)", "number", "ERROR length function expected 1 arguments"),
    ("length(thing.at)", "number", "ERROR length function argument 0 error"),
    ("sort_by(sizes, name)", "array", "ERROR sort_by function argument 1 error"),
    # The reference is checked on the function's own current node, which has a `name`.
    ("sort_by(sizes, &name)", "array", None),
    ("sort_by(sizes, &size)", "array", "DANGER Object field 'size' does not exist"),
    ("[&name][0]", "any", None), ("!name", "boolean", None), ("name && thing.on", "boolean", None),
    ("sizes[?@ > `7`] | [0]", "number", None), ("sizes[?@ > `9`] | [0]", "null", None),
    # The result of a function is one sample, whatever its arguments are.
    ("length(sizes) == `2` && name", "boolean", None),
    ('`{"a": [1, {"b": true}]}` == `{"a": [1, {"b": true}]}` && name', "string", None),
    ("`[1]` == `[true]` && name", "boolean", None),
])  # fmt: skip
def test_expression_is_checked_on_a_sample(linted, expression, kind, problem):
    return_type, problems = linted(expression, OUTPUT, Thing=THING, **SHAPES)
    assert return_type == kind
    assert len(problems) == (problem is not None)
    assert all(each.startswith(problem) for each in problems)


def test_without_a_sample_nothing_is_reported(linted):
    assert linted("a.b[*].c[?d == 'x'].e | length(@) > `0`") == ("boolean", [])


def test_problem_of_several_elements_is_reported_once(linted):
    assert len(linted("sizes[*].x", OUTPUT, Thing=THING, **SHAPES)[1]) == 1

"""The linter on values that come from shapes, which its published verdicts do not show."""

from case_tables import tabled

TARGETS = {"name": "smithy.api#String", "sizes": "x#Sizes", "thing": "x#Thing"}
TARGETS |= {"on": "smithy.api#Boolean", "at": "smithy.api#Timestamp", "doc": "x#Any"}
SHAPES = {
    "Sizes": {"type": "list", "member": {"target": "smithy.api#Double"}},
    "Any": {"type": "document"},
}


def structure(*names):
    return {"type": "structure", "members": {name: {"target": TARGETS[name]} for name in names}}


OUTPUT, THING = structure("name", "sizes", "thing", "doc"), structure("on", "at")


@tabled("expression is checked on a sample", "expression", "kind", "problem")
def test_expression_is_checked_on_a_sample(linted, expression, kind, problem):
    return_type, problems = linted(expression, OUTPUT, Thing=THING, **SHAPES)
    assert return_type == kind
    assert len(problems) == (problem is not None)
    assert all(each.startswith(problem) for each in problems)


def test_without_a_sample_nothing_is_reported(linted):
    assert linted("a.b[*].c[?d == 'x'].e | length(@) > `0`") == ("boolean", [])


def test_problem_of_several_elements_is_reported_once(linted):
    assert len(linted("sizes[*].x", OUTPUT, Thing=THING, **SHAPES)[1]) == 1

"""The linter on values that come from shapes, which its published verdicts do not show."""

from case_tables import tabled

from boto_waiters_plus.check.expressions import parse
from boto_waiters_plus.check.type_checker import ANY, lint

DOCUMENT = {"name": "aa", "sizes": [8.0, 8.0], "thing": {"on": True, "at": 0}, "doc": ANY}


def result(expression, document=DOCUMENT):
    found = lint(parse(expression), document)
    return found.return_type, [f"{each.severity} {each.message}" for each in found.problems]


@tabled("expression is checked on a sample", "expression", "kind", "problem")
def test_expression_is_checked_on_a_sample(expression, kind, problem):
    return_type, problems = result(expression)
    assert return_type == kind
    assert len(problems) == (problem is not None)
    assert all(each.startswith(problem) for each in problems)


def test_without_a_sample_nothing_is_reported():
    assert result("a.b[*].c[?d == 'x'].e | length(@) > `0`", ANY) == ("boolean", [])


def test_problem_of_several_elements_is_reported_once():
    assert len(result("sizes[*].x")[1]) == 1

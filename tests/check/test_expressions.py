"""How expressions are grouped, and what is refused."""

import jmespath
import pytest
from case_tables import tabled

from boto_waiters_plus.check.expressions import ExpressionSyntaxError, parse


@tabled("expression that jmespath groups differently is marked", "expression", "grammar")
def test_expression_that_jmespath_groups_differently_is_marked(expression, grammar):
    document = {"a": {"x": {"b": {"c": {"d": 1}}}, "y": {"b": [{"c": 2}]}}}
    assert parse(expression).parsed_differently
    # The bug itself: once a release mends it, `parsed_differently` can go.
    assert jmespath.search(expression, document) != jmespath.search(grammar, document)


@tabled("expression that jmespath groups alike is not marked", "expression")
def test_expression_that_jmespath_groups_alike_is_not_marked(expression):
    assert not parse(expression).parsed_differently


@tabled("syntax error is one line", "expression")
def test_syntax_error_is_one_line(expression):
    with pytest.raises(ExpressionSyntaxError, match=r"^Syntax error: .*[^:]$"):
        parse(expression)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("[" * 3000 + "a" + "]" * 3000, "nested too deeply"),
        ("!" * 220 + "a", "nested more than 200 deep"),
        ("a" * 10_001, "longer than 10000 characters"),
    ],
)
def test_expression_that_the_loader_refuses_is_refused(expression, problem):
    with pytest.raises(ExpressionSyntaxError, match=problem):
        parse(expression)

"""How expressions are grouped, and what is refused."""

import jmespath
import pytest

from boto_waiters_plus.validation.expressions import ExpressionSyntaxError, parse


@pytest.mark.parametrize(
    ("expression", "grammar"),
    [
        ("a.*.b.c", "values(a)[*].b.c"),
        ("a.*.b[0].c", "values(a)[*].b[0].c"),
        ("a.*.b[?c]", "values(a)[*].b[?c]"),
        ("a.*.b.*.c.d", "values(a)[*].b.* | [].c.d"),
        ("values(a)[*].{b: b}.b", "values(a)[*].{b: b} | [*].b"),
    ],
)
def test_expression_that_jmespath_groups_differently_is_marked(expression, grammar):
    document = {"a": {"x": {"b": {"c": {"d": 1}}}, "y": {"b": [{"c": 2}]}}}
    assert parse(expression).parsed_differently
    # The bug itself: once a release mends it, `parsed_differently` can go.
    assert jmespath.search(expression, document) != jmespath.search(grammar, document)


@pytest.mark.parametrize(
    "expression",
    [
        "(a.*.b).c",
        "f(a.*.b)[0]",
        "*.b.c",
        "a.*.*.b.c",
        "a.*.*.[b][*]",
        "a[*].b.c",
        "a.* | b",
        "(a[*].{b: b})[0]",
        "a[?b].{c: c}[?d]",
    ],
)
def test_expression_that_jmespath_groups_alike_is_not_marked(expression):
    assert not parse(expression).parsed_differently


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "a.@",
        "a b",
        "a[1 2]",
        "[1:2:3:4]",
        "a[*]*",
        "f(a,)",
        "f(a b)",
        "f(a)(b)",
        "{a: b c: d}",
        "(a",
        "a = b",
        "'a",
        "a #",
        "a &&",
        "`tru`",
        "`[NaN]`",
    ],
)
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

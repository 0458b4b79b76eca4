"""How expressions are grouped, and what is refused."""

import re

import jmespath
import pytest


def are_read_differently(events):
    return any(each.id.startswith("WaiterPathReadDifferently") for each in events)


@pytest.mark.parametrize(("expression", "grammar"), [
    ("a.*.b.c", "values(a)[*].b.c"), ("a.*.b[0].c", "values(a)[*].b[0].c"),
    ("a.*.b[?c]", "values(a)[*].b[?c]"), ("a.*.b.*.c.d", "values(a)[*].b.* | [].c.d"),
    ("values(a)[*].{b: b}.b", "values(a)[*].{b: b} | [*].b"),
])  # fmt: skip
def test_expression_that_jmespath_groups_differently_is_marked(path_events, expression, grammar):
    document = {"a": {"x": {"b": {"c": {"d": 1}}}, "y": {"b": [{"c": 2}]}}}
    assert are_read_differently(path_events(expression))
    # The bug itself: once a release mends it, the rule can go.
    assert jmespath.search(expression, document) != jmespath.search(grammar, document)


@pytest.mark.parametrize("expression", [
    "(a.*.b).c", "f(a.*.b)[0]", "*.b.c", "a.*.*.b.c", "a.*.*.[b][*]", "a[*].b.c", "a.* | b",
    "(a[*].{b: b})[0]", "a[?b].{c: c}[?d]",
])  # fmt: skip
def test_expression_that_jmespath_groups_alike_is_not_marked(path_events, expression):
    assert not are_read_differently(path_events(expression))


@pytest.mark.parametrize("expression", [
    "", "a.@", "a b", "a[1 2]", "[1:2:3:4]", "a[*]*", "f(a,)", "f(a b)", "f(a)(b)", "{a: b c: d}",
    "(a", "a = b", "'a", "a #", "a &&", "`tru`", "`[NaN]`",
])  # fmt: skip
def test_syntax_error_is_one_line(path_events, expression):
    messages = [each.message for each in path_events(expression) if each.severity == "ERROR"]
    start = re.escape(f"JMESPath expression ({expression}): Syntax error: ")
    assert any(re.search(f"{start}.*[^:]$", each) for each in messages)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        pytest.param("[" * 3000 + "a" + "]" * 3000, "nested too deeply", id="brackets"),
        pytest.param("!" * 220 + "a", "nested more than 200 deep", id="negations"),
        pytest.param("a" * 10001, "longer than 10000 characters", id="long"),
        pytest.param("[@,@][] | " * 60 + "@", "steps", id="doubled"),
        pytest.param("[@,@] | " * 60 + "@ == @", "steps", id="shared"),
    ],
)
def test_expression_that_the_loader_refuses_is_refused(path_events, expression, problem):
    messages = [each.message for each in path_events(expression) if each.severity == "ERROR"]
    assert any(problem in each for each in messages)

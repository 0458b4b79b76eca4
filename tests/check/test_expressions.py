"""How expressions are grouped, and what is refused."""

import re

import jmespath
import pytest
from case_tables import cases
from check.models import path_events

CASES = cases("check-expressions")


def are_read_differently(events):
    return any(each.id.startswith("WaiterPathReadDifferently") for each in events)


@pytest.mark.parametrize(("expression", "grammar"), CASES["grouped differently"])
def test_expression_that_jmespath_groups_differently_is_marked(expression, grammar):
    document = {"a": {"x": {"b": {"c": {"d": 1}}}, "y": {"b": [{"c": 2}]}}}
    assert are_read_differently(path_events(expression))
    # The bug itself: once a release mends it, the rule can go.
    assert jmespath.search(expression, document) != jmespath.search(grammar, document)


@pytest.mark.parametrize("expression", CASES["grouped alike"])
def test_expression_that_jmespath_groups_alike_is_not_marked(expression):
    assert not are_read_differently(path_events(expression))


@pytest.mark.parametrize("expression", CASES["syntax errors"])
def test_syntax_error_is_one_line(expression):
    messages = [each.message for each in path_events(expression) if each.severity == "ERROR"]
    start = re.escape(f"JMESPath expression ({expression}): Syntax error: ")
    assert any(re.search(f"{start}.*[^:]$", each) for each in messages)


@pytest.mark.parametrize(("expression", "problem"), [
    ("[" * 3000 + "a" + "]" * 3000, "nested too deeply"),
    ("!" * 220 + "a", "nested more than 200 deep"),
    ("a" * 10001, "longer than 10000 characters"),
    ("[@,@][] | " * 60 + "@", "steps"), ("[@,@] | " * 60 + "@ == @", "steps"),
], ids=["brackets", "negations", "long", "doubled", "shared"])  # fmt: skip
def test_expression_that_the_loader_refuses_is_refused(expression, problem):
    messages = [each.message for each in path_events(expression) if each.severity == "ERROR"]
    assert any(problem in each for each in messages)

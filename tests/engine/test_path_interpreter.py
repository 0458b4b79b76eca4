"""Expressions do a bounded amount of work."""

import jmespath
import pytest
from case_tables import experiments

from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.engine.path_interpreter import (
    MOST_STEPS,
    Path,
    SpecEvaluation,
    StockEvaluation,
    TooManyStepsError,
)

DOCUMENT = {"Table": {"TableStatus": "ACTIVE", "Keys": ['a"b'] * 10}, "Text": '"' * 100}


def piped(*parts):
    return "|".join(part for text, times in parts for part in [text] * times)


DOUBLED = "[@,@][]"


@pytest.mark.parametrize("evaluation", [SpecEvaluation, StockEvaluation])
@experiments("evaluates", "parts")
def test_an_expression_that_is_too_much_work_ends(parts, evaluation):
    with pytest.raises(TooManyStepsError):
        Path(piped(*parts)).value(DOCUMENT, evaluation())


@pytest.mark.parametrize("expression", [
    "Table.Keys[:2]", "Table.{a: TableStatus, b: missing}", "missing.{a: a}",
    "[Table, Table][].TableStatus", "Table.Keys[?contains(@, 'a')]", "Text[]", "Text[1:]",
    "Table == Table", "Table.Keys != `[]`", "length(Text) > `5`", "to_string(Table)",
    "join(', ', Table.Keys)", "sort_by([Table, Table], &TableStatus)[0]", "Table.* | [0]",
])  # fmt: skip
def test_expressions_have_the_values_of_jmespath(expression):
    value = jmespath.search(expression, DOCUMENT)
    for evaluation in (SpecEvaluation(), StockEvaluation()):
        assert Path(expression).value(DOCUMENT, evaluation) == value


def match(*paths, more=()):
    """Return the match of a response that is compared by these paths."""
    equal = {"expected": "GONE", "comparator": "stringEquals"}
    matchers = [{"output": {"path": path, **equal}} for path in paths]
    acceptors = [{"state": "success", "matcher": each} for each in (*matchers, *more)]
    definition = parse_waiter("Gone", {"acceptors": acceptors}, operation="Get", source="")
    return Matching(definition.acceptors).match_response(DOCUMENT)


def test_too_much_work_is_no_match_and_is_told():
    paths = ["Table.TableStatus", piped((DOUBLED, 23))]
    found = match(*paths)
    assert (found.index, found.observed) == (None, "ACTIVE")
    [problem] = found.problems
    assert f"more than {MOST_STEPS} steps" in str(problem)
    assert match(*paths, more=[{"success": True}]).index == 2


def test_the_expressions_of_a_response_share_their_steps():
    once = piped((DOUBLED, 12))
    assert Path(once).value(DOCUMENT, SpecEvaluation())
    assert 1 <= len(match(*(f"{once}|[{index}:]" for index in range(9))).problems) < 9

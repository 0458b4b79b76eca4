"""Expressions do a bounded amount of work."""

import jmespath
import pytest
from case_tables import tabled

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


DOUBLED, SHARED = "[@,@][]", "[@,@]"
LONG = (("[@]", 1), (DOUBLED, 18))
# Many pairs of the same two texts of 400,000 characters.
PAIRS = (("[Text]", 1), ("[join('', [@[0], @[0]])]", 12), ("{a: @[0], b: join('', @)}", 1))
PAIRS = (*PAIRS, ("[@]", 1), (DOUBLED, 13))
BOMBS = {
    "doubled": piped((DOUBLED, 23)),
    "shared": piped((SHARED, 60)),
    "shared as text": piped((SHARED, 60), ("to_string(@)", 1)),
    "shared and compared": piped((SHARED, 60), ("@ == `[1]`", 1)),
    "shared and searched": piped((SHARED, 60), ("contains(@, `1`)", 1)),
    "shared in an object": "{a: " + piped(("{a: @, b: @}", 60)) + "}",
    "flattened twice": piped((DOUBLED, 17), ("[[@],[@]][]", 1), (DOUBLED, 17), ("[][]", 1)),
    "quotes of quotes": piped(("Text", 1), ("to_string([@])", 60)),
    "joined": piped(("[Text]", 1), (f"[join('{'a' * 28}', [@[0],@[0],@[0]])]", 40)),
    "joined by a long text": piped(("[Text]", 1), ("[join(@[0], [@[0],@[0],@[0]])]", 10)),
    "slices": piped(*LONG, ("[:]", 40)),
    "sorted": piped(("[Text]", 1), (DOUBLED, 18), ("sort(@)", 40)),
    "reversed": piped(*LONG, ("reverse(@)", 40)),
    "mapped": piped(*LONG, ("map(&@, @)", 40)),
    "filtered": piped(*LONG, ("[?@]", 40)),
    "values": piped(*LONG, ("[].values(@)[]", 40)),
    "long texts compared": piped(*PAIRS, ("[?a == b] | length(@)", 1)),
    "long texts sorted": piped(*PAIRS, ("[*].[a, b][]", 1), ("sort(@) | length(@)", 1)),
    "sorted by long texts": piped(*PAIRS, ("sort_by(@, &a) | length(@)", 1)),
}


@pytest.mark.parametrize("evaluation", [SpecEvaluation, StockEvaluation])
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_an_expression_that_is_too_much_work_ends(bomb, evaluation):
    with pytest.raises(TooManyStepsError):
        Path(bomb).value(DOCUMENT, evaluation())


@tabled("expressions have the values of jmespath", "expression")
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
    paths = ["Table.TableStatus", BOMBS["doubled"]]
    found = match(*paths)
    assert (found.index, found.observed) == (None, "ACTIVE")
    [problem] = found.problems
    assert f"more than {MOST_STEPS} steps" in str(problem)
    assert match(*paths, more=[{"success": True}]).index == 2


def test_the_expressions_of_a_response_share_their_steps():
    once = piped((DOUBLED, 12))
    assert Path(once).value(DOCUMENT, SpecEvaluation())
    assert 1 <= len(match(*(f"{once}|[{index}:]" for index in range(9))).problems) < 9

"""Acceptors against responses and errors."""

import json
from functools import reduce

import pytest
from case_tables import cases

from boto_waiters_plus.engine import acceptors as a
from boto_waiters_plus.engine.matching import Matching

CASES = cases("matching")
RESPONDED, FAILED = a.SuccessMatcher(success=True), a.SuccessMatcher(success=False)


def path(text, expected="up", comparator="stringEquals"):
    return a.PathMatcher(path=text, expected=expected, comparator=a.PathComparator(comparator))


def output(text, *rest):
    return a.OutputMatcher(path(text, *rest))


def matching(*matchers):
    return Matching([a.Acceptor(state=a.AcceptorState.SUCCESS, matcher=m) for m in matchers])


@pytest.mark.parametrize("case", CASES["comparators"], ids=json.dumps)
def test_comparators_are_strict_about_types(case):
    matcher = output("v", case["expected"], case["comparator"])
    match = matching(matcher).match_response({"v": case["value"]})
    assert (match.index == 0) is case["matches"]


@pytest.mark.parametrize("case", CASES["expressions"], ids=lambda case: case["path"])
def test_expressions_compare_as_jmespath_does(case):
    found = matching(*(output(case["path"], text, "booleanEquals") for text in ("true", "false")))
    match = found.match_response(case["document"])
    assert match.index == {True: 0, False: 1}.get(case["value"])
    assert match.problems == ()


def test_first_acceptor_that_matches_decides():
    found = matching(output("a"), output("b"), RESPONDED)
    assert found.match_response({"a": "up", "b": "up"}).index == 0
    assert found.match_response({"b": "up"}).index == 1
    assert found.match_response({}).index == 2


@pytest.mark.parametrize(("matcher", "by_response", "by_error"), [
    (RESPONDED, 0, None), (FAILED, None, 0),
    (output("v"), 0, None), (a.InputOutputMatcher(path("output.v")), 0, None),
    (a.ErrorTypeMatcher("Missing"), None, 0),
    (a.StatusMatcher(404), None, 0), (a.StatusMatcher(200), 0, None),
], ids=str)  # fmt: skip
def test_each_matcher_matches_its_kind_of_attempt(matcher, by_response, by_error):
    found = matching(matcher)
    assert found.match_response({"v": "up"}, {}, status=200).index == by_response
    assert found.match_error({"Missing"}, status=404).index == by_error


def test_input_and_output_are_matched_together():
    text = "length(input.groups) == length(output.groups)"
    found = matching(a.InputOutputMatcher(path(text, "true", "booleanEquals")))
    assert found.match_response({"groups": [1, 2]}, {"groups": ["a", "b"]}).index == 0
    assert found.match_response({"groups": [1]}, {"groups": ["a", "b"]}).index is None
    missing = matching(a.InputOutputMatcher(path("input.v")))
    assert missing.match_response({"v": "up"}).index is None


@pytest.mark.parametrize(("error_type", "names", "matches"), CASES["errors"])
def test_errors_match_by_the_shape_ids_name(error_type, names, matches):
    index = matching(a.ErrorTypeMatcher(error_type)).match_error({*names}).index
    assert (index == 0) is matches


def test_an_expression_that_fails_is_no_match_and_others_still_match():
    fails = output("join(',', v)", "a"), output("join(',', v)", "b")
    match = matching(*fails).match_response({"v": True})
    assert (match.index, match.observed) == (None, None)
    assert [each.path for each in match.problems] == ["join(',', v)"]
    assert matching(*fails, output("v")).match_response({"v": "up"}).index == 2


def test_a_document_that_is_nested_too_deeply_is_no_match():
    deep = reduce(lambda inner, _: [inner], range(9_000), [])
    assert matching(output("to_string(v)")).match_response({"v": deep}).index is None


ENDLESS = "a||" * 3000 + "a", "RecursionError", True


@pytest.mark.parametrize(("path", "why", "is_fault"), [*CASES["problems"], ENDLESS])
def test_problems_have_a_reason_that_quotes_no_value(path, why, is_fault):
    answer = {"password": 4711, "words": ["secret"], "a": None}
    [problem] = matching(output(path)).match_response(answer).problems
    assert (problem.path[:20], problem.is_fault) == (path[:20], is_fault)
    assert problem.why.startswith(why)
    assert len(problem.path) <= 200
    assert "4711" not in str(problem)


def test_observed_is_the_matching_paths_value_or_the_first():
    found = matching(output("a"), output("v[].s", "up", "anyStringEquals"))
    assert found.match_response({"v": [{"s": "down"}, {"s": "up"}]}).observed == ["down", "up"]
    found = matching(FAILED, output("a"), output("l[]"), output("v"))
    assert found.match_response({"v": "down", "l": []}).observed == "down"
    assert found.match_response({"a": False, "v": "down"}).observed == "down"
    assert found.match_response({}).observed is None


def test_only_the_matching_acceptors_message_is_evaluated():
    failure = a.AcceptorState.FAILURE
    messages = {"a": "reason_a", "b": "reason_b", "c": "length(missing)"}
    found = Matching(
        [a.Acceptor(state=failure, matcher=output(m), message=messages[m]) for m in messages]
    )
    reasons = {"reason_a": "no", "reason_b": "quota"}
    assert found.match_response({"b": "up", **reasons}).message == "quota"
    assert found.match_response(reasons).message is None
    match = found.match_response({"c": "up", **reasons})
    assert (match.index, match.message) == (2, None)
    assert [each.path for each in match.problems] == ["length(missing)"]

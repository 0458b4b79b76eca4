"""The state seen: what the acceptors compare, else the model's state, else what is missing."""

import json

import pytest
from case_tables import cases

from boto_waiters_plus.engine import acceptors as a
from boto_waiters_plus.engine.matching import Matching

CASES = cases("state-seen")


def acceptor(path, comparator="booleanEquals", state="success", kind=a.OutputMatcher):
    expected = "true" if comparator == "booleanEquals" else "never"
    comparator = a.PathComparator(comparator)
    matcher = a.PathMatcher(path=path, expected=expected, comparator=comparator)
    return a.Acceptor(state=a.AcceptorState(state), matcher=kind(matcher))


def match(*acceptors, output, input=None, by_model=lambda _: None):
    return Matching(acceptors, state_by_model=by_model).match_response(output, input or {})


def seen(*acceptors, output, **more):
    found = match(*acceptors, output=output, **more)
    assert found.index is None
    return found.state or found.observed


PART = {"State": "pending", "Name": "a", "Health": {"Status": "bad"}}
PARTS = {"Parts": [PART, {"State": "up"}]}


@pytest.mark.parametrize("case", CASES["compared"], ids=json.dumps)
def test_what_an_expression_compares_is_the_state(case):
    assert seen(acceptor(case["path"]), output=case["output"]) == case["state"]


@pytest.mark.parametrize("case", CASES["missing"], ids=lambda case: case["state"])
def test_what_is_missing_is_named(case):
    acceptors = [acceptor(*each) for each in case["acceptors"].items()]
    assert seen(*acceptors, output=case["output"]) == case["state"]


def test_an_expression_of_many_parts_is_not_looked_into():
    for parts, text in ((20, "a 1"), (600, None)):
        path = f"[{','.join(['a < `2`'] * parts)}]"
        assert seen(acceptor(path), output={"a": 1}) == text


def test_parameters_are_no_state():
    path = "length(output.Parts[?State == 'up']) == length(input.Names)"
    both = acceptor(path, kind=a.InputOutputMatcher)
    assert seen(both, output=PARTS, input={"Names": ["a", "b"]}) == ["pending", "up"]


def test_state_of_the_model_serves_where_none_is_compared():
    gone = a.Acceptor(state=a.AcceptorState.SUCCESS, matcher=a.ErrorTypeMatcher("NotFound"))
    asked = []

    def by_model(members):
        asked.append(members)
        return "Thing.Status"

    assert seen(gone, output={"Thing": {"Status": "deleting"}}, by_model=by_model) == "deleting"
    count = acceptor("length(Parts) == `0`")
    found = seen(count, output={"Parts": [1], "Thing": {"Status": "x"}}, by_model=by_model)
    assert found == "x"
    assert asked == [[], ["Parts"]]
    both = acceptor("length(output.Parts) == length(input.Names)", kind=a.InputOutputMatcher)
    assert match(both, output={"Parts": [1]}, by_model=by_model).state == "1 part"
    assert asked[2] == ["Parts"]
    compared = acceptor("Status", "stringEquals")
    assert seen(compared, output={"Status": "up"}, by_model=lambda _: 1 / 0) == "up"


def test_more_states_than_may_be_listed_are_counted():
    parts = [{"State": state} for state in ["up"] * 28 + ["down"] * 2 + list("abcd")]
    counts = "28 up, 2 down, 1 a, 1 b, 1 c"
    assert seen(acceptor("Parts[].State", "anyStringEquals"), output={"Parts": parts}) == counts
    assert seen(acceptor("Code", "stringEquals"), output={"Code": 16}) == 16


@pytest.mark.parametrize("state", ["success", "failure"])
def test_match_by_an_expression_says_the_state_beside_its_value(state):
    found = match(acceptor("length(Parts[?State == 'up']) > `0`", state=state), output=PARTS)
    assert (found.index, found.observed, found.state) == (0, True, "pending, up")


@pytest.mark.parametrize("output", [None, "text", 5, [], {}, {"Parts": "text"}])
def test_any_response_can_be_read(output):
    paths = ("length(Parts[?State != 'up']) == `0`", "Parts[].State", "Parts == `null`")
    found = match(*(acceptor(path, state="retry") for path in paths), output=output)
    assert found.observed in (None, [], True)

"""`WaiterDefinition.from_states`: waiters in one call."""

import json

import pytest
from case_tables import cases
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus import WaiterDefinition
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.matching import Matching

CASES = cases("from-states")
texts = st.text("ab'\\`\"\nü", min_size=1, max_size=5)
one_of_few = st.sampled_from(["a", "b", "c'\\", "d`", 'e"', "f\n", "g"])
lists = st.lists(one_of_few, unique=True, max_size=3)


def things(states):
    return {"things": [{"state": state} for state in states]}


SHAPES = {
    "state": lambda states: {"state": states},
    "things[].state": things,
    "groups[*].things[*].state": lambda states: {"groups": [things([s]) for s in states]},
    "missing || things[*].state | []": things,
}


def made(path="Job.Status", success=("DONE",), name="JobDone", operation="DescribeJob", **options):
    return WaiterDefinition.from_states(name, operation, path=path, success=success, **options)


def verdict(definition, output):
    match = Matching(definition.acceptors).match_response(output)
    assert match.problems == ()
    return "retry" if match.index is None else definition.states[match.index].value


def expected(states, success, failure, many):
    """The rule of DESIGN 2, written once more."""
    good = [state in success for state in states]
    if states and (all(good) if many == "all" else any(good)):
        return "success"
    return "failure" if any(state in failure for state in states) else "retry"


@given(st.data(), st.sampled_from(["all", "any"]), st.sampled_from(list(SHAPES)))
def test_a_list_is_judged_by_all_or_any(data, many, path):
    values = data.draw(lists.filter(bool))
    cut = data.draw(st.integers(1, len(values)))
    success, failure = values[:cut], values[cut:]
    states = data.draw(st.lists(one_of_few, max_size=4))
    definition = made(path, success, failure=failure, many=many)
    assert verdict(definition, SHAPES[path](states)) == expected(states, success, failure, many)
    assert verdict(definition, {}) == "retry"


@given(st.lists(texts, unique=True, min_size=3, max_size=3), st.sampled_from(["all", "any"]))
def test_a_string_is_judged_by_its_value(values, many):
    done, finished, failed = values
    definition = made("state", [done, finished], failure=[failed], many=many)
    verdicts = [verdict(definition, {"state": value}) for value in [*values, done + "x" * 9]]
    assert verdicts == ["success", "success", "failure", "retry"]


@given(st.lists(texts, unique=True, min_size=1, max_size=4), st.sampled_from(["all", "any"]))
def test_every_definition_is_valid_smithy(success, many):
    definition = made("Jobs[].Status", success, failure=["FAILED!!"], many=many)
    body = json.loads(json.dumps(definition.to_json()))
    assert parse_waiter("JobDone", body, operation="DescribeJob", source="") == definition


@pytest.mark.parametrize("state", ["RUNNING", "DONE", "FAILED", ["DONE", "FAILED"]])
def test_the_state_is_seen_and_a_failure_has_the_reason(state):
    matching = Matching(made(failure=["FAILED"], reason="Job.Why").acceptors)
    match = matching.match_response({"Job": {"Status": state, "Why": "no space"}})
    assert match.observed == state
    assert match.message == ("no space" if "FAILED" in state else None)


@pytest.mark.parametrize(("path", "success", "states", "found"), [
    # The text of a number or a comparison is no list.
    ("to_string(length(things) > `1`)", "true", ["a", "b"], "success"),
    ("to_string(length(things) > `1`)", "true", ["a"], "retry"),
    # A function may give a list.
    ("sort(things[].state)", "DONE", ["DONE", "DONE"], "success"),
    ("sort(things[].state)", "DONE", ["DONE", "OTHER"], "retry"),
    ("sort(things[].state)", "DONE", ["DONE", "FAILED"], "failure"),
])  # fmt: skip
def test_a_function_gives_what_is_judged(path, success, states, found):
    assert verdict(made(path, [success], failure=["FAILED"]), things(states)) == found


def test_errors_and_delays_are_those_given():
    errors = {"success_on_error": ["NotFound"], "retry_on_error": ["Busy"]}
    definition = made(success=[], **errors, min_delay=1, max_delay=4)
    assert [a.to_json() for a in definition.acceptors] == [
        {"state": "success", "matcher": {"errorType": "NotFound"}},
        {"state": "retry", "matcher": {"errorType": "Busy"}},
    ]
    assert (definition.min_delay, definition.max_delay) == (1, 4)
    assert (made().min_delay, made().max_delay) == (2, 30)


@pytest.mark.parametrize(("kind", "options", "words"), CASES["refused"])
def test_bad_argument_is_named(kind, options, words):
    with pytest.raises({"TypeError": TypeError, "ValueError": ValueError}[kind], match=words):
        made(**options)


@pytest.mark.parametrize(("path", "reason", "message"), CASES["reasons"])
def test_the_reason_is_that_of_the_failed_item(path, reason, message):
    matching = Matching(made(path, ["DONE"], failure=["down"], reason=reason).acceptors)
    match = matching.match_response(CASES["answer"])
    assert (match.message, match.problems) == (message, ())

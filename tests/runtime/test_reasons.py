"""The words of a failure: what happened, what was waited for, what was seen last, how long."""

import pytest

from boto_waiters_plus import WaiterError
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.runtime.attempt import Attempt
from boto_waiters_plus.runtime.sync import drive
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun

PATH = {"path": "state", "expected": "up", "comparator": "stringEquals"}
WAITER = {
    "acceptors": [
        {"state": "success", "matcher": {"output": PATH}},
        {"state": "failure", "matcher": {"output": {**PATH, "expected": "broken"}}},
        {"state": "failure", "matcher": {"errorType": "com.acme#Forbidden"}},
    ]
}
DEFINITION = parse_waiter("ThingUp", WAITER, operation="GetThing", source="test")


class Port:
    def __init__(self, attempt):
        self._attempt = attempt

    def poll(self, time_left):
        return self._attempt()


def answered(acceptor=None, **members):
    return lambda: Attempt(facts=Facts(acceptor=acceptor), **members)


def reason(attempt, definition=DEFINITION, **policy):
    """The error of a wait whose every attempt is this one."""
    members = {"min_delay": 5, "max_delay": 5, "max_wait": 12, "pace": "fixed", **policy}
    wait_run = WaitRun(WaitDescription.of(definition), Policy(**members))
    with pytest.raises(WaiterError) as caught:
        drive(wait_run, Port(attempt))
    return str(caught.value).removeprefix("Waiter ThingUp failed: ")


SEEN = answered(observed="starting")
ERROR = {"exception": ValueError(), "error": "Oops, HTTP 400", "error_code": "Oops"}
CUT_OFF = answered(cut_off="deadline")


@pytest.mark.parametrize(
    ("attempt", "policy", "words"),
    [
        (
            SEEN,
            {},
            (
                "Timed out: the 12 s that were allowed are used up; waited for: state is 'up'; "
                "last seen: starting; 4 attempts of GetThing in 11.8 s"
            ),
        ),
        (
            SEEN,
            {"max_attempts": 1},
            (
                "Max attempts exceeded: 1 are used up; waited for: state is 'up'; "
                "last seen: starting; 1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            answered(observed={"Password": "x"}),
            {"max_attempts": 2},
            (
                "Max attempts exceeded: 2 are used up; waited for: state is 'up'; "
                "last seen: a response that no acceptor took as the end; "
                "2 attempts of GetThing in 5.0 s"
            ),
        ),
        (
            answered(1, observed="broken", service_message="no quota"),
            {},
            (
                "terminal failure state: state is 'broken': no quota; waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            answered(2, service_message="not yours", **ERROR),
            {},
            (
                "terminal failure state: the call fails with Forbidden: not yours; "
                "waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            answered(service_message="said so", **ERROR),
            {},
            (
                "An error occurred (Oops, HTTP 400): said so; waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            answered(None, **{**ERROR, "exception": ValueError()}),
            {},
            (
                "An error occurred (Oops, HTTP 400); waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            CUT_OFF,
            {},
            (
                "Timed out: the 12 s that were allowed are used up; waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            SEEN,
            {"max_wait": 1_209_600, "min_delay": 600_000, "max_delay": 600_000},
            (
                "Timed out: the 1209600 s that were allowed are used up; "
                "waited for: state is 'up'; "
                "last seen: starting; 4 attempts of GetThing in 1209599.8 s"
            ),
        ),
        (
            SEEN,
            {"deadline": 0},
            (
                "Timed out: the 0 s that were allowed are used up; waited for: state is 'up'; "
                "0 attempts of GetThing in 0.0 s"
            ),
        ),
    ],
    ids=[
        "time",
        "attempts",
        "not to be shown",
        "failure state",
        "failure error",
        "error with words",
        "error",
        "cut off",
        "two weeks",
        "nothing left",
    ],
)
def test_reason(attempt, policy, words, virtual_time):
    assert reason(attempt, **policy) == words


def test_call_that_is_cut_off_without_a_bound_in_seconds_is_told_too(virtual_time):
    """Attempts alone bound a schedule of botocore; a request that hangs is cut all the same."""
    words = reason(CUT_OFF, max_wait=None, max_attempts=40, count_requests=False)
    assert words.startswith("Timed out: ")
    assert "1 attempt of GetThing" in words


def test_words_of_a_service_and_long_goals_are_cut(virtual_time):
    words = reason(answered(1, service_message="x" * 5000))
    assert len(words) < 400
    paths = [{"output": {**PATH, "path": f"state || '{'x' * 200}{n}'"}} for n in range(20)]
    acceptors = [{"state": "success", "matcher": matcher} for matcher in paths]
    long = parse_waiter("ThingUp", {"acceptors": acceptors}, operation="GetThing", source="test")
    assert len(reason(SEEN, long)) < 500


def test_last_error_that_was_sat_out_is_what_was_seen_last(virtual_time):
    answers = iter([answered(None), answered(None, service_message="wait for it", **ERROR)])
    members = {"retry_transient": True}

    def attempt():
        found = next(answers, None) or answered(None, service_message="wait for it", **ERROR)
        made = found()
        made.facts = Facts(acceptor=None, retryable=True)
        return made

    words = reason(attempt, **members)
    assert "last seen: error Oops, HTTP 400: wait for it; 4 attempts" in words

"""The reason of a failure: what happened, the goal, the last state seen, attempts and time."""

import itertools

import pytest
from runtime.calls import ScriptedCall, scripted_wait

from boto_waiters_plus import WaiterError
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.runtime.attempt import Attempt, Reply
from boto_waiters_plus.runtime.sync import drive

PATH = {"path": "state", "expected": "up", "comparator": "stringEquals"}
WAITER = {
    "acceptors": [
        {"state": "success", "matcher": {"output": PATH}},
        {"state": "failure", "matcher": {"output": {**PATH, "expected": "broken"}}},
        {"state": "failure", "matcher": {"errorType": "com.acme#Forbidden"}},
    ]
}
DEFINITION = parse_waiter("ThingUp", WAITER, operation="GetThing", source="test")


def attempt(acceptor=None, *, retryable=False, **members):
    return Attempt(facts=Facts(acceptor=acceptor, retryable=retryable), **members)


def reason(*replies, definition=DEFINITION, **policy):
    """Return the reason of a wait that gets these replies, the last of them again and again."""
    call = ScriptedCall(itertools.chain(replies, itertools.repeat(replies[-1])))
    with pytest.raises(WaiterError) as caught:
        drive(scripted_wait(definition, **policy), call)
    return str(caught.value).removeprefix("Waiter ThingUp failed: ")


STARTING = attempt(observed="starting")
ERROR = {"exception": ValueError(), "error": "Oops, HTTP 400", "error_code": "Oops"}
TIMED_OUT = Reply(ended="deadline")


@pytest.mark.parametrize(
    ("reply", "policy", "words"),
    [
        (
            STARTING,
            {},
            (
                "timed out after 12 s; waited for: state is 'up'; "
                "last state seen: starting; 4 attempts of GetThing in 11.8 s"
            ),
        ),
        (
            STARTING,
            {"max_attempts": 1},
            (
                "Max attempts exceeded: max_attempts is 1; waited for: state is 'up'; "
                "last state seen: starting; 1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            attempt(observed={"Password": "x"}),
            {"max_attempts": 2},
            (
                "Max attempts exceeded: max_attempts is 2; waited for: state is 'up'; "
                "last state seen: a response that matched no acceptor; "
                "2 attempts of GetThing in 5.0 s"
            ),
        ),
        (
            attempt(1, observed="broken", service_message="no quota"),
            {},
            (
                "terminal failure state: state is 'broken': no quota; waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            attempt(2, service_message="not yours", **ERROR),
            {},
            (
                "terminal failure state: the call fails with Forbidden: not yours; "
                "waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            attempt(service_message="quota used up", **ERROR),
            {},
            (
                "An error occurred (Oops, HTTP 400): quota used up; waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            attempt(**ERROR),
            {},
            (
                "An error occurred (Oops, HTTP 400); waited for: state is 'up'; "
                "1 attempt of GetThing in 0.0 s"
            ),
        ),
        (
            TIMED_OUT,
            {},
            ("timed out after 12 s; waited for: state is 'up'; 1 attempt of GetThing in 0.0 s"),
        ),
        (
            STARTING,
            {"max_wait": 1_209_600, "min_delay": 600_000, "max_delay": 600_000},
            (
                "timed out after 1209600 s; "
                "waited for: state is 'up'; "
                "last state seen: starting; 4 attempts of GetThing in 1209599.8 s"
            ),
        ),
        (
            STARTING,
            {"deadline": 0},
            (
                "timed out: no time was left; waited for: state is 'up'; "
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
def test_reason(reply, policy, words, virtual_time):
    assert reason(reply, **policy) == words


def test_unanswered_call_without_max_wait_times_out(virtual_time):
    """A schedule of botocore bounds attempts alone; a request that hangs is ended all the same."""
    words = reason(TIMED_OUT, max_wait=None, max_attempts=40, count_requests=False)
    assert words.startswith("timed out")
    assert "1 attempt of GetThing" in words


def test_long_service_messages_and_goals_are_cut(virtual_time):
    assert len(reason(attempt(1, service_message="x" * 5000))) < 400
    paths = [{"output": {**PATH, "path": f"state || '{'x' * 200}{n}'"}} for n in range(20)]
    acceptors = [{"state": "success", "matcher": matcher} for matcher in paths]
    long = parse_waiter("ThingUp", {"acceptors": acceptors}, operation="GetThing", source="test")
    assert len(reason(STARTING, definition=long)) < 500


def test_retried_error_is_the_last_state_seen(virtual_time):
    error = attempt(retryable=True, service_message="wait for it", **ERROR)
    words = reason(attempt(), error, retry_transient=True)
    assert "last state seen: error Oops, HTTP 400: wait for it; 4 attempts" in words

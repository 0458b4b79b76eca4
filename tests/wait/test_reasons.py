"""The reason of a failure: what happened, the goal, the last state seen, attempts and time."""

import itertools

import pytest
from batch.calls import ScriptedCall, scripted_wait
from case_tables import tabled

from boto_waiters_plus import WaiterError
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.sync import drive

PATH = {"path": "state", "expected": "up", "comparator": "stringEquals"}
WAITER = {
    "acceptors": [
        {"state": "success", "matcher": {"output": PATH}},
        {"state": "failure", "matcher": {"output": {**PATH, "expected": "broken"}}},
        {"state": "failure", "matcher": {"errorType": "com.acme#Forbidden"}},
    ]
}
DEFINITION = parse_waiter("ThingUp", WAITER, operation="GetThing", source="test")


def attempt(acceptor=None, *, transient=False, unconnected=False, missing=False, **members):
    exception = ValueError() if "error" in members else None
    facts = Facts(acceptor=acceptor, transient=transient, unconnected=unconnected, missing=missing)
    return Attempt(facts=facts, exception=exception, **members)


def reason(*replies, definition=DEFINITION, **policy):
    """Return the reason of a wait that gets these replies, the last of them again and again."""
    call = ScriptedCall(itertools.chain(replies, itertools.repeat(replies[-1])))
    with pytest.raises(WaiterError) as caught:
        drive(scripted_wait(definition, service="acme", **policy), call)
    return str(caught.value).removeprefix("Waiter ThingUp ").replace(" for acme thing", "")


STARTING = attempt(observed="starting")
ERROR = {"error": "Oops (HTTP 400)", "error_code": "Oops"}
TIMED_OUT = Reply(ended="deadline")


@tabled("reply", "policy", "words")
def test_reason(reply, policy, words, virtual_time):
    reply = TIMED_OUT if reply == "cut off" else attempt(**reply)
    assert reason(reply, **policy) == words


def test_the_message_names_waiter_and_resource(virtual_time):
    with pytest.raises(WaiterError) as caught:
        drive(scripted_wait(DEFINITION, service="acme"), ScriptedCall([STARTING] * 4))
    assert caught.value.label == "acme thing"
    assert str(caught.value).startswith("Waiter ThingUp timed out after 12 s for acme thing: last")
    assert f"Waiter ThingUp {caught.value.kwargs['reason']}" == str(caught.value)


def test_a_wait_on_no_service_names_its_goal(virtual_time):
    with pytest.raises(WaiterError, match=r"12 s: waited for state is 'up'; last state seen: s"):
        drive(scripted_wait(DEFINITION), ScriptedCall([STARTING] * 4))


def test_a_call_in_flight_at_the_end_is_told(virtual_time):
    replies = [STARTING, Reply(ended="deadline")]
    words = reason(*replies)
    assert words == (
        "timed out after 12 s: last state seen: starting; the last call got no answer in 0 s "
        "(2 attempts of GetThing)."
    )


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


def test_an_error_that_an_acceptor_retries_is_the_last_state_seen(virtual_time):
    error = attempt(0, service_message="wait for it", **ERROR)
    words = reason(attempt(), error, success_count=9)
    assert "last state seen: Oops: wait for it (4 attempts" in words


def test_transient_errors_of_another_process_are_counted_alone(virtual_time):
    error = attempt(transient=True, service_message="wait for it", **ERROR)
    first = scripted_wait(DEFINITION, retry_transient=True)
    first.begin()
    first.attempted(error)
    second = scripted_wait(DEFINITION, retry_transient=True, max_attempts=2)
    second.resume(first.stored_state())
    with pytest.raises(WaiterError, match=r"2 attempts .* s; transient errors: 1\)"):
        drive(second, ScriptedCall([STARTING]))


def test_transient_errors_are_counted_and_the_last_is_quoted(virtual_time):
    error = attempt(transient=True, service_message="wait for it", **ERROR)
    words = reason(STARTING, error, retry_transient=True)
    assert words == (
        "timed out after 12 s: last state seen: starting (4 attempts of GetThing; "
        "3 ended in transient errors, the last: Oops: wait for it)."
    )

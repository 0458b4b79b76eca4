"""Answers that arrive in time and are parsed until after the deadline."""

import asyncio
import json

import pytest
from botocore.exceptions import ConnectionClosedError
from calls.support import answered_client, ended, make_client, respond
from case_tables import experiments
from faults.scenarios import ABANDONED, ANSWER, FORMS, TABLE, WAITS, Running, ending_of, operation
from faults.support import TELLS_ARRIVALS, raised_by

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.client_call import BlockingCall, Calls

pytestmark = pytest.mark.skipif(
    not TELLS_ARRIVALS, reason="botocore before 1.36 does not tell when an answer has arrived"
)

# A call in a thread is abandoned, whatever it does.
IN_THIS_THREAD = [form for form in FORMS if form != "thread"]
UNAVAILABLE = "ServiceUnavailable"
TASKS = {"tasks": [{"taskArn": each, "lastStatus": "RUNNING"} for each in "12"]}


def error(code):
    return json.dumps({"__type": code}).encode()


@pytest.fixture
def slow_to_parse(clock, virtual_time):
    """A handler in which the time of every call and of every wait passes."""

    def pass_time(**_):
        clock.advance()
        virtual_time.advance(1000)

    return pass_time


def ending(form, client):
    running = Running(client, operation(client), server=None)
    return ending_of(raised_by(lambda: FORMS[form](running, 60)))


@experiments("is parsed late", "status", "code")
@pytest.mark.parametrize("form", IN_THIS_THREAD)
def test_answer_that_arrived_in_time_is_judged(clock, form, status, code):
    client, sent = answered_client((status, error(code) if code else TABLE))
    client.meta.events.register("before-parse.dynamodb", lambda **_: clock.advance())
    # What the SDK would have retried is no verdict of a wait.
    assert ending(form, client) in {code or ANSWER, *([ABANDONED] if status == 503 else [])}
    assert len(sent) == 1


@pytest.mark.parametrize("form", FORMS)
def test_answer_that_arrived_late_does_not_count(clock, form):
    client, _ = answered_client((200, TABLE))
    client.meta.events.register("request-created.dynamodb", lambda **_: clock.advance())
    assert ending(form, client) == ABANDONED


@pytest.mark.usefixtures("sleeps")
def test_answer_that_was_retried_is_none_of_the_call(clock):
    client, sent = make_client(), []

    def send(**_):
        sent.append(client)
        if len(sent) == 2:
            clock.advance()

    client.meta.events.register("before-send.dynamodb", send)
    respond(client, (503, error(UNAVAILABLE)), ConnectionClosedError(endpoint_url="x"))
    with ended("deadline"):
        bounded_call(operation(client), client=client, seconds=60)
    assert len(sent) == 2


def seconds_of(wait, client):
    """How long a wait of one attempt took, however it ended."""
    outcomes = []
    raised = raised_by(lambda: outcomes.append(wait(client, max_wait=60, max_attempts=1)))
    return (raised or outcomes[0]).elapsed


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("answer", [(200, TABLE), (400, error("TableInUseException"))])
def test_time_of_parsing_is_not_of_the_wait(slow_to_parse, wait, answer):
    respond(client := make_client(), answer)
    client.meta.events.register("before-parse.dynamodb", slow_to_parse)
    assert seconds_of(wait, client) == pytest.approx(0, abs=0.001)


@pytest.mark.parametrize("wait", WAITS)
def test_time_of_judging_is_not_of_the_wait(slow_to_parse, wait):
    class SlowToRead(dict):
        def get(self, *name):
            slow_to_parse()
            return super().get(*name)

    def read_slowly(parsed, **_):
        parsed["Table"] = SlowToRead(parsed["Table"])

    respond(client := make_client(), (200, TABLE))
    client.meta.events.register("after-call.dynamodb", read_slowly)
    assert seconds_of(wait, client) == pytest.approx(0, abs=0.001)


def test_call_tells_that_it_has_its_answer():
    client, seen = make_client(), []
    respond(client, (200, TABLE))
    call = BlockingCall(Calls(client=client), operation(client))
    for event in ("before-send", "before-parse"):
        client.meta.events.register(f"{event}.dynamodb", lambda **_: seen.append(call.is_answered))
    call.make(60)
    assert [*seen, call.is_answered] == [False, True, False]


@pytest.fixture
def in_common(slow_to_parse):
    """`in_common(answer, ids)`: the ends of the waits that share the call, and its requests."""

    def run(answer, ids="12", waiter="tasks_running", *, in_task=False):
        sent = respond(client := make_client("ecs"), answer)
        client.meta.events.register("before-parse.ecs", slow_to_parse)
        waits = [bwp.Wait(client, waiter, {"tasks": [each]}, max_wait=60) for each in ids]
        if in_task:
            return asyncio.run(bwp.wait_all_async(waits, on_failure="collect")), sent
        return bwp.wait_all(waits, on_failure="collect"), sent

    return run


def test_common_answer_that_arrived_in_time_is_judged(in_common):
    outcomes, _ = in_common((200, json.dumps(TASKS).encode()))
    assert [outcome.coalesced for outcome in outcomes] == [True, True]


DENIED, MISSING = "AccessDeniedException", "ClusterNotFoundException"


# Of two, nothing tells which one it is that is not found.
@pytest.mark.parametrize(("code", "ids", "kind"), [
    (DENIED, "12", bwp.WaiterFailedError), (DENIED, "11", bwp.WaiterFailedError),
    (MISSING, "12", bwp.WaiterTimeoutError), (MISSING, "11", bwp.WaiterFailedError),
])  # fmt: skip
@pytest.mark.parametrize("in_task", [False, True])
def test_common_error_that_arrived_in_time_is_judged(in_common, in_task, code, ids, kind):
    errors, sent = in_common((400, error(code)), ids, in_task=in_task)
    assert [type(each) for each in errors] == [kind, kind]
    assert [ending_of(each.last_exception) for each in errors] == [code, code]
    assert not [each for each in errors if code not in str(each) or "no answer" in str(each)]
    assert len(sent) == 1


def test_common_error_is_no_success_of_another(in_common):
    states = {"path": "tasks[].lastStatus", "success": [], "success_on_error": [MISSING]}
    gone = bwp.WaiterDefinition.from_states("Gone", "DescribeTasks", **states)
    errors, _ = in_common((400, error(MISSING)), waiter=gone)
    assert [type(each) for each in errors] == [bwp.WaiterTimeoutError] * 2


def test_common_answer_without_an_item_is_judged(in_common):
    (first, second), sent = in_common((200, json.dumps({"tasks": TASKS["tasks"][:1]}).encode()))
    assert first.attempts == second.attempts == len(sent) == 1
    assert isinstance(second, bwp.WaiterTimeoutError)
    assert "no answer" not in str(second)

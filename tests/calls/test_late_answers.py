"""Answers that arrive in time and are parsed until after the deadline."""

import asyncio
import json

import pytest
from botocore.exceptions import ConnectionClosedError
from calls.support import ended, make_client, respond
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
    running = Running(client=client, call=operation(client), server=None)
    return ending_of(raised_by(lambda: FORMS[form](running, 60)))


@experiments("is parsed late", "status", "code")
@pytest.mark.parametrize("form", IN_THIS_THREAD)
def test_answer_that_arrived_in_time_is_judged(clock, form, status, code):
    client = make_client()
    sent = respond(client, (status, error(code) if code else TABLE))
    client.meta.events.register("before-parse.dynamodb", lambda **_: clock.advance())
    # What the SDK would have retried is no verdict of a wait.
    assert ending(form, client) in {code or ANSWER, *([ABANDONED] if status == 503 else [])}
    assert len(sent) == 1


@pytest.mark.parametrize("form", FORMS)
def test_answer_that_arrived_late_does_not_count(clock, form):
    client = make_client()
    respond(client, (200, TABLE))
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


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("answer", [(200, TABLE), (400, error("TableInUseException"))])
def test_time_of_parsing_is_not_of_the_wait(slow_to_parse, wait, answer):
    client = make_client()
    respond(client, answer)
    client.meta.events.register("before-parse.dynamodb", slow_to_parse)
    outcomes = []
    raised = raised_by(lambda: outcomes.append(wait(client, max_wait=60, max_attempts=1)))
    assert (raised or outcomes[0]).elapsed == pytest.approx(0, abs=0.001)


@pytest.mark.parametrize("wait", WAITS)
def test_time_of_judging_is_not_of_the_wait(clock, virtual_time, wait):
    class SlowToRead(dict):
        def get(self, *name):
            clock.advance()
            virtual_time.advance(1000)
            return super().get(*name)

    def read_slowly(parsed, **_):
        parsed["Table"] = SlowToRead(parsed["Table"])

    client = make_client()
    respond(client, (200, TABLE))
    client.meta.events.register("after-call.dynamodb", read_slowly)
    outcomes = []
    assert raised_by(lambda: outcomes.append(wait(client, max_wait=60))) is None
    assert outcomes[0].elapsed == pytest.approx(0, abs=0.001)


def test_call_tells_that_it_has_its_answer():
    client, seen = make_client(), []
    respond(client, (200, TABLE))
    call = BlockingCall(Calls(send=operation(client), client=client))
    for event in ("before-send", "before-parse"):
        client.meta.events.register(f"{event}.dynamodb", lambda **_: seen.append(call.is_answered))
    call.make(60)
    assert [*seen, call.is_answered] == [False, True, False]


def test_common_answer_that_arrived_in_time_is_judged(clock):
    client = make_client("ecs")
    respond(client, (200, json.dumps(TASKS).encode()))
    client.meta.events.register("before-parse.ecs", lambda **_: clock.advance())
    waits = [bwp.Wait(client, "tasks_running", {"tasks": [each]}, max_wait=60) for each in "12"]
    assert [outcome.coalesced for outcome in bwp.wait_all(waits)] == [True, True]


DENIED, MISSING = "AccessDeniedException", "ClusterNotFoundException"


@pytest.mark.parametrize(
    ("code", "ids", "kind"),
    [
        (DENIED, "12", bwp.WaiterFailedError),
        (DENIED, "11", bwp.WaiterFailedError),
        # Of two, nothing tells which one it is that is not found.
        (MISSING, "12", bwp.WaiterTimeoutError),
        (MISSING, "11", bwp.WaiterFailedError),
    ],
)
@pytest.mark.parametrize("in_task", [False, True])
def test_common_error_that_arrived_in_time_is_judged(slow_to_parse, in_task, code, ids, kind):
    client = make_client("ecs")
    sent = respond(client, (400, error(code)))
    client.meta.events.register("before-parse.ecs", slow_to_parse)
    waits = [bwp.Wait(client, "tasks_running", {"tasks": [each]}, max_wait=60) for each in ids]
    errors = (
        asyncio.run(bwp.wait_all_async(waits, on_failure="collect"))
        if in_task
        else bwp.wait_all(waits, on_failure="collect")
    )
    assert [type(each) for each in errors] == [kind, kind]
    assert [ending_of(each.last_exception) for each in errors] == [code, code]
    assert not [each for each in errors if code not in str(each) or "no answer" in str(each)]
    assert len(sent) == 1


def test_common_error_is_no_success_of_another(slow_to_parse):
    gone = bwp.WaiterDefinition.from_states(
        "Gone", "DescribeTasks", path="tasks[].lastStatus", success=[], success_on_error=[MISSING]
    )
    client = make_client("ecs")
    respond(client, (400, error(MISSING)))
    client.meta.events.register("before-parse.ecs", slow_to_parse)
    waits = [bwp.Wait(client, gone, {"tasks": [each]}, max_wait=60) for each in "12"]
    errors = bwp.wait_all(waits, on_failure="collect")
    assert [type(each) for each in errors] == [bwp.WaiterTimeoutError] * 2


def test_common_answer_without_an_item_is_judged(slow_to_parse):
    client = make_client("ecs")
    sent = respond(client, (200, json.dumps({"tasks": TASKS["tasks"][:1]}).encode()))
    client.meta.events.register("before-parse.ecs", slow_to_parse)
    waits = [bwp.Wait(client, "tasks_running", {"tasks": [each]}, max_wait=60) for each in "12"]
    first, second = bwp.wait_all(waits, on_failure="collect")
    assert first.attempts == second.attempts == len(sent) == 1
    assert isinstance(second, bwp.WaiterTimeoutError)
    assert "no answer" not in str(second)

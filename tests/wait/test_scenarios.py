"""One list of waits through both drivers, and through `poll` and `poll_async`, with one result."""

import asyncio
import json
import threading
from pathlib import Path

import botocore.exceptions
import pytest
from batch.calls import described

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.calls.thread_call import ThreadCall
from boto_waiters_plus.conditions import poll, poll_async
from boto_waiters_plus.conditions.judges import ValueJudge
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.options import WaitOptions, policy_for
from boto_waiters_plus.wait.aio import drive_async
from boto_waiters_plus.wait.sync import drive
from boto_waiters_plus.wait.wait_run import WaitRun

WAITS = json.loads((Path(__file__).parents[1] / "cases" / "scenarios.json").read_text())["waits"]
INPUT = {"names": ["a", "b"]}
# A task checks its signals this often, in seconds.
SLACK = 0.06


class Operation:
    """Answers as the scenario lists it, each call after its own number of seconds."""

    def __init__(self, scenario, clock):
        self.attempts = []
        self._answers = iter(scenario["answers"])
        self._clock = clock

    def __call__(self, **parameters):
        assert parameters == INPUT
        self.attempts.append(self._clock.now)
        answer = next(self._answers, None)
        assert answer is not None, "an attempt that the scenario does not have"
        self._clock.advance(answer.get("takes", 0))
        if "raises" in answer:
            raise type(answer["raises"], (Exception,), {})("no luck")
        if "transport" in answer:
            kind = getattr(botocore.exceptions, answer["transport"])
            raise kind(endpoint_url="https://thing", error="no luck")
        if "client_error" in answer:
            raise botocore.exceptions.ClientError(
                {
                    "Error": {"Code": answer["client_error"], "Message": "no luck"},
                    "ResponseMetadata": {"HTTPStatusCode": 400},
                },
                "GetThing",
            )
        return answer["returns"]


def options_of(scenario, clock):
    """Return the keywords of a wait; JSON has placeholders for callables and events."""
    options = dict(scenario["options"])
    pace = options.get("delay_pace")
    if pace is not None:
        options["delay_pace"] = lambda n: pace.get("every", 0) + n * pace.get("by_attempt", 0)
    if "cancel_at" in options:
        options["cancel_event"] = planned(clock, [options.pop("cancel_at")])
    if "wake_at" in options:
        options["wake_signal"] = planned(clock, options.pop("wake_at"))
    return options


def planned(clock, times):
    event = threading.Event()
    for time in times:
        if time:
            clock.call_at(time, event.set)
        else:
            event.set()
    return event


class OperationCall:
    """A call of an operation, blocking."""

    def __init__(self, operation):
        self._operation = operation

    def make(self, time_left):
        try:
            return Reply(self._operation(**INPUT))
        except Exception as error:
            return Reply(error=error)


class AwaitedOperationCall(OperationCall):
    async def make(self, time_left):
        await asyncio.sleep(0)
        return super().make(time_left)


def prepared(scenario, options):
    """Return a wait that is ready to start, and its events."""
    definition = parse_waiter("Thing", scenario["waiter"], operation="GetThing", source="test")
    max_wait = options.pop("max_wait")
    given = WaitOptions(**options)
    policy = policy_for(definition, given, max_wait)
    wait_run = WaitRun(described(definition), policy, ValueJudge(definition, INPUT), random=min)
    return wait_run, {"cancel": given.cancel_event, "wake": given.wake_signal}


def by_drive(operation, scenario, options):
    wait_run, events = prepared(scenario, options)
    return drive(wait_run, OperationCall(operation), **events)


def by_drive_async(operation, scenario, options):
    wait_run, events = prepared(scenario, options)
    return asyncio.run(drive_async(wait_run, AwaitedOperationCall(operation), **events))


def by_threads(operation, scenario, options):
    wait_run, events = prepared(scenario, options)
    call = ThreadCall(OperationCall(operation), threading.Event())
    return asyncio.run(drive_async(wait_run, call, **events))


def by_poll(operation, scenario, options):
    return poll(operation, scenario["waiter"], input=INPUT, **options)


def by_poll_async(operation, scenario, options):
    async def call(**parameters):
        return operation(**parameters)

    return asyncio.run(poll_async(call, scenario["waiter"], input=INPUT, **options))


RUNS = [by_drive, by_drive_async, by_threads, by_poll, by_poll_async]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("scenario", WAITS, ids=lambda scenario: scenario["name"])
def test_scenario(scenario, run, virtual_time):
    operation, options = Operation(scenario, virtual_time), options_of(scenario, virtual_time)
    if scenario["ends"] in ("response", "exception"):
        end = run(operation, scenario, options)
        assert end.acceptor.index == scenario["acceptor"]
    else:
        with pytest.raises(getattr(bwp, scenario["ends"])) as caught:
            run(operation, scenario, options)
        end = caught.value
        assert (scenario["message"] or "") in str(end)
        acceptor = None if end.acceptor is None else end.acceptor.index
        assert acceptor == scenario["acceptor"]
    check_kind(end, scenario)
    assert operation.attempts == pytest.approx(scenario["attempts"], abs=SLACK)
    assert end.attempts == len(scenario["attempts"])
    assert end.elapsed == pytest.approx(scenario["elapsed"], abs=SLACK)
    assert virtual_time.now == pytest.approx(scenario["elapsed"], abs=SLACK)
    assert end.observed == scenario["observed"]


def check_kind(end, scenario):
    """Check that the wait hands out the last answer."""
    last = scenario["answers"][-1] if scenario["answers"] else {}
    match end:
        case bwp.ResponseOutcome(response=response):
            assert scenario["ends"] == "response"
            assert response == last["returns"]
        case bwp.ExceptionOutcome(exception=exception):
            assert scenario["ends"] == "exception"
            assert type(exception).__name__ == last["raises"]
        case bwp.WaiterError(last_exception=None):
            assert end.last_response == last.get("returns", {})
            assert end.__cause__ is None
        case bwp.WaiterError(last_exception=exception):
            assert end.__cause__ is exception
            response = getattr(exception, "response", None) or {}
            code = response.get("Error", {}).get("Code", type(exception).__name__)
            assert code == next(iter(last.values()))
            of_answers = [each["returns"] for each in scenario["answers"] if "returns" in each]
            if end.transient_errors and of_answers:
                response = of_answers[-1]
            assert end.last_response == response

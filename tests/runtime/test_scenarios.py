"""One list of waits through both drivers, and through `poll` and `poll_async`: the same ends."""

import asyncio
import json
import threading
from pathlib import Path

import botocore.exceptions
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import poll, poll_async
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.options import WaitOptions, policy_for
from boto_waiters_plus.runtime.aio import drive_async
from boto_waiters_plus.runtime.attempt import Attempt
from boto_waiters_plus.runtime.in_thread import Stop, ThreadPort
from boto_waiters_plus.runtime.sync import drive
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun

WAITS = json.loads((Path(__file__).parents[1] / "cases" / "scenarios.json").read_text())["waits"]
INPUT = {"names": ["a", "b"]}
# A task looks at its signals in turns of this many seconds.
SLACK = 0.06


class Operation:
    """Answers by the scenario's list, each call taking the seconds it says."""

    def __init__(self, scenario, clock):
        self.looks = []
        self._answers = iter(scenario["answers"])
        self._clock = clock

    def __call__(self, **parameters):
        assert parameters == INPUT
        self.looks.append(self._clock.now)
        answer = next(self._answers, None)
        assert answer is not None, "a look that the scenario does not have"
        self._clock.advance(answer.get("takes", 0))
        if "raises" in answer:
            raise type(answer["raises"], (Exception,), {})("said so")
        if "client_error" in answer:
            raise botocore.exceptions.ClientError(
                {
                    "Error": {"Code": answer["client_error"], "Message": "said so"},
                    "ResponseMetadata": {"HTTPStatusCode": 400},
                },
                "GetThing",
            )
        return answer["returns"]


def options_of(scenario, clock):
    """The keywords of a wait; what JSON cannot hold is made of what stands for it."""
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


class Port:
    """A port of the drivers, blocking or awaited, on an operation."""

    def __init__(self, operation, definition):
        self.bounds = []
        self._operation = operation
        self._matching = Matching(definition.acceptors)

    def poll(self, time_left):
        self.bounds.append(time_left)
        try:
            response = self._operation(**INPUT)
        except Exception as error:
            return self._raised(error)
        match = self._matching.match_response(response, INPUT)
        return Attempt(
            facts=Facts(acceptor=match.index),
            response=response,
            observed=match.observed,
            service_message=match.message,
            last_response=response or {},
            problems=match.problems,
        )

    def _raised(self, error):
        response = getattr(error, "response", {})
        code = response.get("Error", {}).get("Code", type(error).__name__)
        throttled = code == "Throttling"
        facts = Facts(
            acceptor=self._matching.match_error({code}).index,
            throttled=throttled,
            retryable=throttled,
            missing="NotFound" in code or code.startswith("NoSuch"),
        )
        text = f"{code}, HTTP 400" if response else code
        return Attempt(facts=facts, exception=error, error=text, last_response=response)


class AsyncPort(Port):
    async def poll(self, time_left):
        await asyncio.sleep(0)
        return super().poll(time_left)


def course_and_port(operation, scenario, options, port):
    definition = parse_waiter("Thing", scenario["waiter"], operation="GetThing", source="test")
    max_wait = options.pop("max_wait")
    given = WaitOptions(**options)
    policy = policy_for(definition, given, max_wait)
    wait_run = WaitRun(WaitDescription.of(definition), policy, random=min)
    signals = {"cancel": given.cancel_event, "wake": given.wake_signal}
    return wait_run, port(operation, definition), signals


def by_drive(operation, scenario, options):
    wait_run, port, signals = course_and_port(operation, scenario, options, Port)
    return drive(wait_run, port, **signals)


def by_drive_async(operation, scenario, options):
    wait_run, port, signals = course_and_port(operation, scenario, options, AsyncPort)
    return asyncio.run(drive_async(wait_run, port, **signals))


def by_threads(operation, scenario, options):
    wait_run, port, signals = course_and_port(operation, scenario, options, Port)
    threaded = ThreadPort(port, Stop(signals["cancel"]))
    return asyncio.run(drive_async(wait_run, threaded, **signals))


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
        assert (scenario["says"] or "") in str(end)
        acceptor = None if end.acceptor is None else end.acceptor.index
        assert acceptor == scenario["acceptor"]
    check_kind(end, scenario)
    assert operation.looks == pytest.approx(scenario["looks"], abs=SLACK)
    assert end.attempts == len(scenario["looks"])
    assert end.elapsed == pytest.approx(scenario["elapsed"], abs=SLACK)
    assert virtual_time.now == pytest.approx(scenario["elapsed"], abs=SLACK)
    assert end.observed == scenario["observed"]


def check_kind(end, scenario):
    """What the last answer was is what the wait hands out."""
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
            code = end.last_response.get("Error", {}).get("Code", type(exception).__name__)
            assert code == last.get("client_error", last.get("raises"))

"""One list of waits through every form, blocking, awaited and in a batch, with one result."""

import asyncio
import contextlib
import json
import math
import threading
from pathlib import Path
from types import SimpleNamespace

import boto3
import botocore.exceptions
import pytest
from aio.clients import required

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import poll, poll_async

WAITS = json.loads((Path(__file__).parents[1] / "cases" / "scenarios.json").read_text())["waits"]
INPUT = {"names": ["a", "b"]}
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
# A task checks its signals this often, in seconds.
SLACK = 0.06


class Operation:
    """Answers as the scenario lists it, each call after its own number of seconds."""

    def __init__(self, scenario, clock):
        self.attempts = []
        self._answers = iter(scenario["answers"])
        self._clock = clock

    def __call__(self, **parameters):
        """Return an answer or raise an error, as any callable."""
        assert parameters == INPUT
        match self._next():
            case {"returns": response}:
                return response
            case {"raises": name}:
                raise type(name, (Exception,), {})("no luck")
            case {"client_error": code}:
                raise botocore.exceptions.ClientError(error_response(code), "GetThing")

    def before_call(self, **_):
        """Return an answer of a client, as a handler of the event `before-call`."""
        match self._next():
            case {"returns": response}:
                response = {**(response or {}), "ResponseMetadata": {"HTTPStatusCode": 200}}
            case {"raises": code} | {"client_error": code}:
                response = error_response(code)
        status = response["ResponseMetadata"]["HTTPStatusCode"]
        return SimpleNamespace(status_code=status), response

    def _next(self):
        self.attempts.append(self._clock.now)
        answer = next(self._answers, None)
        assert answer is not None, "an attempt that the scenario does not have"
        self._clock.advance(answer.get("takes", 0))
        if "transport" in answer:
            kind = getattr(botocore.exceptions, answer["transport"])
            raise kind(endpoint_url="https://thing", error="no luck")
        return answer


def error_response(code):
    error = {"Code": code, "Message": "no luck"}
    return {"Error": error, "ResponseMetadata": {"HTTPStatusCode": 400}}


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


def definition_of(scenario):
    traits = {"smithy.waiters#waitable": {"Thing": scenario["waiter"]}}
    shape = {"com.amazonaws.codebuild#BatchGetProjects": {"type": "apply", "traits": traits}}
    (definition,) = bwp.load_definitions({"smithy": "2.0", "shapes": shape})
    return definition


def blocking_client(operation):
    client = boto3.client("codebuild")
    client.meta.events.register("before-call", operation.before_call)
    return client


@contextlib.asynccontextmanager
async def awaited_client(operation):
    session = required("aiobotocore.session").get_session()
    async with session.create_client("codebuild", "us-east-1", **KEYS) as client:
        client.meta.events.register("before-call", operation.before_call)
        yield client


# --- forms --------------------------------------------------------------------------------------


def by_poll(operation, scenario, options):
    return poll(operation, scenario["waiter"], input=INPUT, **options)


def by_poll_async(operation, scenario, options):
    async def call(**parameters):
        return operation(**parameters)

    return asyncio.run(poll_async(call, scenario["waiter"], input=INPUT, **options))


def alone(client, definition, options):
    return bwp.wait_until(client, definition, **INPUT, **options)


async def alone_async(client, definition, options):
    return await bwp.wait_until_async(client, definition, **INPUT, **options)


def by_waiter_object(client, definition, options):
    bwp.enable(client, definitions=definition)
    return client.get_waiter("thing").wait(**INPUT, **options)


def batch(client, definition, options):
    wait = bwp.Wait(client, definition, INPUT, **options)
    return bwp.wait_all([wait], on_failure="collect")[0]


async def batch_async(client, definition, options):
    wait = bwp.Wait(client, definition, INPUT, **options)
    return (await bwp.wait_all_async([wait], on_failure="collect"))[0]


def on_boto3(wait):
    def form(operation, scenario, options):
        end = wait(blocking_client(operation), definition_of(scenario), options)
        return asyncio.run(end) if asyncio.iscoroutine(end) else end

    return form


def on_aiobotocore(wait):
    def form(operation, scenario, options):
        async def main():
            async with awaited_client(operation) as client:
                return await wait(client, definition_of(scenario), options)

        return asyncio.run(main())

    return form


FORMS = {
    "poll": by_poll,
    "poll_async": by_poll_async,
    "wait_until": on_boto3(alone),
    "get_waiter": on_boto3(by_waiter_object),
    "wait_until_async": on_boto3(alone_async),
    "wait_until_async on aiobotocore": on_aiobotocore(alone_async),
    "wait_all": on_boto3(batch),
    "wait_all_async": on_boto3(batch_async),
    "wait_all_async on aiobotocore": on_aiobotocore(batch_async),
}
ENDS = {"response": bwp.ResponseOutcome, "exception": bwp.ExceptionOutcome}


IN_THREADS = {"wait_until_async", "wait_all", "wait_all_async"}


def answers_in_time(scenario):
    options = scenario["options"]
    end = min(options["max_wait"], options.get("cancel_at", math.inf))
    return all(answer.get("takes", 0) <= end for answer in scenario["answers"])


@pytest.mark.parametrize(
    ("scenario", "form"),
    [
        pytest.param(scenario, form, id=f"{scenario['name']}, {form}")
        for scenario in WAITS
        for form in FORMS
        # A thread's answer may come before the end of the wait is seen, or after it.
        if form not in IN_THREADS or answers_in_time(scenario)
    ],
)
def test_scenario(scenario, form, virtual_time):
    operation, options = Operation(scenario, virtual_time), options_of(scenario, virtual_time)
    try:
        end = FORMS[form](operation, scenario, options)
    except botocore.exceptions.BotoCoreError as error:
        end = error
    if form == "get_waiter" and type(end).__name__ == last_of(scenario["answers"]).get("transport"):
        # As botocore's own waiter, it lets an error that is no answer pass.
        return
    assert type(end) is (ENDS.get(scenario["ends"]) or getattr(bwp, scenario["ends"]))
    # An error of a waiter object is in botocore's words.
    assert form == "get_waiter" or (scenario["message"] or "") in str(end)
    assert (end.acceptor and end.acceptor.index) == scenario["acceptor"]
    check_last_answer(end, scenario["answers"])
    assert operation.attempts == pytest.approx(scenario["attempts"], abs=SLACK)
    assert end.attempts == len(scenario["attempts"])
    assert end.elapsed == pytest.approx(scenario["elapsed"], abs=SLACK)
    assert virtual_time.now == pytest.approx(scenario["elapsed"], abs=SLACK)
    assert end.observed == scenario["observed"]


def last_of(answers):
    return answers[-1] if answers else {}


def check_last_answer(end, answers):
    """Check that the wait hands out the last answer."""
    last = last_of(answers)
    match end:
        case bwp.ResponseOutcome(response=response):
            assert without_metadata(response) == last["returns"]
        case bwp.ExceptionOutcome(exception=exception):
            assert name_of(exception) == last["raises"]
        case bwp.WaiterError(last_exception=None):
            assert without_metadata(end.last_response) == last.get("returns", {})
            assert end.__cause__ is None
        case bwp.WaiterError(last_exception=exception):
            assert end.__cause__ is exception
            assert name_of(exception) == next(iter(last.values()))
            responses = [each["returns"] for each in answers if "returns" in each]
            response = getattr(exception, "response", {})
            if end.transient_errors and responses:
                response = responses[-1]
            assert without_metadata(end.last_response) == without_metadata(response)


def without_metadata(response):
    if isinstance(response, dict):
        return {name: value for name, value in response.items() if name != "ResponseMetadata"}
    return response


def name_of(exception):
    """Return the code of a service's error, or the name of its class."""
    if isinstance(exception, botocore.exceptions.ClientError):
        return exception.response["Error"]["Code"]
    return type(exception).__name__

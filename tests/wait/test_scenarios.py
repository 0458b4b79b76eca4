"""One list of waits through every form, blocking, awaited and in a batch, with one result.

So for conditions, and for the waits after a call of `call_once` and `begin`.
"""

import asyncio
import contextlib
import json
import logging
import math
import threading
import time
import traceback
from functools import partial
from pathlib import Path

import boto3
import botocore.exceptions
import pytest
from aio.clients import KEYS, required
from batch.calls import parsed
from wait import forms

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions, operations
from boto_waiters_plus.conditions import ConditionWait, failure, poll, poll_async, success
from boto_waiters_plus.signals import Signal

CASES = json.loads((Path(__file__).parents[1] / "cases" / "scenarios.json").read_text())
WAITS = [{**each, "waiter": CASES["waiters"][each["waiter"]]} for each in CASES["waits"]]
INPUT = forms.SUBJECTS["codebuild"].parameters
# A task checks its signals this often, in seconds.
SLACK = 0.06


class Operation:
    """Answers as the scenario lists it, each call after its own number of seconds."""

    def __init__(self, scenario, clock):
        self.attempts = []
        self.is_begun = False
        self.cancelled_at = scenario.get("task_cancelled_at")
        self.call_takes = 0
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

    def before_call(self, model, **_):
        """Return an answer of a client, as a handler of the event `before-call`."""
        if model.name == "DeleteProject":
            self.is_begun = True
            self._clock.advance(self.call_takes)
            return parsed({})
        match self._next():
            case {"returns": response}:
                return parsed(response or {})
            case {"raises": code} | {"client_error": code}:
                return parsed(error_response(code))

    def _next(self):
        self.attempts.append(self._clock.now)
        answer = next(self._answers, None)
        assert answer is not None, "an attempt that the scenario does not have"
        self._clock.advance(answer.get("takes", 0))
        if "interrupts" in answer:
            raise KeyboardInterrupt
        if "transport" in answer:
            kind = getattr(botocore.exceptions, answer["transport"])
            raise kind(endpoint_url="https://thing", error="no luck")
        return answer


def error_response(code):
    metadata = {"HTTPStatusCode": 400}
    return {"Error": {"Code": code, "Message": "no luck"}, "ResponseMetadata": metadata}


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
    if "interrupted_at" in scenario:
        clock.call_at(scenario["interrupted_at"], interrupt)
    return options


def interrupt():
    raise KeyboardInterrupt


def planned(clock, times):
    event = threading.Event()
    for seconds in times:
        if seconds:
            clock.call_at(seconds, event.set)
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


def in_loop(operation, wait):
    """The end of what is awaited in a loop of its own, in a task that may be cancelled."""

    async def main():
        task = asyncio.ensure_future(wait)
        if operation.cancelled_at is not None:
            await asyncio.sleep(operation.cancelled_at)
            task.cancel()
        (end,) = await asyncio.gather(task, return_exceptions=True)
        # What `begin` has in the loop ends with the loop.
        assert operation.is_begun or asyncio.all_tasks() == {asyncio.current_task()}
        return end

    return forms.ended(asyncio.run(main()))


def by_poll(operation, scenario, options):
    return poll(operation, scenario["waiter"], input=INPUT, **options)


def awaited(operation):
    async def call(**parameters):
        return operation(**parameters)

    return call


def by_poll_async(operation, scenario, options):
    wait = poll_async(awaited(operation), scenario["waiter"], input=INPUT, **options)
    return in_loop(operation, wait)


def answered(wait):
    """The same, with the transient errors of a wait; an effect's own default is another."""
    return lambda client, definition, options: wait(
        client, definition, {"retry_transient": "answered", **options}
    )


def in_store(store, options):
    return {"in_store": store, "include_response": True, "retry_transient": "answered", **options}


def begun_in_store(client, definition, options):
    with opened_store() as store:
        call, arguments = forms.changing(client, definition, in_store(store, options))
        operation = bwp.begin(call, **arguments)
        store.work(until_idle=True, make_client=lambda _: client)
        return operation.result(60)


async def begun_in_store_async(client, definition, options):
    with opened_store() as store:
        call, arguments = forms.changing(client, definition, in_store(store, options))
        operation = await bwp.begin_async(call, **arguments)
        store.work(until_idle=True, make_client=lambda _: client)
        return await operation


def opened_store():
    return contextlib.closing(operations.Store(":memory:", clock=time.monotonic))


def with_defaults(wait):
    """The options of a wait that follows `call_once` are those of its client."""

    def form(client, definition, options):
        given = {"retry_transient": "answered", **options}
        own = {name: given.pop(name) for name in ("max_wait", "cancel_event") if name in given}
        bwp.enable(client, defaults=given)
        return wait(client, definition, {"allow_repeat": True, **own})

    return form


def on_boto3(wait):
    def form(operation, scenario, options):
        end = wait(blocking_client(operation), definition_of(scenario), options)
        return in_loop(operation, end) if asyncio.iscoroutine(end) else end

    return form


def on_aiobotocore(wait):
    def form(operation, scenario, options):
        async def main():
            async with awaited_client(operation) as client:
                return await wait(client, definition_of(scenario), options)

        return in_loop(operation, main())

    return form


def condition_of(scenario, options):
    """The cases and the options of a condition that stands for a waiter."""
    waiter = scenario["waiter"]
    delays = {"min_delay": waiter["minDelay"], "max_delay": waiter["maxDelay"]}
    is_retried = {"retry_on": lambda error: type(error).__name__ == "NotYet"}
    cases = [success({"state": "up"}), failure({"state": "broken"})]
    return cases, {**delays, **is_retried, **options}


def by_case(operation, scenario, options):
    cases, options = condition_of(scenario, options)
    return conditions.wait_for_case(lambda: operation(**INPUT), cases, **options)


def by_case_async(operation, scenario, options):
    cases, options = condition_of(scenario, options)
    call = awaited(operation)
    wait = conditions.wait_for_case_async(lambda: call(**INPUT), cases, **options)
    return in_loop(operation, wait)


def by_case_in_batch(operation, scenario, options):
    cases, options = condition_of(scenario, options)
    wait = ConditionWait(lambda: operation(**INPUT), cases, **options)
    return forms.ended(*bwp.wait_all([wait], on_failure="collect"))


def by_case_in_batch_async(operation, scenario, options):
    cases, options = condition_of(scenario, options)

    async def main():
        wait = ConditionWait(partial(awaited(operation), **INPUT), cases, **options)
        return (await bwp.wait_all_async([wait], on_failure="collect"))[0]

    return in_loop(operation, main())


ON_CLIENTS = {
    "wait_until": on_boto3(forms.alone),
    "get_waiter": on_boto3(forms.by_waiter_object),
    "wait_until_async": on_boto3(forms.alone_async),
    "wait_until_async on aiobotocore": on_aiobotocore(forms.alone_async),
    "get_waiter on aiobotocore": on_aiobotocore(forms.by_waiter_object_async),
    "wait_all": on_boto3(forms.batch),
    "wait_all_async": on_boto3(forms.batch_async),
    "wait_all_async on aiobotocore": on_aiobotocore(forms.batch_async),
}
AFTER_CALLS = {
    "begin": on_boto3(answered(forms.begun)),
    "begin_async": on_boto3(answered(forms.begun_async)),
    "begin in a store": on_boto3(begun_in_store),
    "begin_async in a store": on_boto3(begun_in_store_async),
    "begin_async on aiobotocore": on_aiobotocore(answered(forms.begun_async)),
    "call_once": on_boto3(with_defaults(forms.called_once)),
    "call_once_async": on_boto3(with_defaults(forms.called_once_async)),
    "call_once_async on aiobotocore": on_aiobotocore(with_defaults(forms.called_once_async)),
}
CONDITIONS = {
    "wait_for_case": by_case,
    "wait_for_case_async": by_case_async,
    "ConditionWait in wait_all": by_case_in_batch,
    "ConditionWait in wait_all_async": by_case_in_batch_async,
}
POLLS = {"poll": by_poll, "poll_async": by_poll_async}
FORMS = {**POLLS, **ON_CLIENTS, **AFTER_CALLS, **CONDITIONS}
STORED = {"begin in a store", "begin_async in a store"}
STOCK = {"get_waiter", "get_waiter on aiobotocore"}
IN_THREADS = {
    *("wait_until_async", "wait_all", "wait_all_async", "begin", "begin_async"),
    *("call_once_async", "ConditionWait in wait_all"),
    *STORED,
}
RETURN_VALUES = {"wait_for_case", "wait_for_case_async"}
UNREACHED = ("EndpointConnectionError", "ConnectTimeoutError")
BLOCKING = {"poll", "wait_until", "get_waiter", "call_once", "wait_for_case"}
AWAITED = {form for form in FORMS if "async" in form or "aiobotocore" in form}
ENDS = {
    "response": bwp.ResponseOutcome,
    "exception": bwp.ExceptionOutcome,
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
}
TOLD = {
    **dict.fromkeys(("response", "exception"), "success"),
    **dict.fromkeys(("WaiterCancelledError", "CancelledError"), "cancel"),
    **dict.fromkeys(("WaiterTimeoutError", "WaiterAttemptsError"), "timeout"),
    "WaiterFailedError": "failure",
    "KeyboardInterrupt": "exception",
}


# --- which scenarios a form has -----------------------------------------------------------------


def answers_in_time(scenario):
    options = scenario["options"]
    end = min(options["max_wait"], options.get("cancel_at", math.inf))
    return all(answer.get("takes", 0) <= end for answer in scenario["answers"])


def is_of_condition(scenario):
    """Whether a condition can stand for the waiter: no error is a success or a failure of it."""
    paths = str(scenario["waiter"]["acceptors"])
    is_on_error = scenario["acceptor"] is not None and scenario["acceptor"] > 1
    has_options = scenario["options"].keys().isdisjoint(("missing_ok_for", "show_parameters"))
    # No time at all is one attempt of a condition.
    has_time = scenario["options"]["max_wait"] != 0
    return "'up'" in paths and not is_on_error and has_options and has_time


def last_of(answers):
    return answers[-1] if answers else {}


def is_of_store(scenario):
    """Whether all of its options can be stored, and a worker ends it."""
    is_kept = scenario["options"].keys().isdisjoint(("cancel_at", "wake_at", "delay_pace"))
    # Another worker may reach the service.
    is_unreached = last_of(scenario["answers"]).get("transport") in UNREACHED
    return is_kept and not is_unreached and "task_cancelled_at" not in scenario


def has(form, scenario):
    if form in IN_THREADS and not answers_in_time(scenario):
        # A thread's answer may come before the end of the wait is seen, or after it.
        return False
    if form in AFTER_CALLS and not scenario["attempts"] and "initial_delay" not in str(scenario):
        # The call itself ends it.
        return False
    if form in STORED and not is_of_store(scenario):
        return False
    # What `begin` started on a blocking client goes on without the task that awaits it.
    if "task_cancelled_at" in scenario and form not in AWAITED - {"begin_async"}:
        return False
    if scenario["ends"] == "KeyboardInterrupt" and form not in BLOCKING:
        return False
    return form not in CONDITIONS or is_of_condition(scenario)


class Events:
    """The events of a wait; those of batches and of `begin` may come after its end."""

    def __init__(self):
        self.of_wait, self._over = [], threading.Event()

    def __call__(self, event):
        if event.operation != "DeleteProject":
            self.of_wait.append(event)
            if event.kind not in ("start", "attempt"):
                self._over.set()

    def check(self, attempts, end):
        assert self._over.wait(60)
        kinds = [event.kind for event in self.of_wait]
        assert kinds == ["start", *["attempt"] * attempts, end]


@pytest.mark.parametrize(("scenario", "form"), [
    pytest.param(scenario, form, id=f"{scenario['name']}, {form}")
    for scenario in WAITS
    for form in FORMS
    if has(form, scenario)
])  # fmt: skip
def test_scenario(scenario, form, virtual_time, caplog):
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    operation, options = Operation(scenario, virtual_time), options_of(scenario, virtual_time)
    events = Events()
    bwp.install(on_event=events)
    try:
        end = FORMS[form](operation, scenario, options)
    except (Exception, KeyboardInterrupt, asyncio.CancelledError) as error:
        end = error
    last, attempts = last_of(scenario["answers"]), scenario["attempts"]
    assert operation.attempts == pytest.approx(attempts, abs=SLACK)
    assert virtual_time.now == pytest.approx(scenario["elapsed"], abs=SLACK)
    if form in STOCK | CONDITIONS.keys() and name_of(end) in map(str, last.values()):
        # As botocore's own waiter, it lets an error that is no answer pass.
        events.check(len(attempts) - ("transport" not in last), "exception")
        return
    # A call that is interrupted has no reply to tell of.
    events.check(len(attempts) - ("interrupts" in last), TOLD[scenario["ends"]])
    (label,) = {event.label for event in events.of_wait}
    assert f"for {label}".lower() in caplog.text.lower()
    if form not in CONDITIONS:
        is_shown = form in ON_CLIENTS | AFTER_CALLS and "show_parameters" not in str(scenario)
        assert ("names=" in f"{label}{caplog.text}{end}") == is_shown
    if form in RETURN_VALUES and scenario["ends"] == "response":
        assert end is last["returns"]
        return
    assert type(end) is (ENDS.get(scenario["ends"]) or getattr(bwp, scenario["ends"]))
    if not isinstance(end, Exception | bwp.WaiterOutcome):
        return
    assert end.label == label
    assert (end.acceptor and end.acceptor.index) == scenario["acceptor"]
    assert end.attempts == len(attempts)
    assert end.elapsed == pytest.approx(scenario["elapsed"], abs=SLACK)
    if form in CONDITIONS:
        return
    # An error of a waiter object is in botocore's words.
    assert form in STOCK or scenario.get("message", "") in str(end)
    if form not in STORED:
        check_last_answer(end, scenario["answers"])
        assert [each.attempt for each in end.timeline] == [*range(1, 1 + end.attempts)]
    assert end.observed == scenario["observed"]
    last = events.of_wait[-1]
    assert last.attempt == end.attempts
    if isinstance(end, bwp.WaiterError):
        facts = (type(end).__name__, str(end), end.observed)
        assert (last.error, last.message, last.state) == facts


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


# --- the caller's errors ------------------------------------------------------------------------


class Stumbling(Operation):
    """Raises an error in the caller's code at each call."""

    kind = ZeroDivisionError

    def _next(self):
        raise self.kind


SOME_WAIT = {**WAITS[0], "answers": []}


def frames_of(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


# The error itself is not stored.
@pytest.mark.parametrize("form", [form for form in FORMS if form not in STORED])
def test_error_of_the_callers_code_has_its_frames(form, virtual_time):
    operation = Stumbling(SOME_WAIT, virtual_time)
    with pytest.raises((ZeroDivisionError, bwp.WaiterFailedError)) as caught:
        FORMS[form](operation, SOME_WAIT, {"max_wait": 300})
    error = caught.value
    if form in ("poll", "poll_async"):
        # Any error of a callable is an answer.
        assert type(error) is bwp.WaiterFailedError
        assert error.__context__ is None
        error = error.__cause__
    else:
        assert frames_of(error)[0] == "test_error_of_the_callers_code_has_its_frames"
    assert type(error) is ZeroDivisionError
    assert frames_of(error)[-1] == "_next"
    assert (error.__context__, error.__cause__) == (None, None)


@pytest.mark.parametrize("form", FORMS)
def test_failed_wait_has_the_frames_of_its_caller(form, virtual_time):
    (scenario,) = (each for each in WAITS if each["name"].startswith("a failure state"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        FORMS[form](Operation(scenario, virtual_time), scenario, {"max_wait": 300})
    assert frames_of(caught.value)[0] == "test_failed_wait_has_the_frames_of_its_caller"
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


# The coroutines of batches close a generator of their own, and those of calls are in their call.
CLOSED = {form for form in AWAITED - AFTER_CALLS.keys() if "wait_all" not in form}


class Exhausted(Stumbling):
    """Raises what ends a generator."""

    kind = StopIteration


@pytest.mark.parametrize("form", ["wait_until", "get_waiter", "wait_all", "wait_for_case"])
def test_stop_iteration_of_the_callers_code_passes(form, virtual_time):
    with pytest.raises(StopIteration):
        FORMS[form](Exhausted(SOME_WAIT, virtual_time), SOME_WAIT, {"max_wait": 300})
    operation = Operation({**SOME_WAIT, "answers": [{"returns": {}}]}, virtual_time)
    with pytest.raises(StopIteration):
        FORMS[form](operation, SOME_WAIT, {"max_wait": 300, "delay_pace": lambda _: next(iter(()))})


@pytest.mark.parametrize("make_signal", [None, Signal], ids=["", "signal"])
@pytest.mark.parametrize("form", sorted(CLOSED))
def test_wait_whose_coroutine_is_closed_is_cancelled(form, make_signal, virtual_time, monkeypatch):
    operation, events = Operation(SOME_WAIT, virtual_time), Events()
    bwp.install(on_event=events)

    def closed_in_its_pause(_, wait):
        async def main():
            wait.send(None)
            wait.close()

        asyncio.run(main())

    monkeypatch.setitem(globals(), "in_loop", closed_in_its_pause)
    options = {"max_wait": 300, "initial_delay": 30}
    if make_signal:
        options["wake_signal"] = make_signal()
    FORMS[form](operation, SOME_WAIT, options)
    events.check(0, "cancel")


@pytest.mark.parametrize("form", AFTER_CALLS)
def test_time_of_the_call_counts_towards_the_wait(form, virtual_time):
    scenario = {**SOME_WAIT, "answers": [{"returns": {"state": "starting"}}] * 9}
    operation = Operation(scenario, virtual_time)
    operation.call_takes = 4
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        FORMS[form](operation, scenario, {"max_wait": 15, "min_delay": 5, "max_delay": 5})
    assert operation.attempts == pytest.approx([4, 9, 14.75], abs=SLACK)
    assert caught.value.elapsed == pytest.approx(10.75, abs=SLACK)
    assert str(caught.value).startswith("Waiter Thing timed out after 15 s")

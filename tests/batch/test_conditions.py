"""Waits on callables beside waits on clients."""

import asyncio
import threading
import time
from datetime import timedelta

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.conditions import ConditionWait, Signal, failure, retry, success


@pytest.fixture
def from_second(virtual_time):
    """`from_second(3)`: a callable whose value is true from that second on."""

    def of(moment, value="ready", before=None):
        def state():
            state.times.append(virtual_time.now)
            result = value if virtual_time.now >= moment else before
            if isinstance(result, Exception):
                raise result
            return result

        state.times = []
        return state

    return of


def as_coroutine(call):
    async def state():
        return call()

    return state


def all_of(waits, **options):
    return bwp.wait_all(waits, **options)


def all_of_async(waits, **options):
    return asyncio.run(bwp.wait_all_async(waits, **options))


def completed(waits, **options):
    found = dict(bwp.as_completed(waits, **options))
    return [found[wait] for wait in waits]


def completed_async(waits, **options):
    async def main():
        return {wait: result async for wait, result in bwp.as_completed_async(waits, **options)}

    found = asyncio.run(main())
    return [found[wait] for wait in waits]


def any_of(waits, **options):
    return bwp.wait_any(waits, **options)


def any_of_async(waits, **options):
    return asyncio.run(bwp.wait_any_async(waits, **options))


every = pytest.mark.parametrize("run", [all_of, all_of_async, completed, completed_async])
first = pytest.mark.parametrize("run", [any_of, any_of_async])
blocking_or_task = pytest.mark.parametrize("run", [all_of, all_of_async])


@every
def test_conditions_and_waits_run_together(run, exists, s3, from_second, virtual_time):
    virtual_time.call_at(40, lambda: s3.create_bucket(Bucket="later"))
    state = from_second(7)
    waits = [exists(s3, "later"), ConditionWait(state, interval=1), exists(s3, "first")]
    bucket, ready, _ = run(waits, max_wait=100)
    assert bucket.waiter == "BucketExists"
    assert isinstance(ready, bwp.ResponseOutcome)
    assert (ready.response, ready.observed, ready.attempts) == ("ready", "ready", 8)
    assert (ready.waiter, ready.label) == ("condition", "state")
    assert state.times == list(range(8))


@first
def test_the_first_is_a_condition_or_a_wait(run, exists, s3, from_second, virtual_time):
    condition = ConditionWait(from_second(9), "ready", label="the deployment", interval=3)
    which, outcome = run([exists(s3, "never"), condition], max_wait=100)
    assert which is condition
    assert outcome.label == "the deployment"
    never = from_second(1e9)
    wait = exists(s3, "first")
    assert run([ConditionWait(never), wait], max_wait=100)[0] is wait
    calls = len(never.times)
    virtual_time.advance(50)
    assert len(never.times) == calls


@blocking_or_task
def test_bounds_are_those_of_the_run_or_of_the_wait(run, from_second):
    waits = [
        ConditionWait(from_second(99, before="no"), "ready", max_wait=timedelta(seconds=2)),
        ConditionWait(from_second(99, before="no"), "ready", max_attempts=4, interval=1),
        ConditionWait(from_second(99, before="no"), "ready", max_wait=50),
        ConditionWait(from_second(99), max_wait=0),
        ConditionWait(from_second(99), max_wait=-1),
    ]
    with pytest.raises(bwp.WaitersError) as raised:
        run(waits, max_wait=10)
    errors = raised.value.errors.values()
    assert [type(error) for error in errors] == [
        bwp.WaiterTimeoutError,
        bwp.WaiterAttemptsError,
        bwp.WaiterTimeoutError,
        bwp.WaiterTimeoutError,
        bwp.WaiterTimeoutError,
    ]
    assert [error.elapsed for error in errors] == pytest.approx([2, 3, 10, 0, 0], abs=0.2)
    assert [error.attempts for error in errors][3:] == [1, 0]
    assert [error.last_value for error in errors][:3] == ["no", "no", "no"]
    assert "[0] Waiter condition timed out after 2 s for " in str(raised.value)
    assert "waited for 'ready'; last state seen: 'no'" in str(raised.value)


@blocking_or_task
def test_a_deadline_bounds_conditions(run, from_second, virtual_time):
    with bwp.deadline(5), pytest.raises(bwp.WaitersError):
        run([ConditionWait(from_second(99))])
    assert virtual_time.now == pytest.approx(5, abs=0.2)


@blocking_or_task
def test_cases_decide(run, from_second):
    handled = []
    cases = [success("ready"), retry("pending", handled.append), failure("broken")]
    waits = [
        ConditionWait(from_second(2, before="pending"), cases, interval=1),
        ConditionWait(from_second(2, "broken", "other"), cases, interval=1),
        ConditionWait(from_second(0), success("ready")),
    ]
    ready, broken, single = run(waits, max_wait=9, on_failure="collect")
    assert ready.response == single.response == "ready"
    assert handled == ["pending", "pending"]
    assert isinstance(broken, bwp.WaiterFailedError)
    assert broken.last_value == "broken"


@blocking_or_task
def test_errors_of_a_callable_are_those_of_its_wait(run, from_second):
    waits = [
        ConditionWait(from_second(9, before=KeyError("x"))),
        ConditionWait(from_second(3, before=KeyError("x")), retry_on=KeyError, interval=1),
        ConditionWait(from_second(9, before=KeyError("x")), retry_on=KeyError, max_wait=2),
    ]
    raised, retried, timed_out = run(waits, max_wait=20, on_failure="collect")
    assert isinstance(raised, KeyError)
    assert retried.attempts == 4
    assert isinstance(timed_out, bwp.WaiterTimeoutError)
    assert isinstance(timed_out.__cause__, KeyError)


@blocking_or_task
def test_options_of_conditions(run, from_second, virtual_time):
    events, signal, cancelled = [], Signal(), threading.Event()
    virtual_time.call_at(4, signal.notify)
    virtual_time.call_at(3, cancelled.set)
    waits = [
        ConditionWait(from_second(2), success_count=3, interval=1, on_attempt=events.append),
        ConditionWait(woken := from_second(1), signal=signal, polling=False, initial_delay=0),
        ConditionWait(from_second(99), cancel_event=cancelled),
        ConditionWait(paced := from_second(99), max_attempts=3, delay_pace=lambda n: n),
    ]
    steady, by_signal, cancel, attempts = run(waits, max_wait=60, on_failure="collect")
    assert steady.attempts == 5
    assert [event.attempt for event in events] == [1, 2, 3, 4, 5]
    assert {event.waiter for event in events} == {"condition"}
    assert by_signal.attempts == 2
    assert woken.times == pytest.approx([0, 4], abs=0.11)
    assert isinstance(cancel, bwp.WaiterCancelledError)
    assert isinstance(attempts, bwp.WaiterAttemptsError)
    assert paced.times == [0, 1, 3]


@every
def test_events_and_progress_tell_of_conditions(run, exists, s3, from_second):
    events, news = [], []
    bwp.install(on_event=events.append)
    waits = [ConditionWait(from_second(1), label="the job", interval=1), exists(s3, "first")]
    run(waits, max_wait=9, progress=news.append)
    told = [event.kind for event in events if event.label == "the job"]
    assert told == ["start", "attempt", "attempt", "success"]
    assert ("condition", "the job") in {(each.waiter, each.label) for each in news}
    assert max(each.ended for each in news) == 2


@blocking_or_task
def test_a_condition_can_run_again(run, from_second):
    wait = ConditionWait(from_second(1), interval=1)
    assert run([wait], max_wait=9)[0].attempts == 2
    assert run([wait], max_wait=9)[0].attempts == 1


# --- where a callable runs --------------------------------------------------------------------


def test_a_callable_runs_in_a_thread_of_the_run():
    names = bwp.wait_all([ConditionWait(lambda: threading.current_thread().name)], max_wait=9)
    assert names[0].response.startswith("boto_waiters_plus call")
    names = all_of_async([ConditionWait(lambda: threading.current_thread().name)], max_wait=9)
    assert names[0].response.startswith("boto_waiters_plus call")


def test_a_coroutine_function_runs_in_the_loop(exists, s3):
    async def main():
        async def state():
            return asyncio.get_running_loop() is loop

        loop = asyncio.get_running_loop()
        waits = [ConditionWait(state), exists(s3, "first"), ConditionWait(lambda: "plain")]
        return await bwp.wait_all_async(waits, max_wait=9)

    assert [outcome.response for outcome in asyncio.run(main())][::2] == [True, "plain"]


def test_a_callable_that_hangs_holds_up_nothing():
    released = threading.Event()
    start = time.monotonic()
    waits = [
        ConditionWait(lambda: released.wait(30), max_wait=0.3),
        ConditionWait(lambda: "ready", success_count=3, interval=0.05),
    ]
    try:
        hung, ready = bwp.wait_all(waits, max_wait=20, on_failure="collect")
    finally:
        released.set()
    assert time.monotonic() - start < 10
    assert isinstance(hung, bwp.WaiterTimeoutError)
    assert "the first call got no answer" in str(hung)
    assert ready.attempts == 3


def test_a_coroutine_that_hangs_is_cancelled():
    ended = []

    async def hang():
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")

    (error,) = all_of_async([ConditionWait(hang)], max_wait=0.2, on_failure="collect")
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert ended == ["ended"]


@pytest.mark.parametrize("name", ["wait_all", "wait_any", "as_completed"])
def test_a_coroutine_function_needs_the_loop(name):
    wait = ConditionWait(as_coroutine(lambda: 1))
    with pytest.raises(TypeError, match=rf"waits\[0\] is on a coroutine function: use {name}_asy"):
        list(getattr(bwp, name)([wait], max_wait=1))


@blocking_or_task
def test_a_hidden_coroutine_is_refused(run):
    hidden = as_coroutine(int)
    (error,) = run([ConditionWait(lambda: hidden())], max_wait=60, on_failure="collect")  # noqa: PLW0108 - hides what it is
    assert isinstance(error, TypeError)
    assert "use wait_all_async with a coroutine function" in str(error)


# --- bad arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "words"),
    [
        ((3,), {}, TypeError, "ConditionWait takes something to call, not int"),
        ((int,), {"max_wait": "3"}, TypeError, "max_wait must be seconds"),
        ((int,), {"timeout": 3}, TypeError, r"ConditionWait takes max_wait \(seconds\) instead of"),
        ((int,), {"intervall": 3}, TypeError, "did you mean 'interval'"),
        ((int,), {"label": ""}, ValueError, "label is empty"),
        ((int,), {"on_timeout": "last"}, TypeError, "unknown option 'on_timeout'"),
        ((int, success(3, print)), {}, TypeError, "leave out the handlers"),
        ((int, [success(3), 4]), {}, TypeError, r"make each with success\(\)"),
        ((int,), {"polling": False}, TypeError, "polling=False needs a signal"),
    ],
)
def test_a_condition_is_checked_when_it_is_made(arguments, options, kind, words):
    with pytest.raises(kind, match=words):
        ConditionWait(*arguments, **options)


def test_a_condition_needs_a_bound():
    with pytest.raises(TypeError, match=r"waits\[0\] needs max_wait \(seconds\), or wait_all does"):
        bwp.wait_all([ConditionWait(int)])


def test_a_condition_is_given_once():
    wait = ConditionWait(int)
    with pytest.raises(ValueError, match=r"same object: ConditionWait\(int, max_wait=None\)"):
        bwp.wait_all([wait, wait], max_wait=1)


def test_a_list_is_a_pattern_as_ever():
    (outcome,) = bwp.wait_all([ConditionWait(lambda: (1, "a"), [1, str])], max_wait=60)
    assert outcome.response == (1, "a")


def test_a_condition_is_no_background_wait():
    with pytest.raises(TypeError):
        operations.start(ConditionWait(int), "bucket_exists", max_wait=3)

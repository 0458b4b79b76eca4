"""Waits on callables beside waits on clients."""

import asyncio
import contextvars
import threading
import time
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import ConditionWait, Signal, failure, poll, retry, success


@pytest.fixture
def from_second(virtual_time):
    """`from_second(3)`: a callable whose value is true from that second on."""

    def of(moment, value="ready", before=None):
        def state():
            state.times.append(virtual_time.now)
            result = value if virtual_time.now >= moment else before
            if isinstance(result, BaseException):
                raise result
            return result

        state.times = []
        return state

    return of


def test_conditions_and_waits_run_together(results_of, exists, s3, from_second, virtual_time):
    virtual_time.call_at(40, lambda: s3.create_bucket(Bucket="later"))
    events, news, state = [], [], from_second(7)
    bwp.install(on_event=events.append)
    waits = [exists(s3, "later"), ConditionWait(state, interval=1), exists(s3, "first")]
    bucket, ready, _ = results_of(waits, max_wait=100, progress=news.append)
    assert bucket.waiter == "BucketExists"
    assert isinstance(ready, bwp.ResponseOutcome)
    assert (ready.response, ready.observed, ready.attempts) == ("ready", "ready", 8)
    assert (ready.waiter, ready.label) == ("condition", "state")
    assert state.times == list(range(8))
    told = [event.kind for event in events if event.label == "state"]
    assert told == ["start", *["attempt"] * 8, "success"]
    assert ("condition", "state") in {(each.waiter, each.label) for each in news}
    assert max(each.ended for each in news) == 3


def test_the_first_is_a_condition_or_a_wait(any_of, exists, s3, from_second, virtual_time):
    condition = ConditionWait(from_second(9), "ready", label="the deployment", interval=3)
    which, outcome = any_of([exists(s3, "never"), condition], max_wait=100)
    assert (which, outcome.label) == (condition, "the deployment")
    never, wait = from_second(1e9), exists(s3, "first")
    assert any_of([ConditionWait(never), wait], max_wait=100)[0] is wait
    calls = len(never.times)
    virtual_time.advance(50)
    assert len(never.times) == calls


def test_condition_takes_defaults_of_its_run(results_of, from_second, virtual_time):
    wait, cancelled = ConditionWait(from_second(99)), threading.Event()
    bwp.install(defaults={"cancel_event": cancelled})
    virtual_time.call_at(5, cancelled.set)
    (result,) = results_of([wait], max_wait=60)
    assert isinstance(result, bwp.WaiterCancelledError)


def test_bounds_are_those_of_the_run_or_of_the_wait(all_of, from_second):
    state, bounds = from_second(99, before="no"), [timedelta(seconds=2), 50, 0, -1]
    waits = [ConditionWait(state, "ready", max_wait=bound) for bound in bounds]
    waits.append(ConditionWait(state, "ready", max_attempts=4, interval=1))
    *timed_out, attempts = results = all_of(
        waits, max_wait=timedelta(seconds=10), on_failure="collect"
    )
    assert {type(error) for error in timed_out} == {bwp.WaiterTimeoutError}
    assert isinstance(attempts, bwp.WaiterAttemptsError)
    assert [each.elapsed for each in results] == pytest.approx([2, 10, 0, 0, 3], abs=0.2)
    assert [error.attempts for error in results][2:] == [1, 0, 4]
    assert [error.max_wait for error in results] == [2, 10, 0, -1, 10]
    assert [error.last_value for error in results] == ["no", "no", "no", None, "no"]


def test_cases_and_errors_of_a_callable_decide(all_of, from_second):
    handled, error = [], KeyError("x")
    cases = [success("ready"), retry("pending", handled.append), failure("broken")]
    waits = [
        ConditionWait(from_second(2, before="pending"), cases, interval=1),
        ConditionWait(from_second(2, "broken", "other"), cases, interval=1),
        ConditionWait(from_second(9, before=error)),
        ConditionWait(from_second(3, before=error), retry_on=KeyError, interval=1),
        ConditionWait(from_second(9, before=error), retry_on=KeyError, max_wait=2),
        ConditionWait(from_second(9), delay_pace=lambda _: "soon"),
    ]
    results = all_of(waits, max_wait=20, on_failure="collect")
    ready, broken, raised, retried, timed_out, unpaced = results
    assert (ready.response, handled) == ("ready", ["pending", "pending"])
    assert isinstance(broken, bwp.WaiterFailedError)
    # It holds no frames of the run.
    assert (broken.last_value, broken.__traceback__) == ("broken", None)
    assert retried.attempts == 4
    assert isinstance(timed_out, bwp.WaiterTimeoutError)
    assert [type(each) for each in (raised, timed_out.__cause__)] == [KeyError] * 2
    assert isinstance(unpaced, ValueError)


def test_without_polling_only_a_signal_starts_attempts(all_of, from_second, virtual_time):
    signal, woken = Signal(), from_second(1)
    virtual_time.call_at(4, signal.notify)
    wait = ConditionWait(woken, signal=signal, polling=False, initial_delay=0)
    assert all_of([wait], max_wait=60)[0].attempts == 2
    assert woken.times == pytest.approx([0, 4], abs=0.11)


def test_many_cancel_events_end_each_their_wait(results_of, from_second, virtual_time):
    events = [threading.Event() for _ in range(30)]
    for second, event in enumerate(events):
        virtual_time.call_at(second, event.set)
    never = from_second(1e9)
    results = results_of([ConditionWait(never, cancel_event=e, max_wait=300) for e in events])
    assert {type(each) for each in results} == {bwp.WaiterCancelledError}
    assert [each.elapsed for each in results] == pytest.approx(range(30), abs=0.11)


def test_broken_cancel_event_ends_its_wait_only(all_of, from_second, virtual_time):
    class Broken(threading.Event):
        """As that of a process that has ended."""

        def is_set(self):
            if virtual_time.now >= 30:
                raise ConnectionRefusedError
            return False

    waits = [ConditionWait(from_second(50), cancel_event=each) for each in (Broken(), None)]
    cancelled, outcome = all_of(waits, max_wait=300, on_failure="collect")
    assert isinstance(cancelled, bwp.WaiterCancelledError)
    assert isinstance(cancelled.__cause__, ConnectionRefusedError)
    assert isinstance(outcome, bwp.ResponseOutcome)


def test_system_exit_in_a_call_ends_the_run(results_of, from_second, virtual_time):
    events = []
    bwp.install(on_event=events.append)
    leaves = ConditionWait(from_second(3, SystemExit(3)), label="leaves", interval=1)
    other = ConditionWait(from_second(100), label="other")
    with pytest.raises(SystemExit):
        results_of([leaves, other], max_wait=300)
    ends = {(each.label, each.kind) for each in events if each.kind not in ("start", "attempt")}
    assert ends == {("leaves", "exception"), ("other", "cancel")}


def test_a_condition_can_run_again(all_of, from_second):
    wait = ConditionWait(from_second(1), interval=1)
    assert [all_of([wait], max_wait=9)[0].attempts for _ in range(2)] == [2, 1]


# --- where a callable runs --------------------------------------------------------------------


def test_a_callable_sees_the_context_of_the_caller(results_of):
    variable = contextvars.ContextVar("variable", default="outside")

    def run():
        variable.set("inside")
        return results_of([ConditionWait(variable.get)], max_wait=9)

    assert contextvars.copy_context().run(run)[0].response == "inside"


def test_a_coroutine_function_runs_in_the_loop(exists, s3):
    async def main():
        async def state():
            return asyncio.get_running_loop() is loop

        loop = asyncio.get_running_loop()
        waits = [ConditionWait(state), exists(s3, "first"), ConditionWait(lambda: "plain")]
        return await bwp.wait_all_async(waits, max_wait=9)

    assert [outcome.response for outcome in asyncio.run(main())][::2] == [True, "plain"]


@pytest.fixture
def hanging():
    """A callable that hangs until the test is over."""
    released = threading.Event()
    yield lambda: released.wait(60)
    released.set()


def test_a_callable_that_hangs_holds_up_nothing(all_of, hanging):
    other = ConditionWait(lambda: "ready", success_count=3, interval=0.05, max_wait=60)
    hung, ready = all_of([ConditionWait(hanging, max_wait=0.3), other], on_failure="collect")
    assert isinstance(hung, bwp.WaiterTimeoutError)
    assert ready.attempts == 3


def test_the_run_bounds_a_single_attempt(all_of, hanging):
    started = time.monotonic()
    (hung,) = all_of([ConditionWait(hanging, max_wait=0)], max_wait=0.3, on_failure="collect")
    assert time.monotonic() - started < 5
    assert isinstance(hung, bwp.WaiterTimeoutError)
    assert "timed out after 0." in str(hung)
    # A run of 0 seconds has one attempt of any length, as the wait itself.
    once = ConditionWait(lambda: time.sleep(0.05) or "ready", max_wait=0)
    assert all_of([once], max_wait=0)[0].response == "ready"


def test_the_run_bounds_a_single_awaited_attempt(virtual_time):
    wait = ConditionWait(partial(asyncio.sleep, 60), max_wait=0)
    run = bwp.wait_all_async([wait], max_wait=9, on_failure="collect")
    assert "timed out after 9 s" in str(asyncio.run(run)[0])
    assert virtual_time.now == pytest.approx(9, abs=0.3)


def test_a_coroutine_that_hangs_is_cancelled(virtual_time):
    ended = []

    async def hang():
        try:
            await asyncio.sleep(60)
        finally:
            # Closing a connection takes a few turns of the loop.
            for _ in range(5):
                await asyncio.sleep(0)
            ended.append("ended")

    async def main():
        waits = [ConditionWait(hang), ConditionWait(lambda: True, initial_delay=3)]
        await bwp.wait_any_async(waits, max_wait=9)
        assert ended == ["ended"]
        assert asyncio.all_tasks() == {asyncio.current_task()}
        (error,) = await bwp.wait_all_async(waits[:1], max_wait=9, on_failure="collect")
        assert isinstance(error, bwp.WaiterTimeoutError)

    asyncio.run(main())
    assert ended == ["ended", "ended"]


def test_an_abandoned_call_does_not_need_the_loop(monkeypatch):
    errors, threads = [], []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    begun, released = threading.Event(), threading.Event()

    def hang():
        threads.append(threading.current_thread())
        begun.set()
        return released.wait(60)

    async def main():
        waiting = asyncio.create_task(bwp.wait_all_async([ConditionWait(hang)], max_wait=60))
        assert await asyncio.to_thread(begun.wait, 60)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(main())
    released.set()
    threads[0].join(60)
    assert not threads[0].is_alive()
    assert errors == []


def test_polling_goes_on_while_the_task_is_busy(from_second, virtual_time):
    states, ended = [from_second(10 * number) for number in range(3)], []

    async def main():
        waits = [ConditionWait(each, interval=10) for each in (*states, from_second(1e9))]
        items = bwp.as_completed_async(waits, max_wait=2000)
        for _ in range(3):
            await anext(items)
            await asyncio.sleep(100)
            ended.append(virtual_time.now)
        await items.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert ended == [100, 200, 300]
    assert states[2].times == [0, 10, 20]


def test_other_tasks_of_the_loop_have_their_turns(virtual_time):
    turns = []

    async def turn():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    async def main():
        turning = asyncio.create_task(turn())
        waits = [ConditionWait(lambda: (len(turns),)) for _ in range(20)]
        first, *_, last = await bwp.wait_all_async(waits, max_wait=9, threads=1)
        turning.cancel()
        return first.response < last.response

    assert asyncio.run(main())


@pytest.mark.parametrize("name", ["wait_all", "wait_any", "as_completed"])
def test_a_coroutine_function_needs_the_loop(name):
    wait = ConditionWait(coroutine)
    with pytest.raises(TypeError, match=f"{name}_async"):
        list(getattr(bwp, name)([wait], max_wait=1))


async def coroutine():
    return 1


def test_a_hidden_coroutine_is_refused(all_of):
    (error,) = all_of([ConditionWait(lambda: coroutine())], max_wait=60, on_failure="collect")  # noqa: PLW0108 - hides what it is
    assert isinstance(error, TypeError)
    assert "wait_all_async" in str(error)


# --- interrupts ---------------------------------------------------------------------------------

ANY_ERROR = {
    "acceptors": [{"state": "success", "matcher": {"success": False}}],
    "minDelay": 5,
    "maxDelay": 5,
}


@pytest.mark.parametrize("where", ["call", "sleep", "event"])
@pytest.mark.parametrize(
    "interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError]
)
def test_an_interrupt_is_no_reply_and_passes(interrupt, where, monkeypatch):
    def stop(*_):
        raise interrupt

    if where == "sleep":
        monkeypatch.setattr(time, "sleep", stop)
    event = SimpleNamespace(is_set=lambda: False, wait=stop) if where == "event" else None
    with pytest.raises(interrupt):
        poll(stop if where == "call" else lambda: None, ANY_ERROR, max_wait=60, cancel_event=event)


def test_events_of_another_thread_end_a_sleep():
    wake, cancel, calls = threading.Event(), threading.Event(), []

    def call():
        calls.append(1)
        threading.Thread(target=(wake if len(calls) == 1 else cancel).set).start()

    with pytest.raises(bwp.WaiterCancelledError) as caught:
        poll(call, ANY_ERROR, max_wait=600, cancel_event=cancel, wake_signal=wake)
    assert caught.value.attempts == len(calls) == 2


# --- bad arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "options", "words"), [
    ((int,), {"on_timeout": "last"}, "on_timeout"),
    ((int,), {"else_": print}, "else_"),
    ((int, success(3, print)), {}, "handlers"),
    ((int, [success(3), 4]), {}, "success"),
])  # fmt: skip
def test_a_condition_is_checked_when_it_is_made(arguments, options, words):
    with pytest.raises(TypeError, match=words):
        ConditionWait(*arguments, **options)

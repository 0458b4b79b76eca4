"""Blocking calls in threads of their own: what they return, and what they leave behind."""

import asyncio
import contextvars
import threading
import time

import pytest

from boto_waiters_plus.calls import awaited_call
from boto_waiters_plus.calls.awaited_call import reply_from_thread
from boto_waiters_plus.calls.budget import Reply
from boto_waiters_plus.calls.clock import either

REPLY = Reply("response")
TEST_LIMIT = 60
"""Seconds after which a test fails instead of waiting on."""


class Called:
    """A call made by a function."""

    is_answered = False

    def __init__(self, function):
        self.make = function


def make(function, time_left=None):
    return reply_from_thread(Called(function), time_left, threading.Event())


def call_threads():
    return [t for t in threading.enumerate() if t.name == "boto_waiters_plus call"]


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    for thread in call_threads():
        thread.join(TEST_LIMIT)
    assert call_threads() == []


def test_reply_is_returned_and_the_thread_ends():
    calls = []

    def function(time_left):
        calls.append((time_left, threading.current_thread().name))
        return REPLY

    assert asyncio.run(make(function, 7)) is REPLY
    assert calls == [(7, "boto_waiters_plus call")]


def test_a_call_that_sleeps_lets_virtual_time_pass(virtual_time):
    def function(_):
        time.sleep(2)
        return REPLY

    assert asyncio.run(make(function, 3)) is REPLY
    assert virtual_time.now == 2


@pytest.mark.parametrize("error", [LookupError, SystemExit, asyncio.CancelledError])
def test_error_that_the_call_raises_passes(error):
    def function(_):
        raise error

    # Without its text: Python 3.10 makes a CancelledError anew on its way out of the loop.
    with pytest.raises(error):
        asyncio.run(make(function))


def test_call_sees_the_context_of_the_task():
    variable = contextvars.ContextVar("variable", default=None)
    seen = []

    async def main():
        variable.set("of the task")
        await make(lambda _: seen.append(variable.get()) or REPLY)

    asyncio.run(main())
    assert seen == ["of the task"]


def test_other_tasks_run_during_the_call():
    event = threading.Event()

    async def main():
        waiting = asyncio.ensure_future(make(lambda _: event.wait(TEST_LIMIT) and REPLY))
        await asyncio.sleep(0)
        event.set()
        return await waiting

    assert asyncio.run(main()) is REPLY


@pytest.mark.parametrize("how", ["the task is cancelled", "the event is set", "it is closed"])
def test_abandoned_call_gets_the_event(how):
    cancel, started = threading.Event(), threading.Event()
    was_set = []

    async def main():
        abandoned = threading.Event()
        ends = either(abandoned, cancel)

        def function(_):
            started.set()
            was_set.append(ends.wait(TEST_LIMIT))
            return REPLY

        coroutine = reply_from_thread(Called(function), None, abandoned)
        if how == "it is closed":
            coroutine.send(None)
            coroutine.close()
            return
        task = asyncio.ensure_future(coroutine)
        await asyncio.to_thread(started.wait, TEST_LIMIT)
        if how == "the event is set":
            cancel.set()
            assert await task is REPLY
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    for thread in call_threads():
        thread.join(TEST_LIMIT)
    assert was_set == [True]


@pytest.mark.parametrize("how", ["deadline", "cancelled"])
def test_call_that_does_not_end_is_abandoned(how):
    """A user's handler that blocks, for example, cannot be interrupted."""
    over, started = threading.Event(), threading.Event()

    def function(_):
        started.set()
        over.wait(60)
        return REPLY

    async def main():
        task = asyncio.ensure_future(make(function, 60 if how == "cancelled" else 0.01))
        if how == "cancelled":
            await asyncio.to_thread(started.wait, TEST_LIMIT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            assert await task == Reply(ended="deadline")

    asyncio.run(main())
    # The loop is closed when the thread ends: an error in the thread would fail the test.
    (thread,) = call_threads()
    assert thread.daemon, "it must not hold up the exit of the program"
    over.set()


def test_call_that_has_its_answer_is_waited_for(monkeypatch):
    """What is left to do is to parse it."""
    monkeypatch.setattr(awaited_call, "SHUTDOWN_GRACE", 0.01)
    parsed = threading.Event()
    call = Called(lambda _: parsed.wait(TEST_LIMIT) and REPLY)
    call.is_answered = True

    async def main():
        asyncio.get_running_loop().call_later(0.1, parsed.set)
        return await reply_from_thread(call, 0.01, threading.Event())

    assert asyncio.run(main()) is REPLY


def test_call_that_ends_soon_after_its_time_is_waited_for():
    """It is about to tell why."""
    go_on = threading.Event()

    async def main():
        asyncio.get_running_loop().call_later(0.01, go_on.set)
        return await make(lambda _: go_on.wait(TEST_LIMIT) and REPLY, 0)

    assert asyncio.run(main()) is REPLY


def test_virtual_time_stands_still_during_the_call(virtual_time):
    def function(_):
        threading.Event().wait(0.05)
        return REPLY

    async def main():
        sleeper = asyncio.ensure_future(asyncio.sleep(1000))
        await make(function)
        now = virtual_time.now
        sleeper.cancel()
        await asyncio.gather(sleeper, return_exceptions=True)
        return now

    assert asyncio.run(main()) == 0

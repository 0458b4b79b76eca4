"""Blocking calls in threads of their own: what they return, and what they leave behind."""

import asyncio
import contextvars
import threading
import time

import pytest
from calls.support import join_call_threads
from faults.support import own_threads

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


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    join_call_threads()


async def test_reply_comes_from_a_thread_with_the_context_of_the_task():
    variable, calls = contextvars.ContextVar("variable"), []
    variable.set("of the task")

    def function(time_left):
        calls.append((time_left, threading.current_thread().name, variable.get()))
        return REPLY

    assert await make(function, 7) is REPLY
    assert calls == [(7, "boto_waiters_plus call", "of the task")]


def test_a_call_that_sleeps_lets_virtual_time_pass(virtual_time):
    assert asyncio.run(make(lambda _: time.sleep(2) or REPLY, 3)) is REPLY
    assert virtual_time.now == 2


@pytest.mark.parametrize("error", [LookupError, SystemExit, asyncio.CancelledError])
def test_error_that_the_call_raises_passes(error):
    def function(_):
        raise error

    # Without its text: Python 3.10 makes a CancelledError anew on its way out of the loop.
    with pytest.raises(error):
        asyncio.run(make(function))


@pytest.mark.parametrize("how", ["the task is cancelled", "the event is set", "it is closed"])
async def test_abandoned_call_gets_the_event(how):
    cancel, started, abandoned = threading.Event(), threading.Event(), threading.Event()
    ends, was_set = either(abandoned, cancel), []

    def function(_):
        started.set()
        was_set.append(ends.wait(TEST_LIMIT))
        return REPLY

    coroutine = reply_from_thread(Called(function), None, abandoned)
    if how == "it is closed":
        coroutine.send(None)
        coroutine.close()
    else:
        task = asyncio.ensure_future(coroutine)
        await asyncio.to_thread(started.wait, TEST_LIMIT)
        cancel.set() if how == "the event is set" else task.cancel()
        (end,) = await asyncio.gather(task, return_exceptions=True)
        assert end is REPLY if how == "the event is set" else task.cancelled()
    join_call_threads()
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
        (end,) = await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled() if how == "cancelled" else end == Reply(ended="deadline")

    asyncio.run(main())
    # The loop is closed when the thread ends: an error in the thread would fail the test.
    [thread] = [each for each in own_threads() if each.name.endswith(" call")]
    assert thread.daemon, "it must not hold up the exit of the program"
    over.set()


# It has its answer to parse, or is about to tell why.
@pytest.mark.parametrize(("is_answered", "grace", "end"), [
    (True, 0.01, 0.1), (False, awaited_call.SHUTDOWN_GRACE, 0.01),
])  # fmt: skip
async def test_call_that_ends_after_its_time_is_waited_for(monkeypatch, is_answered, grace, end):
    monkeypatch.setattr(awaited_call, "SHUTDOWN_GRACE", grace)
    go_on = threading.Event()
    call = Called(lambda _: go_on.wait(TEST_LIMIT) and REPLY)
    call.is_answered = is_answered
    asyncio.get_running_loop().call_later(end, go_on.set)
    assert await reply_from_thread(call, 0, threading.Event()) is REPLY


async def test_virtual_time_stands_still_during_the_call(virtual_time):
    sleeper = asyncio.ensure_future(asyncio.sleep(1000))
    await make(lambda _: threading.Event().wait(0.05) or REPLY)
    assert virtual_time.now == 0
    sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)

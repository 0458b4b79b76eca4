"""Blocking ports in threads of their own: what comes back, and what is left behind."""

import asyncio
import contextvars
import threading

import pytest

from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.runtime.attempt import Attempt
from boto_waiters_plus.runtime.in_thread import Stop, ThreadPort

ANSWER = Attempt(facts=Facts(acceptor=0))
PATIENCE = 10


class Scripted:
    """A port that does what it is told."""

    def __init__(self, behave):
        self.poll = behave


def poll(behave, time_left=None, cancel=None):
    stop = Stop(cancel)
    return ThreadPort(Scripted(behave), stop).poll(time_left)


def left():
    return [t for t in threading.enumerate() if t.name == "boto_waiters_plus call"]


def test_what_the_port_gives_comes_back_and_the_thread_is_gone():
    asked = []

    def behave(time_left):
        asked.append((time_left, threading.current_thread().name))
        return ANSWER

    assert asyncio.run(poll(behave, 7)) is ANSWER
    assert asked == [(7, "boto_waiters_plus call")]
    assert left() == []


@pytest.mark.parametrize("error", [LookupError, SystemExit, asyncio.CancelledError])
def test_what_the_port_raises_comes_through(error):
    def behave(_):
        raise error

    # Without its text: Python 3.10 makes a CancelledError anew on its way out of the loop.
    with pytest.raises(error):
        asyncio.run(poll(behave))


def test_the_port_sees_the_context_of_the_task():
    variable = contextvars.ContextVar("variable", default=None)
    seen = []

    async def main():
        variable.set("the task's")
        await poll(lambda _: seen.append(variable.get()) or ANSWER)

    asyncio.run(main())
    assert seen == ["the task's"]


def test_other_tasks_run_meanwhile():
    turn = threading.Event()

    async def main():
        waiting = asyncio.ensure_future(poll(lambda _: turn.wait(PATIENCE) and ANSWER))
        await asyncio.sleep(0)
        turn.set()
        return await waiting

    assert asyncio.run(main()) is ANSWER


@pytest.mark.parametrize("whose", ["the task is cancelled", "the event is set"])
def test_the_port_is_told_when_nobody_waits_any_more(whose):
    cancel, started, told = threading.Event(), threading.Event(), []

    async def main():
        stop = Stop(cancel)

        def behave(_):
            started.set()
            told.append(stop.event.wait(PATIENCE))
            return ANSWER

        task = asyncio.ensure_future(ThreadPort(Scripted(behave), stop).poll(None))
        await asyncio.to_thread(started.wait, PATIENCE)
        if whose == "the event is set":
            cancel.set()
            assert await task is ANSWER
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert left() == []

    asyncio.run(main())
    assert told == [True]


@pytest.mark.parametrize("cancelled", [False, True], ids=["deadline", "cancelled"])
def test_a_call_that_does_not_end_is_left_to_itself(cancelled):
    """What cannot be interrupted: a handler of the user's that blocks, say."""
    over, started = threading.Event(), threading.Event()

    def behave(_):
        started.set()
        over.wait(60)
        return ANSWER

    async def main():
        task = asyncio.ensure_future(poll(behave, 60 if cancelled else 0.01))
        if cancelled:
            await asyncio.to_thread(started.wait, PATIENCE)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            assert (await task).cut_off == "deadline"

    asyncio.run(main())
    # Its loop is closed when it ends: an error in the thread would fail the test.
    (thread,) = left()
    over.set()
    thread.join(PATIENCE)
    assert left() == []


def test_virtual_time_stands_still_meanwhile(virtual_time):
    def behave(_):
        threading.Event().wait(0.05)
        return ANSWER

    async def main():
        sleeper = asyncio.ensure_future(asyncio.sleep(1000))
        await poll(behave)
        now = virtual_time.now
        sleeper.cancel()
        await asyncio.gather(sleeper, return_exceptions=True)
        return now

    assert asyncio.run(main()) == 0

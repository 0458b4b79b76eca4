"""Awaited calls that are cut off: whose cancellation it is, and what is left behind."""

import asyncio
import contextlib
import threading

import pytest

from boto_waiters_plus.aws.aio_call import cut_off
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.runtime.attempt import Attempt

ANSWER = Attempt(facts=Facts(acceptor=0))
SHORT, LONG = 0.02, 60


async def answer():
    return ANSWER


async def hang():
    await asyncio.Event().wait()


def only_this_task():
    return asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("seconds", [None, LONG])
@pytest.mark.parametrize("cancel", [None, threading.Event()], ids=["", "event"])
def test_an_answer_comes_through(seconds, cancel):
    assert asyncio.run(cut_off(answer, seconds, cancel)) is ANSWER


@pytest.mark.parametrize("cancel", [None, threading.Event()], ids=["", "event"])
def test_at_the_deadline_it_is_cut_off_and_over(cancel):
    async def main():
        attempt = await cut_off(hang, SHORT, cancel)
        return attempt.cut_off, only_this_task()

    assert asyncio.run(main()) == ("deadline", True)


@pytest.mark.parametrize("seconds", [None, LONG])
def test_an_event_that_is_set_cuts_it_off(seconds):
    async def main():
        event = threading.Event()
        asyncio.get_running_loop().call_later(SHORT, event.set)
        attempt = await cut_off(hang, seconds, event)
        return attempt.cut_off, only_this_task()

    assert asyncio.run(main()) == ("cancel", True)


@pytest.mark.parametrize("seconds", [None, LONG])
def test_what_the_call_raises_comes_through(seconds):
    async def stumble():
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        asyncio.run(cut_off(stumble, seconds))


def test_what_it_raises_while_it_ends_is_not_heard_of():
    """The event loop complains of errors that nobody took note of."""
    complaints = []

    async def stumble():
        try:
            await hang()
        finally:
            raise LookupError

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, c: complaints.append(c))
        return (await cut_off(stumble, SHORT)).cut_off

    assert asyncio.run(main()) == "deadline"
    assert complaints == []


def test_a_cancellation_ends_the_call_first():
    ended = []

    async def call():
        try:
            await hang()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    async def main():
        task = asyncio.ensure_future(cut_off(call, LONG))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True]
        assert only_this_task()

    asyncio.run(main())


@pytest.mark.parametrize("seconds", [SHORT, LONG], ids=["after the deadline", "after another"])
def test_a_cancellation_while_the_call_is_ending_passes(seconds):
    """It is not taken for the one that we sent into the call."""
    ended = []

    async def call():
        try:
            await hang()
        finally:
            ending.set()
            # Takes a while, and will not be hurried.
            for _ in range(50):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.001)
            ended.append("over")

    async def main():
        task = asyncio.ensure_future(cut_off(call, seconds))
        if seconds == LONG:
            await asyncio.sleep(0.01)
            task.cancel()
        await ending.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["over"]
        assert only_this_task()

    ending = asyncio.Event()
    asyncio.run(main())

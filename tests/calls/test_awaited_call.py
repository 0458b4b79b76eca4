"""Awaited calls that are ended: whose cancellation it is, and what is left behind."""

import asyncio
import contextlib
import threading
from unittest import mock

import pytest
from calls.support import awaited_call, ended, make_client

from boto_waiters_plus.calls.awaited_call import await_within
from boto_waiters_plus.calls.budget import AwaitedBudget, awaited_budget

# The clock stands still: a call has begun before the event loop ends it.
pytestmark = pytest.mark.usefixtures("clock")

SHORT, LONG = 0.02, 60


async def hang():
    await asyncio.Event().wait()


def only_this_task():
    return asyncio.all_tasks() == {asyncio.current_task()}


def awaiting(call, seconds=LONG, **options):
    return awaited_call(call, **{"client": None, "seconds": seconds, **options})


@pytest.mark.parametrize("event", [None, threading.Event()], ids=["", "event"])
async def test_deadline_cancels_the_call(event):
    with ended("deadline"):
        await awaiting(hang, SHORT, cancel_event=event)
    assert only_this_task()


@pytest.mark.parametrize("kind", [threading.Event, asyncio.Event])
@pytest.mark.parametrize("seconds", [None, LONG])
async def test_cancel_event_ends_the_call(seconds, kind):
    event = kind()

    async def call():
        event.set()
        await hang()

    with ended("cancelled"):
        await awaiting(call, seconds, cancel_event=event)
    assert only_this_task()


async def test_closed_coroutine_cancels_the_call():
    coroutine = awaiting(hang)
    coroutine.send(None)
    coroutine.close()
    for _ in range(2):
        await asyncio.sleep(0)
    assert only_this_task()


async def test_cancelled_call_may_not_go_on():
    may_go_on = []

    async def call():
        try:
            await hang()
        finally:
            may_go_on.append(not awaited_budget.get().ended)

    task = asyncio.ensure_future(awaiting(call))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert may_go_on == [False]


async def test_error_after_the_deadline_is_the_cause():
    """The event loop reports errors that no task retrieved."""
    reports = []

    async def stumble():
        try:
            await hang()
        finally:
            raise LookupError

    asyncio.get_running_loop().set_exception_handler(lambda _, c: reports.append(c))
    with ended("deadline") as caught:
        await awaiting(stumble, SHORT)
    assert isinstance(caught.value.__cause__, LookupError)
    assert reports == []


@pytest.mark.parametrize("seconds", [SHORT, LONG], ids=["after the deadline", "after another"])
async def test_cancellation_while_the_call_ends_is_raised(seconds):
    """It is not taken for the one that ends the call."""
    ends, started, ending = [], asyncio.Event(), asyncio.Event()

    async def call():
        started.set()
        try:
            await hang()
        finally:
            ending.set()
            # Takes a while, and ignores further cancellations.
            for _ in range(50):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.001)
            ends.append("over")

    task = asyncio.ensure_future(awaiting(call, seconds))
    await started.wait()
    if seconds == LONG:
        task.cancel()
    await ending.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == ["over"]
    assert only_this_task()


async def test_late_streaming_response_is_closed():
    body = mock.Mock()

    async def call():
        with contextlib.suppress(asyncio.CancelledError):
            await hang()
        return {"Body": body}

    with ended("deadline"):
        await awaiting(call, SHORT, client=make_client())
    body.close.assert_called_once_with()


@pytest.mark.parametrize("parse", [lambda: asyncio.sleep(2 * SHORT), hang], ids=["parse", "hang"])
async def test_answer_that_arrived_in_time_is_parsed_but_no_hook_is_awaited(clock, parse):
    async def call():
        awaited_budget.get().arrived = clock.now
        await parse()
        clock.advance(9)
        return "answer"

    with ended("deadline") if parse is hang else contextlib.nullcontext():
        assert await await_within(AwaitedBudget(SHORT), call, client=None) == "answer"

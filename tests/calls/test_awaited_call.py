"""Awaited calls that are ended: whose cancellation it is, and what is left behind."""

import asyncio
import contextlib
import threading
from unittest import mock

import pytest
from calls.support import awaited_call, make_client

from boto_waiters_plus.calls.awaited_call import await_within
from boto_waiters_plus.calls.budget import AwaitedBudget, CallEnded, awaited_budget

# The clock stands still: a call has begun before the event loop ends it.
pytestmark = pytest.mark.usefixtures("clock")

SHORT, LONG = 0.02, 60


async def hang():
    await asyncio.Event().wait()


def only_this_task():
    return asyncio.all_tasks() == {asyncio.current_task()}


async def reason_of(call, **options):
    with pytest.raises(CallEnded) as caught:
        await awaited_call(call, client=None, **options)
    return caught.value.reason


@pytest.mark.parametrize("event", [None, threading.Event()], ids=["", "event"])
def test_deadline_cancels_the_call(event):
    async def main():
        reason = await reason_of(hang, seconds=SHORT, cancel_event=event)
        return reason, only_this_task()

    assert asyncio.run(main()) == ("deadline", True)


@pytest.mark.parametrize("seconds", [None, LONG])
def test_cancel_event_ends_the_call(seconds):
    event = threading.Event()

    async def call():
        event.set()
        await hang()

    async def main():
        return await reason_of(call, seconds=seconds, cancel_event=event), only_this_task()

    assert asyncio.run(main()) == ("cancelled", True)


def test_closed_coroutine_cancels_the_call():
    async def main():
        coroutine = awaited_call(hang, client=None, seconds=LONG)
        coroutine.send(None)
        coroutine.close()
        for _ in range(2):
            await asyncio.sleep(0)
        return only_this_task()

    assert asyncio.run(main())


def test_cancelled_call_may_not_go_on():
    may_go_on = []

    async def call():
        try:
            await hang()
        finally:
            may_go_on.append(not awaited_budget.get().ended)

    async def main():
        task = asyncio.ensure_future(awaited_call(call, client=None, seconds=LONG))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
    assert may_go_on == [False]


def test_error_after_the_deadline_is_the_cause():
    """The event loop reports errors that no task retrieved."""
    reports = []

    async def stumble():
        try:
            await hang()
        finally:
            raise LookupError

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, c: reports.append(c))
        with pytest.raises(CallEnded) as caught:
            await awaited_call(stumble, client=None, seconds=SHORT)
        assert isinstance(caught.value.__cause__, LookupError)
        return caught.value.reason

    assert asyncio.run(main()) == "deadline"
    assert reports == []


@pytest.mark.parametrize("seconds", [SHORT, LONG], ids=["after the deadline", "after another"])
def test_cancellation_while_the_call_ends_is_raised(seconds):
    """It is not taken for the one that ends the call."""
    ended = []

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
            ended.append("over")

    async def main():
        task = asyncio.ensure_future(awaited_call(call, client=None, seconds=seconds))
        await started.wait()
        if seconds == LONG:
            task.cancel()
        await ending.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["over"]
        assert only_this_task()

    started, ending = asyncio.Event(), asyncio.Event()
    asyncio.run(main())


def test_late_streaming_response_is_closed():
    body = mock.Mock()

    async def call():
        with contextlib.suppress(asyncio.CancelledError):
            await hang()
        return {"Body": body}

    async def main():
        with pytest.raises(CallEnded):
            await awaited_call(call, client=make_client(), seconds=SHORT)

    asyncio.run(main())
    body.close.assert_called_once_with()


def answered(clock, parse):
    """Await a call whose answer has arrived, and is parsed until after the deadline."""
    budget = AwaitedBudget(SHORT)

    async def call():
        awaited_budget.get().arrived = clock.now
        await parse()
        clock.advance(9)
        return "answer"

    return asyncio.run(await_within(budget, call, client=None))


def test_answer_that_arrived_in_time_is_parsed(clock):
    assert answered(clock, lambda: asyncio.sleep(2 * SHORT)) == "answer"


def test_hook_that_suspends_an_answered_call_is_left(clock):
    with pytest.raises(CallEnded, match="deadline"):
        answered(clock, hang)

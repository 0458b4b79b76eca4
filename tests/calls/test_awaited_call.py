"""Awaited calls that are ended: whose cancellation it is, and what is left behind."""

import asyncio
import contextlib
import threading
import time

import pytest

from boto_waiters_plus.calls.awaited_budget import awaited_budget
from boto_waiters_plus.calls.awaited_call import awaited_call
from boto_waiters_plus.calls.call_budget import CallEnded

ANSWER = object()
SHORT, LONG = 0.02, 60


async def answer():
    return ANSWER


async def hang():
    await asyncio.Event().wait()


def only_this_task():
    return asyncio.all_tasks() == {asyncio.current_task()}


async def reason_of(call, **options):
    with pytest.raises(CallEnded) as caught:
        await awaited_call(call, client=None, **options)
    return caught.value.reason


@pytest.mark.parametrize("seconds", [None, LONG])
@pytest.mark.parametrize("event", [None, threading.Event()], ids=["", "event"])
def test_result_in_time_is_returned(seconds, event):
    call = awaited_call(answer, client=None, seconds=seconds, cancel_event=event)
    assert asyncio.run(call) is ANSWER


@pytest.mark.parametrize("event", [None, threading.Event()], ids=["", "event"])
def test_deadline_cancels_the_call(event):
    async def main():
        reason = await reason_of(hang, seconds=SHORT, cancel_event=event)
        return reason, only_this_task()

    assert asyncio.run(main()) == ("deadline", True)


@pytest.mark.parametrize("seconds", [0, -1])
def test_call_without_time_is_not_made(seconds):
    assert asyncio.run(reason_of(None, seconds=seconds)) == "deadline"


def test_call_is_not_made_once_cancelled():
    event = threading.Event()
    event.set()
    assert asyncio.run(reason_of(None, seconds=None, cancel_event=event)) == "cancelled"


@pytest.mark.parametrize("after", [SHORT, 0.2])
@pytest.mark.parametrize("seconds", [None, LONG])
def test_cancel_event_ends_the_call(seconds, after):
    async def main():
        event = threading.Event()
        asyncio.get_running_loop().call_later(after, event.set)
        began = time.perf_counter()
        reason = await reason_of(hang, seconds=seconds, cancel_event=event)
        return reason, only_this_task(), time.perf_counter() - began < after + 5

    assert asyncio.run(main()) == ("cancelled", True, True)


@pytest.mark.parametrize("seconds", [None, LONG])
def test_error_of_the_call_is_raised(seconds):
    async def stumble():
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        asyncio.run(awaited_call(stumble, client=None, seconds=seconds))


def test_refused_retry_is_told_apart():
    refused = LookupError("503")

    async def call():
        awaited_budget.get().refused_retry = refused
        raise refused

    with pytest.raises(CallEnded, match="retry refused") as caught:
        asyncio.run(awaited_call(call, client=None, seconds=LONG))
    assert caught.value.__cause__ is refused


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


def test_cancelling_the_task_ends_the_call_first():
    ended = []

    async def call():
        try:
            await hang()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    async def main():
        task = asyncio.ensure_future(awaited_call(call, client=None, seconds=LONG))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True]
        assert only_this_task()

    asyncio.run(main())


@pytest.mark.parametrize("seconds", [SHORT, LONG], ids=["after the deadline", "after another"])
def test_cancellation_while_the_call_ends_is_raised(seconds):
    """It is not taken for the one that ends the call."""
    ended = []

    async def call():
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


def test_late_streaming_response_is_closed():
    closed = []

    class Body:
        def close(self):
            closed.append(True)

    class Client:
        class meta:  # noqa: N801 - as on a client
            class service_model:  # noqa: N801
                class service_id:  # noqa: N801
                    hyphenize = staticmethod(lambda: "s3")

            class events:  # noqa: N801
                register_first = staticmethod(lambda *_, **__: None)

    async def call():
        with contextlib.suppress(asyncio.CancelledError):
            await hang()
        return {"Body": Body()}

    async def main():
        with pytest.raises(CallEnded):
            await awaited_call(call, client=Client(), seconds=SHORT)

    asyncio.run(main())
    assert closed == [True]

"""Interrupts are no reply of an operation: they pass through the call and the sleep."""

import asyncio
import threading
import time

import pytest

from boto_waiters_plus import WaiterCancelledError
from boto_waiters_plus.conditions import poll, poll_async

ANY_ERROR = {
    "acceptors": [
        {"state": "success", "matcher": {"success": False}},
        {"state": "retry", "matcher": {"success": True}},
    ],
    "minDelay": 5,
    "maxDelay": 5,
}
INTERRUPTS = [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError]


@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_interrupt_in_the_call_passes(interrupt):
    def call():
        raise interrupt

    with pytest.raises(interrupt):
        poll(call, ANY_ERROR, max_wait=60)


@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_interrupt_in_the_sleep_passes(interrupt, monkeypatch):
    def sleep(_seconds):
        raise interrupt

    monkeypatch.setattr(time, "sleep", sleep)
    calls = []
    with pytest.raises(interrupt):
        poll(lambda: calls.append(1), ANY_ERROR, max_wait=60)
    assert calls == [1]


@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_interrupt_in_a_wait_on_an_event_passes(interrupt):
    class Event:
        def is_set(self):
            return False

        def wait(self, _timeout):
            raise interrupt

    with pytest.raises(interrupt):
        poll(lambda: None, ANY_ERROR, max_wait=60, cancel_event=Event())


def test_task_cancelled_in_its_sleep_ends_at_once(virtual_time):
    calls = []

    async def call():
        calls.append(virtual_time.now)

    async def main():
        task = asyncio.ensure_future(poll_async(call, ANY_ERROR, max_wait=600))
        await asyncio.sleep(7)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return virtual_time.now

    assert asyncio.run(main()) == 7
    assert calls == [0, 5]


def test_cancel_event_of_another_thread_ends_a_sleep():
    cancel = threading.Event()
    timer = threading.Timer(0.02, cancel.set)
    timer.start()
    with pytest.raises(WaiterCancelledError) as caught:
        poll(lambda: None, ANY_ERROR, max_wait=600, cancel_event=cancel)
    timer.join(60)
    assert caught.value.attempts == 1


def test_wake_signal_of_another_thread_ends_a_sleep():
    called, wake = threading.Event(), threading.Event()

    def call():
        if called.is_set():
            raise KeyError
        called.set()
        timer.start()

    timer = threading.Timer(0.02, wake.set)
    outcome = poll(call, ANY_ERROR, max_wait=600, wake_signal=wake)
    timer.join(60)
    assert (outcome.attempts, wake.is_set()) == (2, False)

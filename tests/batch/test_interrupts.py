"""Interrupts are no reply of an operation: they pass through the call and the sleep."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

from boto_waiters_plus import WaiterCancelledError
from boto_waiters_plus.conditions import poll

ANY_ERROR = {
    "acceptors": [{"state": "success", "matcher": {"success": False}}],
    "minDelay": 5,
    "maxDelay": 5,
}


@pytest.mark.parametrize("where", ["call", "sleep", "event"])
@pytest.mark.parametrize(
    "interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError]
)
def test_an_interrupt_passes(interrupt, where, monkeypatch):
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

    with pytest.raises(WaiterCancelledError) as caught:
        poll(call, ANY_ERROR, max_wait=600, cancel_event=cancel, wake_signal=wake)
    assert caught.value.attempts == len(calls) == 2

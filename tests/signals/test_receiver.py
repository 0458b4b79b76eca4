"""The thread that receives messages: when it runs, what ends it, and what errors do."""

import asyncio
import contextvars
import logging
import queue
import threading

import pytest

from boto_waiters_plus.conditions import wait_for, wait_for_async
from boto_waiters_plus.signals import SqsSignal
from boto_waiters_plus.testing import virtual_time as open_virtual_time

from .conftest import LONG, SOON, URL, joined, receivers, refused, until


@pytest.mark.parametrize("delete", [True, False])
def test_messages_are_deleted_unless_delete_is_false(fake, delete):
    # Only the last one matches.
    with SqsSignal(fake.url, client=fake.client, match="@ == 'b'", delete=delete) as signal:
        subscription = signal.subscribe()
        fake.put("a", "b")
        assert subscription.wait(SOON)
        assert until(lambda: len(fake.requests) == 2)
        assert fake.deleted == (["a", "b"] if delete else [])
    assert joined(fake.threads)


def test_the_thread_runs_only_while_subscribed(signal, fake):
    assert not fake.requests
    one, two = signal.subscribe(), signal.matching("detail").subscribe()
    assert until(lambda: len(fake.requests) == 1)
    one.unsubscribe()
    two.unsubscribe()
    assert joined(fake.threads)
    three = signal.subscribe()
    assert until(lambda: len(fake.requests) == 2)
    fake.put("{}")
    assert three.wait(SOON)
    assert len(fake.threads) == 2


def test_one_thread_serves_all_waits(signal, fake):
    subscriptions = [signal.matching(f"to == '{number}'").subscribe() for number in range(50)]
    for number in range(50):
        fake.put(f'{{"to": "{number}"}}')
    assert all(subscription.wait(SOON) for subscription in subscriptions)
    assert len(fake.threads) == 1


def test_the_next_wait_reuses_the_request(fake, signal):
    kept = []
    for _ in range(5):
        subscription = signal.subscribe()
        assert until(lambda: fake.requests)
        subscription.unsubscribe()
        # Each would have to take a second for the request to end every time.
        for thread in receivers():
            thread.join(0.05)
        kept += receivers()
    assert kept
    assert len(fake.requests) < 5


def test_no_request_begins_without_a_wait(fake, signal):
    subscription = signal.subscribe()
    assert until(lambda: fake.requests)
    subscription.unsubscribe()
    fake.put("{}")
    assert joined(fake.threads)
    assert len(fake.requests) == 1


def test_closing_ends_the_thread_and_no_wait(signal, fake):
    full, has_read = threading.Event(), threading.Semaphore(0)

    def read():
        has_read.release()
        return full.is_set()

    options = {"max_wait": LONG, "interval": 0.05, "signal": signal}
    waiting = threading.Thread(target=wait_for, args=[read], kwargs=options, daemon=True)
    waiting.start()
    assert has_read.acquire(timeout=SOON)
    assert until(lambda: fake.requests)
    signal.close()
    assert joined(fake.threads)
    full.set()
    assert joined([waiting])


def test_a_cancelled_task_unsubscribes(signal, fake):
    async def main():
        task = asyncio.ensure_future(
            wait_for_async(lambda: False, max_wait=LONG, signal=signal, polling=False)
        )
        while not fake.requests:  # noqa: ASYNC110 - a thread, which sets no event
            await asyncio.sleep(0.002)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert repr(signal) == "SqsSignal(waits=0)"
    assert joined(fake.threads)


def test_no_thread_starts_in_virtual_time(signal, fake):
    with open_virtual_time():
        subscription = signal.subscribe()
        assert repr(signal) == "SqsSignal(waits=1)"
        signal.deliver("{}")
        assert subscription.is_set()
        subscription.unsubscribe()
    assert not fake.threads


def test_an_outage_ends_nothing_and_is_logged_once(signal, fake, caplog):
    with caplog.at_level(logging.WARNING, "boto_waiters_plus"):
        for code in ["Throttling", "Throttling", "Throttling", "AccessDenied"]:
            fake.messages.put(refused(code))
        fake.messages.put(RuntimeError("raised by an event handler of the client"))
        fake.put("{}")
        wait_for(iter([False, True]).__next__, max_wait=LONG, signal=signal, polling=False)
    assert signal.error is None
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3
    assert caplog.messages[0].startswith("sqs events: a signal cannot receive messages")
    assert "(Throttling)" in caplog.messages[0]
    assert "(AccessDenied)" in caplog.messages[1]
    assert "secret" not in caplog.text


def test_a_delay_after_errors_ends_with_the_wait(signal, fake, pauses):
    pauses.factor = 1000
    fake.messages.put(refused("AccessDenied"))
    subscription = signal.subscribe()
    assert until(lambda: signal.error)
    subscription.unsubscribe()
    assert joined(fake.threads)


def test_a_failed_deletion_wakes_and_is_logged_once(signal, fake, caplog):
    fake.refuses_deletion = True
    subscription = signal.subscribe()
    for _ in range(3):
        fake.put("{}")
        assert subscription.wait(SOON)
        subscription.clear()
    assert until(lambda: len(fake.requests) == 4)
    # Once, though receiving succeeded in between.
    (message,) = caplog.messages
    assert message.startswith("sqs events: a signal cannot delete")
    assert "(AccessDenied)" in message
    assert signal.error.response["Error"]["Code"] == "AccessDenied"
    fake.refuses_deletion = False
    fake.put("{}")
    assert until(lambda: signal.error is None)


def test_without_a_thread_the_wait_polls(signal, monkeypatch, caplog):
    def no_more(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_more)
    wait_for(iter([False, True]).__next__, max_wait=LONG, interval=0.01, signal=signal)
    assert "RuntimeError" in caplog.text


def test_the_thread_has_the_context_variables_of_the_first_wait(sqs, monkeypatch):
    variable, seen = contextvars.ContextVar("variable"), queue.SimpleQueue()
    receive = lambda **_: seen.put(variable.get("unset")) or {}  # noqa: E731 - of the client
    monkeypatch.setattr(sqs, "receive_message", receive)
    variable.set("set")
    with SqsSignal(URL, client=sqs) as signal:
        subscription = signal.subscribe()
        assert seen.get(timeout=SOON) == "set"
        subscription.unsubscribe()

"""The thread that receives messages: when it runs, what ends it, and what errors do."""

import asyncio
import logging
import multiprocessing
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from boto_waiters_plus.conditions import wait_for, wait_for_async
from boto_waiters_plus.signals import EventSignal, Signal, SqsSignal, receiver
from boto_waiters_plus.signals.receiver import Receiver, retry_delay
from boto_waiters_plus.testing import virtual_time as open_virtual_time

LONG = 120
"""Seconds that a wait takes if nothing wakes it."""
SOON = 30
"""Seconds in which a thread runs on any machine."""


class FakeQueue:
    """A queue in this process; an exception in it is raised by the request that receives it."""

    label = "sqs events"

    def __init__(self):
        self.messages = queue.SimpleQueue()
        self.requests = []
        self.threads = set()
        self.deleted = []
        self.refuses_deletion = False

    def put(self, *bodies):
        self.messages.put([{"Body": body} for body in bodies])

    def receive(self, stop):
        self.requests.append(time.monotonic())
        self.threads.add(threading.current_thread())
        while not stop.is_set():
            try:
                messages = self.messages.get(timeout=0.005)
            except queue.Empty:
                continue
            if isinstance(messages, Exception):
                raise messages
            return messages
        return None

    def delete(self, messages):
        if self.refuses_deletion:
            raise refused("AccessDenied")
        self.deleted += [message["Body"] for message in messages]
        return True


def refused(code):
    return ClientError({"Error": {"Code": code, "Message": "queue secret-queue"}}, "ReceiveMessage")


@pytest.fixture
def fake(quick, monkeypatch):
    monkeypatch.setattr(receiver, "FIRST_DELAY", 0.01)
    return FakeQueue()


@pytest.fixture
def received(fake):
    """The receiver of the queue."""
    received = Receiver(fake)
    yield received
    received.close()
    assert joined(fake.threads)


@pytest.fixture
def signal(received):
    return EventSignal(received)


def joined(threads):
    """Return whether the threads end."""
    for thread in threads:
        thread.join(SOON)
    return not any(thread.is_alive() for thread in threads)


def until(condition):
    end = time.monotonic() + SOON
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


def test_a_message_wakes_and_is_deleted(signal, fake):
    subscription = signal.subscribe()
    fake.put('"a"', '"b"')
    assert subscription.wait(SOON)
    assert until(lambda: fake.deleted == ['"a"', '"b"'])


def test_the_thread_runs_only_while_subscribed(signal, fake):
    assert not fake.requests
    one, two = signal.subscribe(), signal.matching("detail").subscribe()
    assert until(lambda: len(fake.requests) == 1)
    one.unsubscribe()
    two.unsubscribe()
    assert joined(fake.threads)
    three = signal.subscribe()
    fake.put("{}")
    assert three.wait(SOON)
    assert len(fake.threads) == 2


def test_one_thread_serves_all_waits(signal, fake):
    subscriptions = [signal.matching(f"to == '{number}'").subscribe() for number in range(50)]
    for number in range(50):
        fake.put(f'{{"to": "{number}"}}')
    assert all(subscription.wait(SOON) for subscription in subscriptions)
    assert len(fake.threads) == 1


def test_the_next_wait_reuses_the_request(fake, signal, monkeypatch):
    monkeypatch.setattr(receiver, "IDLE_TIMEOUT", LONG)
    for _ in range(5):
        subscription = signal.subscribe()
        assert until(lambda: fake.requests)
        subscription.unsubscribe()
    subscription = signal.subscribe()
    fake.put("{}")
    assert subscription.wait(SOON)
    assert len(fake.threads) == 1


def test_no_request_begins_without_a_wait(fake, signal, monkeypatch):
    monkeypatch.setattr(receiver, "IDLE_TIMEOUT", LONG)
    subscription = signal.subscribe()
    assert until(lambda: fake.requests)
    subscription.unsubscribe()
    fake.put("{}")
    assert joined(fake.threads)
    assert len(fake.requests) == 1


def test_closing_ends_the_thread_and_no_wait(signal, received, fake):
    full, has_read = threading.Event(), threading.Semaphore(0)

    def read():
        has_read.release()
        return full.is_set()

    def wait():
        wait_for(read, max_wait=LONG, interval=0.05, signal=signal)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert has_read.acquire(timeout=SOON)
    assert until(lambda: fake.requests)
    received.close()
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
    assert repr(signal) == "EventSignal(waits=0)"
    assert joined(fake.threads)


def test_no_thread_starts_in_virtual_time(signal, fake):
    with open_virtual_time():
        subscription = signal.subscribe()
        assert repr(signal) == "EventSignal(waits=1)"
        signal.deliver("{}")
        assert subscription.is_set()
        subscription.unsubscribe()
    assert not fake.threads


def test_an_outage_ends_nothing_and_is_logged_once(signal, received, fake, caplog):
    with caplog.at_level(logging.WARNING, "boto_waiters_plus"):
        for code in ["Throttling", "Throttling", "Throttling", "AccessDenied"]:
            fake.messages.put(refused(code))
        fake.messages.put(RuntimeError("raised by an event handler of the client"))
        fake.put("{}")
        wait_for(iter([False, True]).__next__, max_wait=LONG, signal=signal, polling=False)
    assert received.error is None
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3
    assert caplog.messages[0].startswith("sqs events: a signal cannot receive messages")
    assert "(Throttling)" in caplog.messages[0]
    assert "(AccessDenied)" in caplog.messages[1]
    assert "secret" not in caplog.text


def test_the_last_error_is_kept_without_frames(signal, received, fake):
    error = refused("AccessDenied")
    fake.messages.put(error)
    subscription = signal.subscribe()
    assert until(lambda: received.error is error)
    assert error.__traceback__ is None
    subscription.unsubscribe()


def test_delays_after_errors_double_up_to_a_bound():
    for errors in range(1, 2000):
        assert 1 <= retry_delay(errors) <= min(60, 2**errors)
    # Near the bound, and not all the same: many processes come back from one outage.
    drawn = {retry_delay(1000) for _ in range(100)}
    assert max(drawn) - min(drawn) > 30


def test_a_delay_after_errors_ends_with_the_wait(signal, received, fake, monkeypatch):
    monkeypatch.setattr(receiver, "FIRST_DELAY", 1000.0)
    monkeypatch.setattr(receiver, "LONGEST_DELAY", 1000.0)
    fake.messages.put(refused("AccessDenied"))
    subscription = signal.subscribe()
    assert until(lambda: received.error)
    subscription.unsubscribe()
    assert joined(fake.threads)


def test_a_failed_deletion_wakes_and_is_logged_once(signal, received, fake, caplog):
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
    assert received.error.response["Error"]["Code"] == "AccessDenied"
    fake.refuses_deletion = False
    fake.put("{}")
    assert until(lambda: received.error is None)


def test_an_empty_queue_is_polled_at_intervals(signal, fake, monkeypatch):
    monkeypatch.setattr(receiver, "SHORTEST_ROUND", 0.1)
    for _ in range(2):
        fake.put()
    subscription = signal.subscribe()
    assert until(lambda: len(fake.requests) == 3)
    assert fake.requests[2] - fake.requests[0] > 0.19
    subscription.unsubscribe()


def test_without_a_thread_the_wait_polls(signal, monkeypatch, caplog):
    def no_more(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_more)
    wait_for(iter([False, True]).__next__, max_wait=LONG, interval=0.01, signal=signal)
    assert "RuntimeError" in caplog.text


def test_unsubscribing_ends_the_request_in_flight(quick):
    """A long poll that is never answered, by a client with a read timeout of a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sqs = boto3.session.Session(region_name="us-east-1").client(
            "sqs",
            endpoint_url=f"http://127.0.0.1:{server.getsockname()[1]}",
            config=Config(read_timeout=60, retries={"total_max_attempts": 1}),
        )
        signal = SqsSignal("http://127.0.0.1/1/queue", client=sqs)
        subscription = signal.subscribe()
        server.settimeout(SOON)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(SOON)
            request = b""
            # JSON in most versions of botocore, a query in the oldest.
            while not re.search(rb"WaitTimeSeconds\W+20", request):
                request += connection.recv(65536)
            (thread,) = [t for t in threading.enumerate() if t.name == "boto_waiters_plus signal"]
            subscription.unsubscribe()
            assert joined([thread])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_its_own_thread(signal, received, fake):
    subscription, plain = signal.subscribe(), Signal()
    assert until(lambda: fake.requests)
    # As if other threads held the locks at the moment of the fork.
    with received.changed, plain.changed:
        child = _in_child(signal, plain, fake)
    child.join(SOON)
    assert child.exitcode == 0
    assert not subscription.is_set()
    fake.put("{}")
    assert subscription.wait(SOON)


def _in_child(signal, plain, fake):
    def work():
        fake.messages = queue.SimpleQueue()
        assert repr(signal) == "EventSignal(waits=0)"
        plain.notify()
        subscription = signal.subscribe()
        fake.put("{}")
        os._exit(0 if subscription.wait(SOON) else 1)

    child = multiprocessing.get_context("fork").Process(target=work)
    thread = threading.Thread(target=child.start)
    thread.start()
    thread.join(SOON)
    return child


ENDING = """
import socket, threading, boto3
from boto_waiters_plus.conditions import wait_for
from boto_waiters_plus.signals import SqsSignal

server = socket.create_server(("127.0.0.1", 0))
sqs = boto3.client(
    "sqs", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x",
    endpoint_url=f"http://127.0.0.1:{server.getsockname()[1]}",
)
signal = SqsSignal("http://127.0.0.1/1/queue", client=sqs)
waiting = threading.Thread(
    target=lambda: wait_for(lambda: None, max_wait=600, interval=60, signal=signal), daemon=True
)
waiting.start()
server.accept()[0].recv(1)
print("ended")
"""


def test_a_program_ends_while_a_signal_receives():
    run = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=60, check=True
    )
    assert (run.stdout, run.stderr) == ("ended\n", "")

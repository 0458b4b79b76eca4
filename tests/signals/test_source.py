"""The thread that receives: when it runs, what ends it, and what errors do."""

import gc
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

from boto_waiters_plus.aws.call_budget import CallEnded
from boto_waiters_plus.conditions import wait_for, wait_for_async
from boto_waiters_plus.signals import SqsSignal, source
from boto_waiters_plus.signals.event_signal import EventSignal, Exchange
from boto_waiters_plus.testing import virtual_time as open_virtual_time

LONG = 120
"""Seconds that a wait takes where nothing wakes it."""
SOON = 30
"""Seconds in which a thread has had its turn on any machine."""


class FakeInbox:
    """A queue in this process; an exception in it is raised by the request that comes to it."""

    def __init__(self):
        self.messages = queue.SimpleQueue()
        self.asked = 0
        self.threads = set()
        self.removed = []
        self.refuses_removal = False

    def put(self, *messages):
        self.messages.put(messages)

    def receive(self, stop):
        self.asked += 1
        self.threads.add(threading.current_thread())
        while not stop.is_set():
            try:
                messages = self.messages.get(timeout=0.005)
            except queue.Empty:
                continue
            if isinstance(messages, Exception):
                raise messages
            return messages
        raise CallEnded("cancelled")

    def body(self, message):
        return message

    def remove(self, messages):
        if self.refuses_removal:
            raise refused("AccessDenied")
        self.removed += messages
        return True


def refused(code):
    return ClientError({"Error": {"Code": code, "Message": "queue secret-queue"}}, "ReceiveMessage")


@pytest.fixture
def inbox(quick, monkeypatch):
    monkeypatch.setattr(source, "FIRST_REST", 0.01)
    return FakeInbox()


@pytest.fixture
def signal(inbox):
    signal = EventSignal(Exchange(inbox), ())
    yield signal
    signal._exchange.source.close()
    for thread in inbox.threads:
        thread.join(SOON)
        assert not thread.is_alive()


def joined(threads):
    """Wait until the threads have ended; whether they have."""
    for thread in threads:
        thread.join(SOON)
    return not any(thread.is_alive() for thread in threads)


def until(condition):
    end = time.monotonic() + SOON
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


def test_a_message_wakes_and_is_removed_then(signal, inbox):
    view = signal.subscribe()
    inbox.put('"a"', '"b"')
    assert view.wait(SOON)
    assert until(lambda: inbox.removed == ['"a"', '"b"'])


def test_the_thread_runs_only_while_there_are_subscribers(signal, inbox):
    assert inbox.asked == 0
    one, two = signal.subscribe(), signal.matching("detail").subscribe()
    assert until(lambda: inbox.asked == 1)
    one.unsubscribe()
    two.unsubscribe()
    assert joined(inbox.threads)
    three = signal.subscribe()
    inbox.put("{}")
    assert three.wait(SOON)
    assert len(inbox.threads) == 2


def test_one_thread_serves_all(signal, inbox):
    views = [signal.matching(f"to == '{number}'").subscribe() for number in range(50)]
    for number in range(50):
        inbox.put(f'{{"to": "{number}"}}')
    assert all(view.wait(SOON) for view in views)
    assert len(inbox.threads) == 1


def test_the_next_wait_takes_over_the_request_in_flight(inbox, signal, monkeypatch):
    monkeypatch.setattr(source, "LINGER", LONG)
    for _ in range(5):
        view = signal.subscribe()
        assert until(lambda: inbox.asked)
        view.unsubscribe()
    view = signal.subscribe()
    inbox.put("{}")
    assert view.wait(SOON)
    assert len(inbox.threads) == 1


def test_no_request_is_made_for_nobody(inbox, signal, monkeypatch):
    monkeypatch.setattr(source, "LINGER", LONG)
    view = signal.subscribe()
    assert until(lambda: inbox.asked)
    view.unsubscribe()
    inbox.put("{}")
    assert joined(inbox.threads)
    assert inbox.asked == 1


def test_a_subscriber_that_is_forgotten_leaves(signal, inbox):
    view = signal.subscribe()
    assert until(lambda: inbox.asked)
    del view
    gc.collect()
    assert joined(inbox.threads)


def test_a_message_that_comes_at_once_counts(signal, inbox, monkeypatch):
    join = source.Source.join

    def join_and_deliver(self, key, listener):
        join(self, key, listener)
        signal.deliver("{}")

    monkeypatch.setattr(source.Source, "join", join_and_deliver)
    assert signal.subscribe().is_set()


def test_to_leave_twice_is_to_leave_once(signal):
    one, two = signal.subscribe(), signal.subscribe()
    one.unsubscribe()
    one.unsubscribe()
    assert repr(signal) == "EventSignal(waits=1)"
    two.unsubscribe()


def test_closing_ends_the_thread_and_no_wait(signal, inbox):
    full = threading.Event()
    looked = threading.Semaphore(0)

    def look():
        looked.release()
        return full.is_set()

    def wait():
        wait_for(look, max_wait=LONG, interval=0.05, signal=signal)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert looked.acquire(timeout=SOON)
    assert until(lambda: inbox.asked)
    signal._exchange.source.close()
    assert joined(inbox.threads)
    full.set()
    waiting.join(SOON)
    assert not waiting.is_alive()


def test_a_task_that_is_cancelled_leaves(signal, inbox):
    import asyncio  # noqa: PLC0415 - the one test that has a loop

    async def main():
        task = asyncio.ensure_future(
            wait_for_async(lambda: False, max_wait=LONG, signal=signal, polling=False)
        )
        while not inbox.asked:  # noqa: ASYNC110 - a thread, which sets no event
            await asyncio.sleep(0.002)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert repr(signal) == "EventSignal(waits=0)"
    assert joined(inbox.threads)


def test_no_thread_is_started_in_virtual_time(signal, inbox):
    with open_virtual_time():
        view = signal.subscribe()
        assert signal._exchange.source._thread is None
        assert repr(signal) == "EventSignal(waits=1)"
        signal.deliver("{}")
        assert view.is_set()
        view.unsubscribe()


# --- errors --------------------------------------------------------------------------------------


def test_errors_end_neither_waits_nor_the_thread(signal, inbox):
    for code in ["Throttling", "AccessDenied"]:
        inbox.messages.put(refused(code))
    inbox.messages.put(RuntimeError("a handler of the user's"))
    inbox.put("{}")
    wait_for(iter([False, True]).__next__, max_wait=LONG, signal=signal, polling=False)
    assert inbox.asked >= 4
    assert signal._exchange.source.error is None


def test_an_outage_is_told_once_by_its_code_alone(signal, inbox, caplog):
    with caplog.at_level(logging.INFO, "boto_waiters_plus"):
        for code in ["Throttling", "Throttling", "Throttling", "AccessDenied"]:
            inbox.messages.put(refused(code))
        inbox.put("{}")
        assert signal.subscribe().wait(SOON)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "(Throttling)" in caplog.messages[0]
    assert "(AccessDenied)" in caplog.messages[1]
    assert "secret" not in caplog.text


def test_the_last_error_can_be_asked_for(signal, inbox):
    error = refused("AccessDenied")
    inbox.messages.put(error)
    view = signal.subscribe()
    assert until(lambda: signal._exchange.source.error is error)
    assert error.__traceback__ is None
    view.unsubscribe()


def test_pauses_after_errors_grow_to_a_bound(signal, inbox, monkeypatch):
    monkeypatch.setattr(source, "FIRST_REST", 1.0)
    rests = []
    monkeypatch.setattr(source.Source, "_rest", lambda self, seconds, until: rests.append(seconds))
    for _ in range(12):
        inbox.messages.put(refused("Throttling"))
    inbox.put("{}")
    inbox.messages.put(refused("Throttling"))
    view = signal.subscribe()
    assert until(lambda: len(rests) == 13)
    view.unsubscribe()
    for number, rest in enumerate(rests[:12]):
        most = min(60, 2**number)
        assert most / 2 <= rest <= most
    # An answer ends the outage.
    assert rests[12] <= 1


def test_a_pause_after_errors_ends_with_the_last_wait(signal, inbox, monkeypatch):
    monkeypatch.setattr(source, "FIRST_REST", 1000.0)
    inbox.messages.put(refused("AccessDenied"))
    view = signal.subscribe()
    assert until(lambda: signal._exchange.source.error)
    view.unsubscribe()
    assert joined(inbox.threads)


def test_messages_that_cannot_be_deleted_wake_all_the_same(signal, inbox, caplog):
    inbox.refuses_removal = True
    view = signal.subscribe()
    for _ in range(3):
        inbox.put("{}")
        assert view.wait(SOON)
        view.clear()
    assert until(lambda: inbox.asked == 4)
    # Once, though receiving went well in between.
    (told,) = caplog.messages
    assert told.startswith("a signal cannot delete")
    assert "(AccessDenied)" in told
    assert signal._exchange.source.error.response["Error"]["Code"] == "AccessDenied"
    inbox.refuses_removal = False
    inbox.put("{}")
    assert until(lambda: signal._exchange.source.error is None)


def test_a_queue_that_does_not_block_is_not_asked_without_end(signal, inbox, monkeypatch):
    rests = []
    monkeypatch.setattr(source, "SHORTEST_ROUND", 5.0)
    original = source.Source._rest

    def rest(self, seconds, until):
        rests.append(seconds)
        original(self, min(seconds, 0.01), until)

    monkeypatch.setattr(source.Source, "_rest", rest)
    inbox.put()
    view = signal.subscribe()
    assert until(lambda: rests)
    assert 4 < rests[0] <= 5
    view.unsubscribe()


def test_where_no_thread_can_be_had_the_wait_polls(signal, inbox, monkeypatch, caplog):
    def no_more(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_more)
    wait_for(iter([False, True]).__next__, max_wait=LONG, interval=0.01, signal=signal)
    assert "RuntimeError" in caplog.text


# --- the world outside ---------------------------------------------------------------------------


def test_the_request_in_flight_is_ended(quick):
    """A long poll that is never answered, on a client that would listen for a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sqs = boto3.session.Session(region_name="us-east-1").client(
            "sqs",
            endpoint_url=f"http://127.0.0.1:{server.getsockname()[1]}",
            config=Config(read_timeout=60, retries={"total_max_attempts": 1}),
        )
        signal = SqsSignal("http://127.0.0.1/1/queue", client=sqs)
        view = signal.subscribe()
        server.settimeout(SOON)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(SOON)
            request = b""
            # JSON in most versions of botocore, a query in the oldest.
            while not re.search(rb"WaitTimeSeconds\W+20", request):
                request += connection.recv(65536)
            (thread,) = [t for t in threading.enumerate() if t.name == "boto_waiters_plus signal"]
            view.unsubscribe()
            assert joined([thread])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_has_a_thread_of_its_own(signal, inbox):
    view = signal.subscribe()
    assert until(lambda: inbox.asked)
    # As if the thread held them at the moment of the fork.
    with signal._exchange.source._changed, signal._board.changed:
        child = _in_child(signal, inbox)
    child.join(SOON)
    assert child.exitcode == 0
    assert not view.is_set()
    inbox.put("{}")
    assert view.wait(SOON)


def _in_child(signal, inbox):
    def work():
        inbox.messages = queue.SimpleQueue()
        assert repr(signal) == "EventSignal(waits=0)"
        view = signal.subscribe()
        inbox.put("{}")
        os._exit(0 if view.wait(SOON) else 1)

    child = multiprocessing.get_context("fork").Process(target=work)
    thread = threading.Thread(target=child.start)
    thread.start()
    thread.join(SOON)
    return child


LEAVING = """
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
print("left")
"""


def test_a_program_can_end_while_a_signal_receives():
    run = subprocess.run(
        [sys.executable, "-c", LEAVING], capture_output=True, text=True, timeout=60, check=True
    )
    assert (run.stdout, run.stderr) == ("left\n", "")

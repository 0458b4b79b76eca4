"""Receiving from a socket, over a fork, at the end of a program, and at intervals."""

import multiprocessing
import os
import queue
import re
import socket
import subprocess
import sys
import threading

import pytest
from botocore.config import Config

from boto_waiters_plus.signals import Signal, SqsSignal

from .conftest import SESSION, SOON, joined, receivers, until

pytestmark = pytest.mark.nightly(subject="wire")


def test_unsubscribing_ends_the_request_in_flight():
    """A long poll that is never answered, by a client with a read timeout of a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sqs = SESSION.client(
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
            (thread,) = receivers()
            subscription.unsubscribe()
            assert joined([thread])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_its_own_thread(signal, fake):
    subscription, plain = signal.subscribe(), Signal()
    assert until(lambda: fake.requests)
    # As if other threads held the locks at the moment of the fork.
    with signal._receiver.changed, plain.changed:
        child = _in_child(signal, plain, fake)
    child.join(SOON)
    assert child.exitcode == 0
    assert not subscription.is_set()
    fake.put("{}")
    assert subscription.wait(SOON)


def _in_child(signal, plain, fake):
    def work():
        fake.messages = queue.SimpleQueue()
        assert repr(signal) == "SqsSignal(waits=0)"
        plain.notify()
        subscription = signal.subscribe()
        fake.put("{}")
        os._exit(0 if subscription.wait(SOON) else 1)

    child = multiprocessing.get_context("fork").Process(target=work)
    thread = threading.Thread(target=child.start)
    thread.start()
    thread.join(SOON)
    return child


def test_a_program_ends_while_a_signal_receives():
    run = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=SOON, check=True
    )
    assert (run.stdout, run.stderr) == ("ended\n", "")


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


def test_an_empty_queue_is_polled_at_intervals(signal, fake, pauses):
    pauses.factor = 0.1
    for _ in range(2):
        fake.put()
    subscription = signal.subscribe()
    assert until(lambda: len(fake.requests) == 3)
    assert fake.requests[2] - fake.requests[0] > 0.19
    subscription.unsubscribe()

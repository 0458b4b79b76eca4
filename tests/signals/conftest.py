"""A queue on moto, a queue in this process, and no thread that outlives its test."""

import queue
import threading
import time
from types import SimpleNamespace

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from moto import mock_aws

from boto_waiters_plus.signals import EventSignal, receiver
from boto_waiters_plus.signals.receiver import Receiver

LONG = 120
"""Seconds that a wait takes if nothing wakes it."""
SOON = 60
"""Seconds in which a thread runs on any machine."""

# One session for all: it reads a service's model once.
SESSION = boto3.session.Session(region_name="us-east-1")
URL = "https://sqs.us-east-1.amazonaws.com/123456789012/secret-queue"


def receivers():
    """Return the threads that receive messages now."""
    return [t for t in threading.enumerate() if t.name == "boto_waiters_plus signal"]


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


@pytest.fixture(scope="module")
def sqs():
    return SESSION.client("sqs")


@pytest.fixture
def quick(monkeypatch):
    """Let threads end, and poll an empty queue again, at once."""
    monkeypatch.setattr(receiver, "IDLE_TIMEOUT", 0.02)
    monkeypatch.setattr(receiver, "SHORTEST_ROUND", 0.02)


@pytest.fixture
def aws(quick):
    """Clients of moto. The read timeout of the SQS client is too short for long polls."""
    with mock_aws():
        sqs = SESSION.client("sqs", config=Config(read_timeout=1))
        url = sqs.create_queue(QueueName="changes")["QueueUrl"]
        yield SimpleNamespace(
            client=SESSION.client, resource=SESSION.resource, sqs=sqs, url=url, receivers=receivers
        )
        assert joined(receivers())


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

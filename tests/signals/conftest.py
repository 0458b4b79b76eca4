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

from boto_waiters_plus.signals import SqsSignal

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
def pauses(monkeypatch):
    """Multiplies the pauses of receivers after errors, and between requests, by its `factor`."""
    pauses, wait_for = SimpleNamespace(factor=0.01), threading.Condition.wait_for

    def wait(condition, predicate, timeout=None):
        is_pause = timeout is not None and threading.current_thread() in receivers()
        return wait_for(condition, predicate, timeout * pauses.factor if is_pause else timeout)

    monkeypatch.setattr(threading.Condition, "wait_for", wait)
    return pauses


@pytest.fixture
def aws(pauses):
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

    url = "https://sqs.us-east-1.amazonaws.com/123456789012/events"

    def __init__(self):
        # The calls of such a client run in threads that can be abandoned.
        self.client = SESSION.client("sqs", config=Config(retries={"mode": "adaptive"}))
        self.client.receive_message, self.client.delete_message_batch = self.receive, self.delete
        self.messages, self.threads = queue.SimpleQueue(), set()
        self.requests, self.deleted = [], []
        self.refuses_deletion = self.is_closed = False

    def put(self, *bodies):
        self.messages.put([{"Body": body, "ReceiptHandle": body} for body in bodies])

    def receive(self, **_):
        self.threads.update(receivers())
        self.requests.append(time.monotonic())
        number = len(self.requests)
        while not self.is_closed and number == len(self.requests):
            try:
                messages = self.messages.get(timeout=0.005)
            except queue.Empty:
                continue
            if number < len(self.requests):
                # This one was abandoned.
                self.messages.put(messages)
                break
            if isinstance(messages, Exception):
                raise messages
            return {"Messages": messages}
        return {}

    def delete(self, Entries, **_):  # noqa: N803 - as SQS names it
        if self.refuses_deletion:
            raise refused("AccessDenied")
        self.deleted += [entry["ReceiptHandle"] for entry in Entries]


def refused(code):
    return ClientError({"Error": {"Code": code, "Message": "queue secret-queue"}}, "ReceiveMessage")


@pytest.fixture
def fake(pauses):
    fake = FakeQueue()
    yield fake
    fake.is_closed = True


@pytest.fixture
def signal(fake):
    """A signal of the queue."""
    with SqsSignal(fake.url, client=fake.client) as signal:
        yield signal
    assert joined(fake.threads)

"""A queue on moto, and no thread that outlives its test."""

import threading
from types import SimpleNamespace

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from boto_waiters_plus.signals import receiver

SOON = 30
"""Seconds in which a thread runs on any machine."""

# One session for all: it reads a service's model once.
SESSION = boto3.session.Session(region_name="us-east-1")


def receivers():
    """Return the threads that receive messages now."""
    return [t for t in threading.enumerate() if t.name == "boto_waiters_plus signal"]


def join_receivers():
    for thread in receivers():
        thread.join(SOON)
        assert not thread.is_alive()


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
            client=SESSION.client,
            resource=SESSION.resource,
            sqs=sqs,
            url=url,
            receivers=receivers,
        )
        join_receivers()

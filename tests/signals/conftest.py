"""A queue on moto, and no thread that outlives its test."""

import threading
from types import SimpleNamespace

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.signals import source

SOON = 30
"""Seconds in which a thread has had its turn on any machine."""

# One session for all: it reads a service's model once.
SESSION = boto3.session.Session(region_name="us-east-1")


def receivers():
    """The threads that receive messages now."""
    return [t for t in threading.enumerate() if t.name == "boto_waiters_plus signal"]


def join_receivers():
    for thread in receivers():
        thread.join(SOON)
        assert not thread.is_alive()


@pytest.fixture
def quick(monkeypatch):
    """Threads end, and ask an empty queue again, at once."""
    monkeypatch.setattr(source, "LINGER", 0.02)
    monkeypatch.setattr(source, "SHORTEST_ROUND", 0.02)


@pytest.fixture
def aws(quick, monkeypatch):
    """Clients of a small AWS. That of SQS listens too briefly for long polls."""
    bwp.uninstall()
    # moto's more than a thousand machine images take longer than all the rest
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
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

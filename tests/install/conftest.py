"""Every test begins and ends with botocore as its own; clients are answered without a network."""

from types import SimpleNamespace
from unittest import mock

import boto3
import botocore
import pytest
from botocore.loaders import create_loader

import boto_waiters_plus as bwp

LOADER = create_loader()


@pytest.fixture(autouse=True)
def _alone(request):
    bwp.uninstall()
    # Reading the models anew for every test would be most of the time; where a test is about
    # the search path, its sessions have loaders of their own.
    shared = "config" not in request.fixturenames
    if shared:
        botocore.register_initializer(_share_loader)
    with mock.patch.object(boto3, "DEFAULT_SESSION", None):
        yield
    if shared:
        botocore.unregister_initializer(_share_loader)
    # A wrapper that lay below a test's own was left to pass through: take it off.
    bwp.install()
    bwp.uninstall()


def _share_loader(session):
    session.register_component("data_loader", LOADER)


@pytest.fixture
def answer():
    """`answer(client, parsed)`: every call of the client gives it; the list of calls."""

    def register(client, parsed, status=200):
        calls = []

        def handle(model, **_):
            calls.append(model.name)
            metadata = {"HTTPStatusCode": status}
            return SimpleNamespace(status_code=status), {**parsed, "ResponseMetadata": metadata}

        client.meta.events.register("before-call", handle)
        return calls

    return register


@pytest.fixture
def active():
    """The answer on which `stream_exists` ends."""
    return {"StreamDescription": {"StreamStatus": "ACTIVE"}}


@pytest.fixture
def creating():
    """The answer on which `stream_exists` goes on."""
    return {"StreamDescription": {"StreamStatus": "CREATING"}}


def smithy(name, *, operation="DescribeStream", expected="ACTIVE", **members):
    """A definition of one waiter, as Smithy JSON AST."""
    acceptor = {
        "state": "success",
        "matcher": {
            "output": {
                "path": "StreamDescription.StreamStatus",
                "expected": expected,
                "comparator": "stringEquals",
            }
        },
    }
    body = {"acceptors": [acceptor], **members}
    shape = {"type": "apply", "traits": {"smithy.waiters#waitable": {name: body}}}
    return {"smithy": "2.0", "shapes": {f"com.amazonaws.kinesis#{operation}": shape}}


@pytest.fixture
def definition():
    """`definition(name, operation=, expected=, **members)`."""
    return smithy

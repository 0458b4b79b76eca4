"""Every test begins and ends with stock botocore; clients are answered without a network."""

import time
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore
import pytest
from botocore.loaders import create_loader

import boto_waiters_plus as bwp

LOADER = create_loader()


@pytest.fixture(autouse=True)
def _stock_botocore(request):
    bwp.uninstall()
    # Reading and parsing the models anew for every test would be most of the time; sessions of
    # tests about the search path have loaders of their own.
    shared = "config" not in request.fixturenames
    if shared:
        botocore.register_initializer(_share_loader)
    with mock.patch.object(boto3, "DEFAULT_SESSION", None):
        yield
    if shared:
        botocore.unregister_initializer(_share_loader)
    # A wrapper below a test's own was left to pass through: take it off.
    bwp.install()
    bwp.uninstall()


def _share_loader(session):
    session.register_component("data_loader", LOADER)


class Answers:
    """Parsed responses for a client, or functions that return one; the last is repeated.

    An answer with an `Error` becomes a ClientError, as from the service.
    """

    def __init__(self, client, *answers, status=200):
        self.requests = []
        self.operations = []
        self.parsed = answers[0]
        self._answers = list(answers)
        self._status = status
        client.meta.events.register("before-call", self._answer)

    def _answer(self, params, model, **_):
        self.requests.append(params)
        self.operations.append(model.name)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        parsed = dict(answer() if callable(answer) else answer)
        status = 400 if "Error" in parsed else self._status
        metadata = {"HTTPStatusCode": status, "RequestId": "request-1", "RetryAttempts": 0}
        parsed["ResponseMetadata"] = {**metadata, **parsed.get("ResponseMetadata", {})}
        return SimpleNamespace(status_code=parsed["ResponseMetadata"]["HTTPStatusCode"]), parsed


@pytest.fixture
def answers():
    """`answers(client, *parsed, status=200)`."""
    return Answers


@pytest.fixture
def s3():
    """A client with `wait_until_*` methods."""
    bwp.install()
    return boto3.client("s3")


@pytest.fixture
def active():
    """The response on which `stream_exists` succeeds."""
    return {"StreamDescription": {"StreamStatus": "ACTIVE"}}


@pytest.fixture
def creating():
    """The response on which `stream_exists` retries."""
    return {"StreamDescription": {"StreamStatus": "CREATING"}}


def error(code, message="", status=400):
    return {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


@pytest.fixture
def missing():
    """The answer to a HEAD request for a resource that does not exist."""
    return error("404", "Not Found", 404)


@pytest.fixture
def error_answer():
    """`error_answer(code, message, status)`."""
    return error


@pytest.fixture
def sleeps():
    """No sleep takes time; the seconds that were asked for."""
    asked = []
    with mock.patch.object(time, "sleep", asked.append):
        yield asked


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

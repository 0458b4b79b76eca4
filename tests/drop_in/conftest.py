"""Every test begins and ends with botocore as its own; clients are answered without a network."""

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
def _alone():
    bwp.uninstall()
    botocore.register_initializer(_share_loader)
    with mock.patch.object(boto3, "DEFAULT_SESSION", None):
        yield
    botocore.unregister_initializer(_share_loader)
    bwp.uninstall()


def _share_loader(session):
    # Reading and parsing the models anew for every test would be most of the time.
    session.register_component("data_loader", LOADER)


class Answers:
    """What a client is answered with, and what it asked.

    Answers are parsed responses or functions that give one; the last is repeated. An answer with
    an `Error` becomes a ClientError, as from the service.
    """

    def __init__(self, client, *answers):
        self.requests = []
        self._answers = list(answers)
        client.meta.events.register("before-call", self._answer)

    def _answer(self, params, **_):
        self.requests.append(params)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        parsed = dict(answer() if callable(answer) else answer)
        status = 400 if "Error" in parsed else 200
        metadata = {"HTTPStatusCode": status, "RequestId": "request-1", "RetryAttempts": 0}
        parsed["ResponseMetadata"] = {**metadata, **parsed.get("ResponseMetadata", {})}
        return SimpleNamespace(status_code=parsed["ResponseMetadata"]["HTTPStatusCode"]), parsed


@pytest.fixture
def answers():
    """`answers(client, *parsed)`."""
    return Answers


def error(code, message="", status=400):
    return {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


@pytest.fixture
def missing():
    """The answer of a HEAD request for what does not exist."""
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

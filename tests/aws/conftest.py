"""Every test begins and ends with botocore as its own."""

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
    """What a client is answered with instead of asking AWS, and what it asked.

    Answers are parsed responses, exceptions to raise, or functions that give one of them; the
    last is repeated. An answer with an `Error` becomes a ClientError, as from the service.
    """

    def __init__(self, client, *answers):
        self.requests = []
        self._answers = list(answers)
        client.meta.events.register("before-call", self._answer)

    def _answer(self, params, **_):
        self.requests.append(params)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        answer = answer() if callable(answer) else answer
        if isinstance(answer, BaseException):
            raise answer
        status = 400 if "Error" in answer else 200
        metadata = {"HTTPStatusCode": status, "RequestId": "request-1"}
        metadata.update(answer.get("ResponseMetadata", {}))
        http = SimpleNamespace(status_code=metadata["HTTPStatusCode"])
        return http, {**answer, "ResponseMetadata": metadata}


@pytest.fixture
def answers():
    """`answers(client, *answers)`."""
    return Answers


@pytest.fixture
def error():
    """`error(code, message, status, **details)`: the answer of a service that says no."""

    def make(code, message="", status=400, **details):
        return {
            "Error": {"Code": code, "Message": message, **details},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }

    return make


@pytest.fixture
def waitable():
    """`waitable(name, operation, *acceptors, **members)`: a document of one waiter."""

    def make(name, operation, *acceptors, namespace="example", **members):
        waiters = {name: {"acceptors": list(acceptors), **members}}
        shape = {"type": "apply", "traits": {"smithy.waiters#waitable": waiters}}
        return {"smithy": "2.0", "shapes": {f"{namespace}#{operation}": shape}}

    return make

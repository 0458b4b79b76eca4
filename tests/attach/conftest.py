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
    """What a client is answered with instead of asking AWS, and what it asked."""

    def __init__(self, client, parsed, status=200):
        self.requests = []
        self.parsed, self.status = parsed, status
        client.meta.events.register("before-call", self._answer)

    def _answer(self, params, **_):
        self.requests.append(params)
        metadata = {"HTTPStatusCode": self.status}
        return SimpleNamespace(status_code=self.status), {
            "ResponseMetadata": metadata,
            **self.parsed,
        }


@pytest.fixture
def answers():
    """`answers(client, parsed, status=200)`."""
    return Answers


@pytest.fixture
def s3():
    """A client that is attached."""
    bwp.install()
    return boto3.client("s3")

"""A client whose stream becomes active, and stores in both databases."""

import boto3
import pytest

import boto_waiters_plus as bwp

SESSION = boto3.session.Session(region_name="us-east-1")


@pytest.fixture(autouse=True)
def _stock(stock_botocore):
    yield
    bwp.uninstall()


@pytest.fixture
def stream(answers):
    """`stream(*answers)`: a kinesis client that gives these answers."""

    def make(*replies):
        client = SESSION.client("kinesis")
        client.answers = answers(client, *replies)
        return client

    return make

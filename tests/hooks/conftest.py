"""A client that most of these tests wait on."""

import boto3
import pytest


@pytest.fixture
def kinesis(answers, active):
    """`kinesis(session)`: a client whose streams are active; `operations` are those it called."""

    def make(session=boto3):
        client = session.client("kinesis")
        client.operations = answers(client, active).operations
        return client

    return make

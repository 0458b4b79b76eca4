"""Clients of a small AWS."""

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp


@pytest.fixture(autouse=True)
def _small_aws():
    with mock_aws():
        yield


# One session for all: it reads a service's model once.
SESSION = boto3.session.Session(region_name="us-east-1")


@pytest.fixture
def s3():
    client = SESSION.client("s3")
    client.create_bucket(Bucket="first")
    client.create_bucket(Bucket="second")
    return client


@pytest.fixture
def exists():
    """`exists(client, bucket)`: a wait for it."""

    def wait(client, bucket, max_wait=100, **options):
        return bwp.Wait(client, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)

    return wait


@pytest.fixture
def dynamodb():
    return SESSION.client("dynamodb")

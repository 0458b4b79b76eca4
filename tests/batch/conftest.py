"""Clients of a small AWS, and the functions for many waits in every form."""

import asyncio

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp


@pytest.fixture
def small_aws():
    """A small AWS of this test's own."""
    with mock_aws():
        yield


# One session for all: it reads a service's model once.
SESSION = boto3.session.Session(region_name="us-east-1")


@pytest.fixture
def client_of(small_aws):
    """`client_of(service)`: a client that is not hooked."""
    return SESSION.client


@pytest.fixture
def s3(small_aws):
    client = SESSION.client("s3")
    client.create_bucket(Bucket="first")
    client.create_bucket(Bucket="second")
    return client


@pytest.fixture
def dynamodb(small_aws):
    return SESSION.client("dynamodb")


@pytest.fixture
def exists():
    """`exists(client, bucket)`: a wait for it."""

    def wait(client, bucket, max_wait=100, **options):
        return bwp.Wait(client, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)

    return wait


# --- the forms ----------------------------------------------------------------------------------


def all_in_task(waits, **options):
    return asyncio.run(bwp.wait_all_async(waits, **options))


def any_in_task(waits, **options):
    return asyncio.run(bwp.wait_any_async(waits, **options))


def completed(waits, **options):
    return list(bwp.as_completed(waits, **options))


def completed_in_task(waits, **options):
    async def main():
        return [each async for each in bwp.as_completed_async(waits, **options)]

    return asyncio.run(main())


@pytest.fixture(params=[bwp.wait_all, all_in_task], ids=["blocking", "task"])
def all_of(request):
    """`wait_all` in both forms."""
    return request.param


@pytest.fixture(params=[bwp.wait_any, any_in_task], ids=["blocking", "task"])
def any_of(request):
    """`wait_any` in both forms."""
    return request.param


@pytest.fixture(params=[completed, completed_in_task], ids=["blocking", "task"])
def completing(request):
    """`as_completed` in both forms, as a list."""
    return request.param


@pytest.fixture(params=["all", "all in a task", "completed", "completed in a task"])
def results_of(request):
    """`results_of(waits)`: their results in order, by every function that runs all."""
    match request.param:
        case "all":
            return lambda waits, **options: bwp.wait_all(waits, on_failure="collect", **options)
        case "all in a task":
            return lambda waits, **options: all_in_task(waits, on_failure="collect", **options)
    function = completed if request.param == "completed" else completed_in_task

    def run(waits, **options):
        found = dict(function(waits, **options))
        return [found[wait] for wait in waits]

    return run

"""Clients of a small AWS, and the functions for many waits in every form."""

import asyncio
from functools import partial

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp

# One session for all: it reads a service's model once.
SESSION = boto3.session.Session(region_name="us-east-1")


@pytest.fixture
def client_of():
    """`client_of(service)`: a client, not hooked, of a small AWS of this test's own."""
    with mock_aws():
        yield SESSION.client


@pytest.fixture
def s3(client_of):
    client = client_of("s3")
    for bucket in ("first", "second"):
        client.create_bucket(Bucket=bucket)
    return client


@pytest.fixture
def exists():
    """`exists(client, bucket)`: a wait for it."""

    def wait(client, bucket, max_wait=100, **options):
        return bwp.Wait(client, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)

    return wait


@pytest.fixture
def kinds_told():
    """The kinds of all events."""
    kinds = []
    bwp.install(on_event=lambda event: kinds.append(event.kind))
    return kinds


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


def both_forms(blocking, in_task):
    @pytest.fixture(params=[blocking, in_task], ids=["blocking", "task"])
    def form(request):
        return request.param

    return form


all_of = both_forms(bwp.wait_all, all_in_task)
any_of = both_forms(bwp.wait_any, any_in_task)
completing = both_forms(completed, completed_in_task)


def in_order(function, waits, **options):
    found = dict(function(waits, **options))
    return [found[wait] for wait in waits]


RESULTS_OF = {
    "all": partial(bwp.wait_all, on_failure="collect"),
    "all in a task": partial(all_in_task, on_failure="collect"),
    "completed": partial(in_order, completed),
    "completed in a task": partial(in_order, completed_in_task),
}


@pytest.fixture(params=RESULTS_OF.values(), ids=RESULTS_OF)
def results_of(request):
    """`results_of(waits)`: their results in order, by every function that runs all."""
    return request.param

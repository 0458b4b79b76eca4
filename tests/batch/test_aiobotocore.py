"""aiobotocore clients among the waits."""

import asyncio
import collections
import json
from urllib.parse import urlsplit

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, wait_all, wait_all_async, wait_any_async
from boto_waiters_plus.conditions import ConditionWait

aiosession = pytest.importorskip("aiobotocore.session", reason="aiobotocore is not installed")
awsrequest = pytest.importorskip("aiobotocore.awsrequest")


class Raw:
    raw_headers = ()  # aiobotocore 2 reads them

    def __init__(self, text=""):
        self._text = text

    async def read(self):
        return self._text.encode()


def with_client(function, service="s3", answer=None):
    """Run a coroutine function of a client; `answer(request)` gives a status and a text."""

    async def send(request, **_):
        await asyncio.sleep(0)
        status, text = answer(request)
        return awsrequest.AioAWSResponse(request.url, status, {}, Raw(text))

    async def run():
        session = aiosession.get_session()
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        async with session.create_client(service, region_name="us-east-1", **keys) as client:
            if answer is not None:
                client.meta.events.register(f"before-send.{service}", send)
            return await function(client)

    return asyncio.run(run())


@pytest.fixture
def buckets():
    """The number of polls by bucket; "late" exists from the third attempt on."""
    return collections.Counter()


@pytest.fixture
def with_buckets(buckets):
    """`with_buckets(function)`: run it with a client of these."""

    def answer(request):
        name = urlsplit(request.url).hostname.partition(".")[0]
        buckets[name] += 1
        is_there = name == "now" or (name == "late" and buckets[name] >= 3)
        return (200 if is_there else 404), ""

    return lambda function: with_client(function, answer=answer)


def test_aiobotocore_clients_are_awaited(exists, buckets, with_buckets, virtual_time):
    async def state():
        return virtual_time.now >= 3

    async def run(client):
        waits = [
            exists(client, "late", delay_pace=lambda _: 10),
            exists(client, "now"),
            Wait(client, "bucket_not_exists", {"Bucket": "never"}, max_wait=10),
            ConditionWait(state, interval=1),
            ConditionWait(lambda: "plain"),
        ]
        return await wait_all_async(waits, max_wait=100)

    outcomes = with_buckets(run)
    assert buckets == {"late": 3, "now": 1, "never": 1}
    assert [outcome.attempts for outcome in outcomes] == [3, 1, 1, 4, 1]
    assert [outcome.elapsed for outcome in outcomes][:3] == [20, 0, 0]
    assert isinstance(outcomes[2], bwp.ExceptionOutcome)


def test_first_success_ends_the_others(exists, with_buckets, virtual_time):
    async def run(client):
        waits = [exists(client, name, delay_pace=lambda _: 10) for name in ("never", "late")]
        wait, outcome = await wait_any_async(waits)
        assert (wait, outcome.attempts) == (waits[1], 3)

    with_buckets(run)


def test_kinds_of_clients_do_not_mix(exists, buckets, with_buckets):
    blocking = boto3.client("s3", region_name="us-east-1")

    async def run(client):
        with pytest.raises(TypeError, match=r"waits\[0\]"):
            wait_all([exists(client, "now")])
        with pytest.raises(TypeError, match=r"waits\[1\]"):
            await wait_all_async([exists(blocking, "now"), exists(client, "now")])

    with_buckets(run)
    assert not buckets


def test_closed_client_is_the_error_of_its_wait(exists, virtual_time):
    async def run(client):
        return client

    client = with_client(run)
    results = asyncio.run(wait_all_async([exists(client, "now")], on_failure="collect"))
    assert isinstance(results[0], Exception)


def test_awaited_waits_are_screened(virtual_time):
    calls = collections.Counter()
    names = [f"job-{number}" for number in range(20)]

    def answer(request):
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        calls[operation] += 1
        found = {"TrainingJobStatus": "Completed" if virtual_time.now >= 15 else "InProgress"}
        if operation == "ListTrainingJobs":
            found = {"TrainingJobSummaries": [{"TrainingJobName": n, **found} for n in names]}
        return 200, json.dumps(found)

    async def run(client):
        options = {"min_delay": 10, "max_delay": 10, "max_wait": 100}
        waits = [
            Wait(client, "TrainingJobCompleted", {"TrainingJobName": name}, **options)
            for name in names
        ]
        return await wait_all_async(waits)

    outcomes = with_client(run, "sagemaker", answer)
    assert {outcome.elapsed for outcome in outcomes} == {20}
    assert calls == {"ListTrainingJobs": 3, "DescribeTrainingJob": 20}

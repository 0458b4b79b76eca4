"""aiobotocore clients among the waits."""

import asyncio
import collections

import boto3
import pytest
from aio.clients import KEYS, awaited_client
from batch.calls import parsed, run_awaited

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, wait_all, wait_all_async
from boto_waiters_plus.conditions import ConditionWait


@pytest.fixture
def buckets():
    """The number of polls by bucket; "late" exists from the third attempt on."""
    return collections.Counter()


@pytest.fixture
def with_buckets(buckets):
    """`with_buckets(function)`: run it with a client of these."""

    def answer(params, **_):
        name = next(each for each in ("now", "late", "never") if each in params["url"])
        buckets[name] += 1
        is_there = name == "now" or (name == "late" and buckets[name] >= 3)
        return parsed({}) if is_there else parsed({"Error": {"Code": "404"}}, 404)

    def run(function):
        async def main():
            async with awaited_client("s3", **KEYS) as client:
                client.meta.events.register("before-call", answer)
                return await function(client)

        return asyncio.run(main())

    return run


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


def test_kinds_of_clients_do_not_mix(exists, buckets, with_buckets):
    blocking = boto3.client("s3", region_name="us-east-1")

    async def run(client):
        with pytest.raises(TypeError, match=r"waits\[0\]"):
            wait_all([exists(client, "now")])
        with pytest.raises(TypeError, match=r"waits\[1\]"):
            await wait_all_async([exists(blocking, "now"), exists(client, "now")])

    with_buckets(run)
    assert not buckets


def test_awaited_waits_are_screened(virtual_time):
    calls = collections.Counter()
    names = [f"job-{number}" for number in range(20)]

    def answer(_name, params):
        operation = params["headers"]["X-Amz-Target"].rpartition(".")[2]
        calls[operation] += 1
        found = {"TrainingJobStatus": "Completed" if virtual_time.now >= 15 else "InProgress"}
        if operation == "ListTrainingJobs":
            found = {"TrainingJobSummaries": [{"TrainingJobName": n, **found} for n in names]}
        return 0, found

    def waits(clients):
        options = {"min_delay": 10, "max_delay": 10, "max_wait": 100}
        for name in names:
            asked = {"TrainingJobName": name}
            yield Wait(clients["us-east-1"], "TrainingJobCompleted", asked, **options)

    outcomes = run_awaited(["us-east-1"], answer, waits, service="sagemaker", screen=True)
    assert {outcome.elapsed for outcome in outcomes} == {20}
    assert calls == {"ListTrainingJobs": 3, "DescribeTrainingJob": 20}

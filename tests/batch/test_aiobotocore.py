"""aiobotocore clients among the waits."""

import asyncio
import collections
import json
from urllib.parse import parse_qsl, urlsplit

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import ConditionWait
from boto_waiters_plus.many import (
    Wait,
    wait_all,
    wait_all_async,
    wait_any_async,
)

aiosession = pytest.importorskip("aiobotocore.session", reason="aiobotocore is not installed")
awsrequest = pytest.importorskip("aiobotocore.awsrequest")


class Raw:
    raw_headers = ()  # aiobotocore 2 reads them

    async def read(self):
        return b""


def buckets(client, ready_at):
    """Answers HeadBucket without a network; a bucket exists from some attempt on."""
    polls = {}

    async def send(request, **_):
        await asyncio.sleep(0)
        name = urlsplit(request.url).hostname.partition(".")[0]
        polls[name] = polls.get(name, 0) + 1
        status = 200 if polls[name] >= ready_at.get(name, 1) else 404
        return awsrequest.AioAWSResponse(request.url, status, {}, Raw())

    client.meta.events.register("before-send.s3", send)
    return polls


def with_client(function, service="s3"):
    async def run():
        session = aiosession.get_session()
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        async with session.create_client(service, region_name="us-east-1", **keys) as client:
            return await function(client)

    return asyncio.run(run())


def exists(client, bucket, **options):
    return Wait(client, "bucket_exists", {"Bucket": bucket}, max_wait=100, **options)


def test_aiobotocore_clients_are_awaited(virtual_time):
    async def run(client):
        polls = buckets(client, {"late": 3, "never": 1000})
        waits = [
            exists(client, "late", delay_pace=lambda _: 10),
            exists(client, "now"),
            Wait(client, "bucket_not_exists", {"Bucket": "never"}, max_wait=10),
        ]
        outcomes = await wait_all_async(waits)
        assert polls == {"late": 3, "now": 1, "never": 1}
        return outcomes

    outcomes = with_client(run)
    assert [outcome.attempts for outcome in outcomes] == [3, 1, 1]
    assert [outcome.elapsed for outcome in outcomes] == [20, 0, 0]
    assert isinstance(outcomes[2], bwp.ExceptionOutcome)


def test_conditions_run_beside_aiobotocore_clients(virtual_time):
    async def state():
        return virtual_time.now >= 3

    async def run(client):
        buckets(client, {"late": 3})
        conditions = [ConditionWait(state, interval=1), ConditionWait(lambda: "plain")]
        return await wait_all_async([*conditions, exists(client, "late")], max_wait=100)

    outcomes = with_client(run)
    assert [outcome.attempts for outcome in outcomes] == [4, 1, 3]


def test_blocking_functions_refuse_aiobotocore_clients():
    async def run(client):
        with pytest.raises(
            TypeError, match=r"waits\[0\] is on an asynchronous client: use wait_al"
        ):
            wait_all([exists(client, "now")])

    with_client(run)


def test_aiobotocore_and_blocking_clients_do_not_mix():
    blocking = boto3.client("s3", region_name="us-east-1")

    async def run(client):
        polls = buckets(client, {})
        with pytest.raises(TypeError, match=r"waits\[1\] is on an asynchronous client, others"):
            await wait_all_async([exists(blocking, "now"), exists(client, "now")])
        assert polls == {}

    with_client(run)


def test_closed_client_is_the_error_of_its_wait(virtual_time):
    async def run(client):
        return client

    client = with_client(run)
    results = asyncio.run(wait_all_async([exists(client, "now")], on_failure="collect"))
    assert isinstance(results[0], Exception)


def test_first_success_ends_the_others(virtual_time):
    async def run(client):
        polls = buckets(client, {"late": 3, "never": 1000})
        waits = [
            exists(client, "never", delay_pace=lambda _: 10),
            exists(client, "late", delay_pace=lambda _: 10),
        ]
        wait, outcome = await wait_any_async(waits)
        assert wait is waits[1]
        assert outcome.attempts == polls["late"] == 3

    with_client(run)


def test_waits_of_one_kind_share_awaited_calls(virtual_time):
    calls = []

    class Body:
        raw_headers = ()

        def __init__(self, text):
            self._text = text

        async def read(self):
            return self._text.encode()

    async def send(request, **_):
        asked = [value for name, value in parse_qsl(request.body) if name.startswith("InstanceId")]
        calls.append(asked)
        items = "".join(
            f"<item><instanceId>{each}</instanceId><instanceState><name>running</name>"
            "</instanceState></item>"
            for each in asked
        )
        text = (
            "<DescribeInstancesResponse><reservationSet><item><instancesSet>"
            f"{items}</instancesSet></item></reservationSet></DescribeInstancesResponse>"
        )
        return awsrequest.AioAWSResponse(request.url, 200, {}, Body(text))

    async def run(client):
        client.meta.events.register("before-send.ec2", send)
        waits = [
            Wait(client, "instance_running", {"InstanceIds": [f"i-{n}"]}, max_wait=60)
            for n in range(250)
        ]
        return await wait_all_async(waits)

    outcomes = with_client(run, "ec2")
    assert [len(asked) for asked in calls] == [100, 100, 50]
    assert [list(outcome.by_id) for outcome in outcomes] == [[f"i-{n}"] for n in range(250)]
    assert all(outcome.coalesced for outcome in outcomes)


def test_awaited_waits_are_screened(virtual_time):
    calls = collections.Counter()
    names = [f"job-{number}" for number in range(20)]

    class Body:
        raw_headers = ()

        def __init__(self, found):
            self._found = found

        async def read(self):
            return json.dumps(self._found).encode()

    async def send(request, **_):
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        calls[operation] += 1
        status = "Completed" if virtual_time.now >= 15 else "InProgress"
        if operation == "ListTrainingJobs":
            jobs = [{"TrainingJobName": name, "TrainingJobStatus": status} for name in names]
            found = {"TrainingJobSummaries": jobs}
        else:
            found = {"TrainingJobStatus": status}
        return awsrequest.AioAWSResponse(request.url, 200, {}, Body(found))

    async def run(client):
        client.meta.events.register("before-send.sagemaker", send)
        options = {"min_delay": 10, "max_delay": 10, "max_wait": 100}
        waits = [
            Wait(client, "TrainingJobCompleted", {"TrainingJobName": name}, **options)
            for name in names
        ]
        return await wait_all_async(waits)

    outcomes = with_client(run, "sagemaker")
    assert {outcome.elapsed for outcome in outcomes} == {20}
    assert calls == {"ListTrainingJobs": 3, "DescribeTrainingJob": 20}

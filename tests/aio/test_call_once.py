"""`call_once_async` on an aiobotocore client."""

import asyncio

import pytest
from aio.clients import required
from botocore.exceptions import ReadTimeoutError

from boto_waiters_plus import idempotency

CREATED = {"Instances": [{"InstanceId": "i-1"}]}
UP = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
IMAGE = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}


def with_client(scenario):
    async def run():
        session = required("aiobotocore.session").get_session()
        async with session.create_client("ec2", "us-east-1", **KEYS) as client:
            return await scenario(client)

    return asyncio.run(run())


def test_all_attempts_carry_one_token(virtual_time, answers):
    async def scenario(client):
        lost = ReadTimeoutError(endpoint_url="https://ec2")
        service = answers(client, lost, CREATED, UP)
        call = await idempotency.call_once_async(
            client.run_instances, max_wait=60, then_wait="InstanceRunning", **IMAGE
        )
        tokens = {request["body"]["ClientToken"] for request in service.requests[:2]}
        assert (tokens, call.attempts) == ({call.token}, 2)
        assert call.outcome.observed == ["running"]

    with_client(scenario)


def test_calls_that_are_awaited_are_not_made_in_a_blocking_way():
    async def scenario(client):
        with pytest.raises(TypeError, match="call_once_async"):
            idempotency.call_once(client.run_instances, max_wait=60, **IMAGE)

    with_client(scenario)

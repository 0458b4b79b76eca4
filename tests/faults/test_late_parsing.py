"""Answers that arrive in time and are parsed until after the deadline."""

import asyncio
import json
import threading

import boto3
import pytest
from faults.scenarios import KEYS, error, make_client, waiter_of
from faults.server import FaultServer, answer
from faults.support import TELLS_ARRIVALS

import boto_waiters_plus as bwp

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(
        not TELLS_ARRIVALS,
        reason="botocore before 1.36 does not tell when an answer has arrived",
    ),
]

MAX_WAIT = 0.3
TABLE = b'{"Table": {"TableName": "table", "TableStatus": "ACTIVE"}}'
TASKS = json.dumps(
    {"tasks": [{"taskArn": each, "lastStatus": "RUNNING"} for each in "12"]}
).encode()


def parse_slowly(client, seconds=0.6):
    event = f"before-parse.{client.meta.service_model.service_id.hyphenize()}"
    client.meta.events.register(event, lambda **_: threading.Event().wait(seconds) and None)


def by_wait_until(client, waiter, parameters):
    return bwp.wait_until(client, waiter, max_wait=MAX_WAIT, **parameters)


def by_get_waiter(client, waiter, parameters):
    return bwp.enable(client).get_waiter(waiter).wait(max_wait=MAX_WAIT, **parameters)


def by_wait_all(client, waiter, parameters):
    (outcome,) = bwp.wait_all([bwp.Wait(client, waiter, parameters, max_wait=MAX_WAIT)])
    return outcome


def in_a_task(client, waiter, parameters):
    return asyncio.run(bwp.wait_until_async(client, waiter, max_wait=MAX_WAIT, **parameters))


def among_many_in_a_task(client, waiter, parameters):
    wait = bwp.Wait(client, waiter, parameters, max_wait=MAX_WAIT)
    (outcome,) = asyncio.run(bwp.wait_all_async([wait]))
    return outcome


WAYS = [by_wait_until, by_get_waiter, by_wait_all, in_a_task, among_many_in_a_task]


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_arrived_in_time_is_judged(way):
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url)
        parse_slowly(client)
        outcome = way(client, *waiter_of(client))
        assert outcome.response["Table"]["TableStatus"] == "ACTIVE"
        assert outcome.elapsed < MAX_WAIT
        client.close()


@pytest.mark.parametrize("way", WAYS)
def test_an_error_that_arrived_in_time_is_judged(way):
    with FaultServer([error("json", 400, "ResourceNotFoundException")]) as server:
        client = make_client("json", server.url)
        parse_slowly(client)
        outcome = way(client, "table_not_exists", {"TableName": "table"})
        assert outcome.exception.response["Error"]["Code"] == "ResourceNotFoundException"
        client.close()


def test_a_common_answer_that_arrived_in_time_is_judged():
    with FaultServer([answer(body=TASKS)]) as server:
        client = boto3.client("ecs", endpoint_url=server.url, region_name="us-east-1", **KEYS)
        parse_slowly(client)
        waits = [
            bwp.Wait(client, "tasks_running", {"tasks": [each]}, max_wait=MAX_WAIT) for each in "12"
        ]
        outcomes = bwp.wait_all(waits)
        assert [outcome.coalesced for outcome in outcomes] == [True, True]
        client.close()


def test_an_answer_that_decides_nothing_is_the_last():
    with FaultServer([answer(body=TABLE.replace(b"ACTIVE", b"CREATING"))]) as server:
        client = make_client("json", server.url)
        parse_slowly(client)
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            by_wait_until(client, *waiter_of(client))
        assert caught.value.observed == "CREATING"
        client.close()


def test_an_error_that_the_sdk_would_retry_is_no_verdict():
    with FaultServer([error("json", 503, "ServiceUnavailable")]) as server:
        client = make_client("json", server.url, "standard")
        parse_slowly(client)
        with pytest.raises(bwp.WaiterTimeoutError, match="ServiceUnavailable"):
            by_wait_until(client, *waiter_of(client))
        assert len(server.requests) == 1
        client.close()


def test_an_answer_after_the_deadline_does_not_count():
    """The socket is shut at the deadline; a handler that is late itself delays the request."""
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url)
        client.meta.events.register(
            "before-parse.dynamodb", lambda **_: threading.Event().wait(0.1) and None
        )
        client.meta.events.register(
            "request-created.dynamodb", lambda **_: threading.Event().wait(0.6) and None
        )
        with pytest.raises(bwp.WaiterTimeoutError):
            by_wait_until(client, *waiter_of(client))
        client.close()

"""A waiter of a table against moto: each kind of end, by each way to wait.

A table has all of botocore's forms. Later changes are planned on the virtual clock; what moto
cannot produce, an error that it never raises, is answered by a handler.
"""

import itertools
from types import SimpleNamespace

import boto3
import pytest
from docs.page_setups import make_table
from moto import mock_aws

import boto_waiters_plus as bwp

NAMED = {"TableName": "orders"}
WAYS = {
    "wait_until": lambda session, waiter: getattr(
        session.client("dynamodb"), f"wait_until_{waiter}"
    )(**NAMED, max_wait=600),
    "get_waiter": lambda session, waiter: (
        session.client("dynamodb").get_waiter(waiter).wait(**NAMED)
    ),
    "resource": lambda session, waiter: getattr(
        session.resource("dynamodb").Table("orders"), waiter.replace("table", "wait_until")
    )(max_wait=600),
}


def create(_, clock):
    clock.call_at(30, lambda: make_table("orders"))


def delete(_, clock):
    make_table("orders")
    clock.call_at(30, lambda: boto3.client("dynamodb").delete_table(**NAMED))


def keep(*_):
    make_table("orders")


def deny(session, _):
    """Deny the third call, and all after it."""
    calls, metadata = itertools.count(1), {"HTTPStatusCode": 400}
    error = {"Error": {"Code": "AccessDeniedException"}, "ResponseMetadata": metadata}
    denied = SimpleNamespace(status_code=400), error
    answer = lambda **_: denied if next(calls) > 2 else None  # noqa: E731
    session.events.register("before-call.dynamodb", answer)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("waiter", "change", "end", "seen"), [
    ("table_exists", create, bwp.ResponseOutcome, "ACTIVE"),
    ("table_not_exists", delete, bwp.ExceptionOutcome, "ResourceNotFoundException"),
    ("table_exists", deny, bwp.WaiterFailedError, "AccessDeniedException"),
    ("table_not_exists", keep, bwp.WaiterTimeoutError, "ACTIVE"),
])  # fmt: skip
def test_waiter_ends_as_its_table_does(waiter, change, end, seen, way, virtual_time):
    bwp.install()
    session = boto3.Session()
    with mock_aws():
        change(session, virtual_time)
        try:
            ended = WAYS[way](session, waiter)
        except bwp.WaiterError as error:
            ended = error
    is_by_count = end is bwp.WaiterTimeoutError and way == "get_waiter"
    assert isinstance(ended, bwp.WaiterAttemptsError if is_by_count else end)
    assert ended.attempts > 1
    exception = getattr(ended, "exception", getattr(ended, "last_exception", None))
    assert seen == (exception.response["Error"]["Code"] if exception else ended.observed)

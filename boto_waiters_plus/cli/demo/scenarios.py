"""The scenarios of `demo --all`: six changes that people wait for, made by moto."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Action = Callable[[Any, str], Any]
"""What is done with a client to the resource of this name."""


class Scenario(NamedTuple):
    """One kind of change, made to one resource for each way of waiting."""

    title: str
    service: str
    waiter: str
    prepare: Action
    """Creates what exists before the change; returns the parameters of the wait."""
    change: Action
    change_between: tuple[float, float] = (5, 10)
    """Seconds after the start, around the middle of a delay of botocore: no luck on average."""
    expected: tuple[str, str, str] = ("returned None", "ResponseOutcome", "ResponseOutcome")
    """The classes of what is returned or raised: by botocore, get_waiter and wait_until."""
    max_wait: float = 60
    waiter_config: tuple[tuple[str, int], ...] = ()


def _named(parameter: str) -> Action:
    return lambda _, name: {parameter: name}


def _create_bucket(s3: Any, name: str) -> dict[str, str]:
    s3.create_bucket(Bucket=name)
    return {"Bucket": name}


def _create_table(dynamodb: Any, name: str) -> None:
    dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def _create_service(ecs: Any, name: str) -> dict[str, Any]:
    ecs.create_cluster(clusterName=name)
    # The cluster has no instance, so the one task stays pending.
    ecs.create_service(cluster=name, serviceName=name, desiredCount=1)
    return {"cluster": name, "services": [name]}


def _delete_service(ecs: Any, name: str) -> None:
    ecs.delete_service(cluster=name, service=name, force=True)


SCENARIOS = (
    Scenario("bucket appears", "s3", "BucketExists", _named("Bucket"), _create_bucket),
    Scenario(
        *("bucket deleted", "s3", "BucketNotExists", _create_bucket),
        change=lambda s3, name: s3.delete_bucket(Bucket=name),
        expected=("returned None", "ExceptionOutcome", "ExceptionOutcome"),
    ),
    # botocore polls every 20 seconds.
    Scenario(
        *("table appears", "dynamodb", "TableExists", _named("TableName"), _create_table, (4, 16))
    ),
    Scenario(
        *("service deleted", "ecs", "ServicesInactive", _create_service, _delete_service, (3, 12))
    ),
    # A service is deleted while its waiter expects it to become stable: a failure state.
    Scenario(
        *("service fails", "ecs", "ServicesStable", _create_service, _delete_service, (3, 12)),
        expected=("WaiterError", "WaiterFailedError", "WaiterFailedError"),
    ),
    # Nothing happens for 12 seconds, which botocore spends on 4 attempts, 4 seconds apart.
    Scenario(
        *("deadline", "s3", "BucketExists", _named("Bucket"), _named("Bucket"), (12, 12)),
        expected=("WaiterError", "WaiterAttemptsError", "WaiterTimeoutError"),
        max_wait=12,
        waiter_config=(("Delay", 4), ("MaxAttempts", 4)),
    ),
)

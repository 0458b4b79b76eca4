"""The scenarios of the demo: six changes that people wait for, made by moto."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, ClassVar

from botocore import xform_name

from .server import MotoServer

MAX_WAIT = 60.0
"""The `max_wait` of scenarios that are not about the deadline."""

RETURNED_NONE = "returned None"
"""The result of a stock wait that succeeded."""


class Way(Enum):
    """A way of waiting."""

    STOCK = "stock"
    """`client.get_waiter(...).wait(...)`, botocore alone."""
    GET_WAITER = "get_waiter"
    """The same line on a client after `enable(client)`."""
    WAIT_UNTIL = "wait_until"
    """`client.wait_until_<name>(..., max_wait=...)`."""


class Scenario(ABC):
    """One kind of change, made to one resource for each way of waiting.

    The time of the change is drawn evenly around the middle of one of botocore's delays, so that
    on average it is neither good nor bad for botocore.
    """

    title: ClassVar[str]
    service: ClassVar[str]
    waiter: ClassVar[str]
    change_between: ClassVar[tuple[float, float]] = (0, 0)
    """The seconds after the start between which the change comes."""
    expected: ClassVar[tuple[str, str, str]]
    """The classes of what the wait returns or raises, in the order of `Way`."""
    deadline: ClassVar[float | None] = None
    """The seconds asked for, in a scenario about the deadline."""
    waiter_config: ClassVar[dict[str, int] | None] = None
    """The `WaiterConfig` of `get_waiter` that comes nearest to `deadline`."""

    def __init__(self, server: MotoServer) -> None:
        self.server = server
        self.change_after = random.uniform(*self.change_between)  # noqa: S311 - no secret
        self.client = server.client(self.service)

    @abstractmethod
    def prepare(self, name: str) -> dict[str, Any]:
        """Create what exists before the change; return the parameters of the wait."""

    def start(self) -> None:  # noqa: B027 - most scenarios need nothing
        """Do what must be done right before the waits begin."""

    def change(self, name: str) -> float | None:  # noqa: ARG002 - overridden
        """Make the change, if any; return when it was made on the monotonic clock, None for now."""
        return None

    def bind_wait(self, way: Way, client: Any, parameters: dict[str, Any]) -> Callable[[], Any]:
        """Return the wait as a user would write it, ready to be called."""
        name = xform_name(self.waiter)
        if way is Way.WAIT_UNTIL:
            method = getattr(client, f"wait_until_{name}")
            return partial(method, max_wait=self.deadline or MAX_WAIT, **parameters)
        wait = client.get_waiter(name).wait
        if self.waiter_config is None:
            return partial(wait, **parameters)
        return partial(wait, **parameters, WaiterConfig=self.waiter_config)


SUCCESS = (RETURNED_NONE, "ResponseOutcome", "ResponseOutcome")


class BucketAppears(Scenario):
    """A bucket is created while it is waited for."""

    title = "bucket appears"
    service = "s3"
    waiter = "BucketExists"
    change_between = (5, 10)
    expected = SUCCESS

    def prepare(self, name: str) -> dict[str, Any]:
        return {"Bucket": name}

    def change(self, name: str) -> None:
        self.client.create_bucket(Bucket=name)


class BucketDeleted(Scenario):
    """A bucket is deleted: an error is the success."""

    title = "bucket deleted"
    service = "s3"
    waiter = "BucketNotExists"
    change_between = (5, 10)
    expected = (RETURNED_NONE, "ExceptionOutcome", "ExceptionOutcome")

    def prepare(self, name: str) -> dict[str, Any]:
        self.client.create_bucket(Bucket=name)
        return {"Bucket": name}

    def change(self, name: str) -> None:
        self.client.delete_bucket(Bucket=name)


class TableAppears(Scenario):
    """A table is created; botocore polls every 20 seconds."""

    title = "table appears"
    service = "dynamodb"
    waiter = "TableExists"
    change_between = (4, 16)
    expected = SUCCESS

    def prepare(self, name: str) -> dict[str, Any]:
        return {"TableName": name}

    def change(self, name: str) -> None:
        self.client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )


class ConnectionUp(Scenario):
    """moto changes a state by itself after some time, from `testing` to `successful`."""

    title = "connection up"
    service = "dms"
    waiter = "TestConnectionSucceeds"
    expected = SUCCESS

    def __init__(self, server: MotoServer) -> None:
        super().__init__(server)
        self.change_after = server.connection_test
        self._tests: dict[str, dict[str, str]] = {}
        self._started: dict[str, float] = {}

    def prepare(self, name: str) -> dict[str, Any]:
        instance = self.client.create_replication_instance(
            ReplicationInstanceIdentifier=name, ReplicationInstanceClass="dms.t3.micro"
        )
        endpoint = self.client.create_endpoint(
            EndpointIdentifier=name, EndpointType="source", EngineName="mysql"
        )
        arn = endpoint["Endpoint"]["EndpointArn"]
        self._tests[name] = {
            "ReplicationInstanceArn": instance["ReplicationInstance"]["ReplicationInstanceArn"],
            "EndpointArn": arn,
        }
        return {"Filters": [{"Name": "endpoint-arn", "Values": [arn]}]}

    def start(self) -> None:
        for name, test in self._tests.items():
            self.client.test_connection(**test)
            self._started[name] = time.monotonic()

    def change(self, name: str) -> float:
        return self._started[name] + self.change_after


class ServiceDeleted(Scenario):
    """A service is deleted while its waiter expects it to become stable: a failure state."""

    title = "service fails"
    service = "ecs"
    waiter = "ServicesStable"
    change_between = (3, 12)
    expected = ("WaiterError", "WaiterFailedError", "WaiterFailedError")

    def prepare(self, name: str) -> dict[str, Any]:
        self.client.create_cluster(clusterName=name)
        self.client.register_task_definition(
            family=name, containerDefinitions=[{"name": "main", "image": "demo", "memory": 128}]
        )
        # The cluster has no instance, so the one task stays pending.
        self.client.create_service(
            cluster=name, serviceName=name, taskDefinition=name, desiredCount=1
        )
        return {"cluster": name, "services": [name]}

    def change(self, name: str) -> None:
        self.client.delete_service(cluster=name, service=name, force=True)


class DeadlinePasses(Scenario):
    """Nothing happens for 12 seconds, which botocore spends on 4 attempts, 4 seconds apart."""

    title = "deadline"
    service = "s3"
    waiter = "BucketExists"
    change_between = (12, 12)
    expected = ("WaiterError", "WaiterAttemptsError", "WaiterTimeoutError")
    deadline = 12.0
    waiter_config = {"Delay": 4, "MaxAttempts": 4}  # noqa: RUF012 - a ClassVar of the base class

    def prepare(self, name: str) -> dict[str, Any]:
        return {"Bucket": name}


SCENARIOS: tuple[type[Scenario], ...] = (
    BucketAppears,
    BucketDeleted,
    TableAppears,
    ConnectionUp,
    ServiceDeleted,
    DeadlinePasses,
)

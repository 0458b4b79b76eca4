"""What happens in the demo: six things people wait for, as moto really does them."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, ClassVar

from botocore import xform_name

from .stage import Stage

MAX_WAIT = 60.0
"""Seconds that `wait_until_*` is given where the deadline is not the subject."""


RETURNED_NONE = "returned None"
"""All that botocore has to say of a wait that succeeded."""


class Way(Enum):
    """How is waited."""

    STOCK = "stock"
    """`client.get_waiter(...).wait(...)`, botocore alone."""
    GET_WAITER = "get_waiter"
    """The same line on a client that was given to `enable`."""
    WAIT_UNTIL = "wait_until"
    """`client.wait_until_<name>(..., max_wait=...)`."""


class Scenario(ABC):
    """One thing that happens, to one resource for each way of waiting.

    The instant is drawn evenly around the middle of one of botocore's delays, so that on average
    it comes neither early nor late for botocore.
    """

    title: ClassVar[str]
    service: ClassVar[str]
    waiter: ClassVar[str]
    between: ClassVar[tuple[float, float]]
    """Seconds after the start between which it happens."""
    endings: ClassVar[tuple[str, str, str]]
    """What the wait returns or raises, in the order of `Way`."""
    deadline: ClassVar[float | None] = None
    """The seconds asked for, where what happens is that they pass."""
    waiter_config: ClassVar[dict[str, int] | None] = None
    """The same for `get_waiter`."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.after = random.uniform(*self.between)  # noqa: S311 - no secret
        self.client = stage.client(self.service)

    def expected(self, way: Way) -> str:
        """What the wait returns or raises this way."""
        return self.endings[list(Way).index(way)]

    @abstractmethod
    def prepare(self, name: str) -> dict[str, Any]:
        """Make what is there before, under this name; return the waiter's parameters."""

    def start(self) -> None:  # noqa: B027 - most have nothing to do
        """Do what has to be done right before the waits begin."""

    @abstractmethod
    def happen(self, name: str) -> float:
        """Make it happen; return the instant, on the monotonic clock."""

    def waiting(self, way: Way, client: Any, parameters: dict[str, Any]) -> Callable[[], Any]:
        """The wait itself, as people write it, ready to be called."""
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
    between = (5, 10)
    endings = SUCCESS

    def prepare(self, name: str) -> dict[str, Any]:
        return {"Bucket": name}

    def happen(self, name: str) -> float:
        self.client.create_bucket(Bucket=name)
        return time.monotonic()


class BucketDeleted(Scenario):
    """A bucket is deleted: the error is the success."""

    title = "bucket deleted"
    service = "s3"
    waiter = "BucketNotExists"
    between = (5, 10)
    endings = (RETURNED_NONE, "ExceptionOutcome", "ExceptionOutcome")

    def prepare(self, name: str) -> dict[str, Any]:
        self.client.create_bucket(Bucket=name)
        return {"Bucket": name}

    def happen(self, name: str) -> float:
        self.client.delete_bucket(Bucket=name)
        return time.monotonic()


class TableAppears(Scenario):
    """A table is created; botocore looks every 20 seconds."""

    title = "table appears"
    service = "dynamodb"
    waiter = "TableExists"
    between = (4, 16)
    endings = SUCCESS

    def prepare(self, name: str) -> dict[str, Any]:
        return {"TableName": name}

    def happen(self, name: str) -> float:
        self.client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        return time.monotonic()


class ConnectionUp(Scenario):
    """A state that moto moves by itself after a time: `testing`, then `successful`."""

    title = "connection up"
    service = "dms"
    waiter = "TestConnectionSucceeds"
    between = (5, 10)
    endings = SUCCESS

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        stage.move_by_time("dms::connection", self.after)
        self._tests: dict[str, dict[str, str]] = {}
        self._began: dict[str, float] = {}

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
            self._began[name] = time.monotonic()

    def happen(self, name: str) -> float:
        return self._began[name] + self.after


class ServiceDeleted(Scenario):
    """A service is deleted while it is waited for to be stable: the waiter's failure state."""

    title = "service deleted"
    service = "ecs"
    waiter = "ServicesStable"
    between = (3, 12)
    endings = ("WaiterError", "WaiterFailedError", "WaiterFailedError")

    def prepare(self, name: str) -> dict[str, Any]:
        self.client.create_cluster(clusterName=name)
        self.client.register_task_definition(
            family=name, containerDefinitions=[{"name": "main", "image": "demo", "memory": 128}]
        )
        # No instance in the cluster: its one task stays pending.
        self.client.create_service(
            cluster=name, serviceName=name, taskDefinition=name, desiredCount=1
        )
        return {"cluster": name, "services": [name]}

    def happen(self, name: str) -> float:
        self.client.delete_service(cluster=name, service=name, force=True)
        return time.monotonic()


class DeadlinePasses(Scenario):
    """Nothing happens for 12 seconds: for botocore, 4 looks with 3 delays of 4 seconds."""

    title = "deadline passes"
    service = "s3"
    waiter = "BucketExists"
    between = (12, 12)
    endings = ("WaiterError", "WaiterAttemptsError", "WaiterTimeoutError")
    deadline = 12.0
    waiter_config = {"Delay": 4, "MaxAttempts": 4}  # noqa: RUF012 - a ClassVar of the base class

    def prepare(self, name: str) -> dict[str, Any]:
        return {"Bucket": name}

    def happen(self, name: str) -> float:  # noqa: ARG002 - nothing happens to it
        return time.monotonic()


SCENARIOS: tuple[type[Scenario], ...] = (
    BucketAppears,
    BucketDeleted,
    TableAppears,
    ConnectionUp,
    ServiceDeleted,
    DeadlinePasses,
)

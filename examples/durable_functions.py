"""One wait, as `wait_for_condition` of AWS Lambda durable functions and as a stored wait.

    tox run -e example-durable

or, in an environment of its own:

    pip install aws-durable-execution-sdk-python aws-durable-execution-sdk-python-testing
    pip install -e '.[store]'
    python examples/durable_functions.py

A DynamoDB table is CREATING for two polls, then ACTIVE. The durable function runs in the local
runner of the testing SDK, without an account; botocore's answers are stubbed in both.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
from aws_durable_execution_sdk_python.config import Duration
from aws_durable_execution_sdk_python.context import DurableContext
from aws_durable_execution_sdk_python.execution import durable_execution
from aws_durable_execution_sdk_python.waits import (
    WaitForConditionConfig,
    WaitStrategyConfig,
    create_wait_strategy,
)
from aws_durable_execution_sdk_python_testing import DurableFunctionTestRunner

from boto_waiters_plus import operations

POLLS_UNTIL_ACTIVE = 3
counts = {"calls": 0, "invocations": 0}


def client_of_a_new_table() -> Any:
    """Return a client whose table becomes ACTIVE."""
    client = boto3.client(
        "dynamodb",
        region_name="us-east-1",
        aws_access_key_id="example",
        aws_secret_access_key="example",  # noqa: S106 - nothing is sent
    )

    def answer(**_: Any) -> tuple[SimpleNamespace, dict[str, Any]]:
        counts["calls"] += 1
        status = "ACTIVE" if counts["calls"] >= POLLS_UNTIL_ACTIVE else "CREATING"
        return SimpleNamespace(status_code=200), {"Table": {"TableStatus": status}}

    client.meta.events.register("before-call", answer)
    return client


# --- durable functions: the caller writes the check, its errors and its delays ------------------

client = client_of_a_new_table()


def check(_: str, context: Any) -> str:
    """Return the state of the table; what this raises ends the wait."""
    try:
        status: str = client.describe_table(TableName="orders")["Table"]["TableStatus"]
    except client.exceptions.ResourceNotFoundException:
        return "MISSING"
    return status


@durable_execution
def handler(event: Any, context: DurableContext) -> str:
    """Wait for the table."""
    counts["invocations"] += 1
    strategy = create_wait_strategy(
        WaitStrategyConfig(
            should_continue_polling=lambda state: state != "ACTIVE",
            max_attempts=20,
            initial_delay=Duration.from_seconds(1),
            max_delay=Duration.from_seconds(2),
        )
    )
    config = WaitForConditionConfig(wait_strategy=strategy, initial_state="")
    return context.wait_for_condition(check, config, name="table")


def with_durable_functions() -> None:
    """Run the durable function."""
    began = time.monotonic()
    with DurableFunctionTestRunner(handler=handler) as runner:
        result = runner.run(input="{}", execution_timeout=60)
    report("wait_for_condition", f"{result.status.value} {result.result}", began)


# --- a stored wait: the definition has the acceptors --------------------------------------------


def with_a_stored_wait() -> None:
    """Start a wait in a store, and drive it with a worker."""
    counts.update(calls=0, invocations=0)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        store = operations.Store(Path(folder, "waits.db"))
        options = {"max_wait": 60, "min_delay": 1, "max_delay": 2}
        operation = store.start(client, "table_exists", TableName="orders", **options)
        counts["invocations"] += 1
        store.work(until_idle=True, make_client=lambda _: client)
        outcome = operation.result()
        store.close()
    report("stored wait", f"{outcome.observed} after {outcome.attempts} attempts", began)


def report(name: str, result: str, began: float) -> None:
    """Print what a wait took."""
    print(
        f"{name}: {result}; {counts['calls']} calls, {counts['invocations']} "
        f"run(s) of the code, {time.monotonic() - began:.1f} s"
    )


if __name__ == "__main__":
    with_durable_functions()
    with_a_stored_wait()

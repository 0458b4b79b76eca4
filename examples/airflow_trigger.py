"""One wait, as Airflow's deferrable trigger and as a stored wait; the process of each is lost.

    tox run -e example-airflow

or, in an environment of its own:

    pip install 'apache-airflow-providers-amazon[aiobotocore]'
    pip install -e '.[store]'
    python examples/airflow_trigger.py

A Step Functions execution is RUNNING for four polls, then SUCCEEDED, at a server on loopback. The
trigger is driven as the tests of Airflow's provider drive it: its `run` is awaited. After two polls
the process that drives the wait is gone; another one takes over from what was kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

os.environ |= {
    "AIRFLOW_HOME": tempfile.mkdtemp(prefix="airflow"),
    "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
    "AWS_ACCESS_KEY_ID": "example",
    "AWS_SECRET_ACCESS_KEY": "example",
    "AWS_DEFAULT_REGION": "us-east-1",
}

import boto3
from airflow.providers.amazon.aws.triggers.step_function import (
    StepFunctionsExecutionCompleteTrigger,
)

from boto_waiters_plus import WaiterDefinition, operations

POLLS_UNTIL_SUCCEEDED = 5
ARN = "arn:aws:states:us-east-1:123456789012:execution:orders:1"


class Service(BaseHTTPRequestHandler):
    """Answers DescribeExecution."""

    polls = 0
    polled = threading.Condition()

    def do_POST(self) -> None:
        """Answer RUNNING, later SUCCEEDED."""
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.polled:
            Service.polls += 1
            self.polled.notify_all()
        status = "SUCCEEDED" if self.polls >= POLLS_UNTIL_SUCCEEDED else "RUNNING"
        body = json.dumps({"executionArn": ARN, "status": status}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    @classmethod
    def wait_for_polls(cls, polls: int) -> None:
        """Return when that many polls were made."""
        with cls.polled:
            cls.polled.wait_for(lambda: cls.polls >= polls, 60)


async def drive(trigger: StepFunctionsExecutionCompleteTrigger) -> Any:
    """Return the first event of a trigger."""
    return await anext(trigger.run())


async def with_a_trigger() -> None:
    """Drive a trigger; let its process be gone after two polls."""
    first = StepFunctionsExecutionCompleteTrigger(
        execution_arn=ARN,
        waiter_delay=1,
        waiter_max_attempts=4,
        aws_conn_id=None,
        region_name="us-east-1",
    )
    task = asyncio.create_task(drive(first))
    await asyncio.to_thread(Service.wait_for_polls, 2)
    task.cancel()
    _, kept = first.serialize()
    print("Airflow keeps of it:", {name: kept[name] for name in sorted(kept)})
    event = await drive(StepFunctionsExecutionCompleteTrigger(**kept))
    print(f"trigger: {event.payload['status']} after {Service.polls} polls, of at most 4")


def with_a_stored_wait(client: Any) -> None:
    """Drive a stored wait; let its worker be gone after two polls."""
    Service.polls = 0
    definition = WaiterDefinition.from_states(
        "ExecutionSucceeded",
        "DescribeExecution",
        path="status",
        success=["SUCCEEDED"],
        failure=["FAILED", "TIMED_OUT", "ABORTED"],
    )
    with tempfile.TemporaryDirectory() as folder:
        store = operations.Store(Path(folder, "waits.db"))
        options = {"max_wait": 60, "max_attempts": 4, "min_delay": 1, "max_delay": 1}
        operation = store.start(client, definition, executionArn=ARN, **options)
        stop = threading.Event()
        worker = threading.Thread(target=store.work, kwargs={"stop_event": stop})
        worker.start()
        Service.wait_for_polls(2)
        stop.set()
        worker.join()
        print("the store keeps of it:", {"attempts": operation.metadata["attempts"]})
        store.work(until_idle=True)
        print(f"stored wait: {operation.exception()}, {Service.polls} polls")
        store.close()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{server.server_port}"
    asyncio.run(with_a_trigger())
    with_a_stored_wait(boto3.client("stepfunctions"))

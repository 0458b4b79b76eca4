"""The waiter functions of Airflow's Amazon provider, on a waiter of its own and on botocore's.

Airflow itself is half a gigabyte: the few names that these functions import stand in for it.
"""

import asyncio
import json
import sys
import types
from pathlib import Path

import aiobotocore.session
import boto3


def stand_in(name, **members):
    """Put a module in place of one of Airflow's."""
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


places = [str(Path(each, "airflow")) for each in sys.path if Path(each, "airflow").is_dir()]
stand_in("airflow", __version__="3.0.0", __path__=places)
stand_in("airflow.version", version="3.0.0")
stand_in("airflow.utils", __path__=[])
stand_in("airflow.utils.helpers", prune_dict=dict)
stand_in("airflow.providers.common", __path__=[])
stand_in("airflow.providers.common.compat", __path__=[])
stand_in(
    "airflow.providers.common.compat.sdk",
    AirflowException=type("AirflowException", (Exception,), {}),
)

from airflow.providers.amazon.aws import waiters  # noqa: E402 - after the stand-ins
from airflow.providers.amazon.aws.utils.waiter_with_logging import (  # noqa: E402 - the same
    async_wait,
    wait,
)
from airflow.providers.amazon.aws.waiters.base_waiter import BaseBotoWaiter  # noqa: E402 - the same

KEYS = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
MODEL = json.loads(Path(waiters.__path__[0], "athena.json").read_text())


def state(of_query, of_cluster):
    query = {"QueryExecution": {"Status": {"State": of_query}}}
    return 200, {**query, "cluster": {"status": of_cluster}}


def error(code):
    return 400, {"Error": {"Code": code, "Message": "why"}}


COMING, READY = state("RUNNING", "CREATING"), state("SUCCEEDED", "ACTIVE")
THROTTLED = error("ThrottlingException")
SCENARIOS = {
    "throttled": [*[THROTTLED] * 5, COMING, THROTTLED, READY],
    "failed": [COMING, state("FAILED", "FAILED")],
    "refused": [error("AccessDeniedException")],
    "not in time": [COMING] * 3,
}
OPTIONS = {
    "waiter_delay": 0,
    "waiter_max_attempts": 3,
    "failure_message": "failed",
    "status_message": "status",
    "status_args": ["cluster.status"],
}


def answered(client, answers, calls):
    def answer(model, **_):
        calls.append(model.name)
        status, body = answers[len(calls) - 1]
        metadata = {"HTTPStatusCode": status, "RetryAttempts": 0}
        return types.SimpleNamespace(status_code=status), {**body, "ResponseMetadata": metadata}

    client.meta.events.register("before-call", answer)
    return client


def of_botocore(*script):
    client = answered(boto3.client("eks", **KEYS), *script)
    wait(client.get_waiter("cluster_active"), args={"name": "c"}, **OPTIONS)


def of_the_provider(*script):
    client = answered(boto3.client("athena", **KEYS), *script)
    waiter = BaseBotoWaiter(client, MODEL).waiter("query_complete")
    wait(waiter, args={"QueryExecutionId": "q"}, **OPTIONS)


async def awaited(*script):
    async with aiobotocore.session.get_session().create_client("athena", **KEYS) as client:
        answered(client, *script)
        waiter = BaseBotoWaiter(client, MODEL, deferrable=True).waiter("query_complete")
        await async_wait(waiter, args={"QueryExecutionId": "q"}, **OPTIONS)


for way in (of_botocore, of_the_provider, lambda *script: asyncio.run(awaited(*script))):
    for name, answers in SCENARIOS.items():
        calls = []
        try:
            way(answers, calls)
            ended = "succeeded"
        except Exception as error:
            ended = type(error).__name__
        print(name, "after", len(calls), "calls:", ended)

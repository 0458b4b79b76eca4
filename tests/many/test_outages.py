"""An outage of one service in a mixed batch: the waits on others are polled as ever."""

import json

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config

import boto_waiters_plus as bwp
from boto_waiters_plus.many import Wait, wait_all
from boto_waiters_plus.runtime import scheduler
from boto_waiters_plus.runtime.attempt import Reply
from boto_waiters_plus.runtime.tasks import FinishedCall
from boto_waiters_plus.testing import virtual_time as open_virtual_time

LATENCY = 0.02
SESSION = boto3.session.Session(region_name="us-east-1")
# The SDK's own retries would sleep, and virtual time would pass for all waits.
CONFIG = Config(retries={"total_max_attempts": 1, "mode": "standard"})


class Raw:
    def __init__(self, body):
        self.body = body

    def stream(self, *_, **__):
        yield self.body


def answered(client, answer):
    """Let `answer(body of the request)` give status and body of every response of a client."""

    def send(request, **_):
        status, body = answer(request.body)
        return AWSResponse(request.url, status, {}, Raw(body))

    client.meta.events.register(f"before-send.{client.meta.service_model.service_name}", send)
    return client


class VirtualExecutor:
    """Makes calls of real clients side by side in virtual time."""

    def __init__(self, clock, hanging):
        self.clock = clock
        self.hanging = hanging
        self.over = []
        self.most = 0
        self.running = 0

    def begin(self, planned):
        task, time_left = planned.target, planned.time_left(self.clock.now)
        lasts = time_left if self.hanging(task) else LATENCY
        ended = Reply(ended="deadline")
        reply = ended if self.hanging(task) else task.call.make(time_left)
        self.running += 1
        self.most = max(self.most, self.running)
        finished = FinishedCall(task, reply, None)
        self.clock.call_at(self.clock.now + lasts, lambda: self.over.append(finished))

    def is_set(self):
        return bool(self.over)

    def finished(self, seconds):
        self.clock.sleep_on(seconds, self)
        over, self.over = self.over, []
        self.running -= len(over)
        return over

    def close(self):
        pass


def throttled(_):
    return 400, json.dumps({"__type": "com.amazonaws#ThrottlingException"}).encode()


def broken(_):
    return 500, b"{}"


def creating(_):
    return 200, json.dumps({"Table": {"TableStatus": "CREATING"}}).encode()


def polls_of_s3(monkeypatch, failing, others=creating, *, hanging=False):
    """Return when each of eight buckets is polled, beside `failing` waits on DynamoDB tables."""
    polls = [[] for _ in range(8)]
    with open_virtual_time() as clock:

        def hangs(task):
            return hanging and task.run.description.service == "dynamodb"

        executor = VirtualExecutor(clock, hangs)
        monkeypatch.setattr(scheduler, "ThreadCallExecutor", lambda *_, **__: executor)
        buckets = [SESSION.client("s3", config=CONFIG) for _ in polls]
        for index, client in enumerate(buckets):

            def head(_, index=index):
                polls[index].append(clock.now)
                return (200 if clock.now > 13 * index else 404), b""

            answered(client, head)
        tables = [answered(SESSION.client("dynamodb", config=CONFIG), others) for _ in range(4)]
        waits = [
            Wait(
                client,
                "bucket_exists",
                {"Bucket": "b"},
                max_wait=300,
                delay_pace=lambda attempt: 1.5 * attempt,
            )
            for client in buckets
        ]
        waits += [
            Wait(
                tables[index % 4],
                "table_exists",
                {"TableName": f"table-{index}"},
                max_wait=200,
                retry_transient=True,
            )
            for index in range(failing)
        ]
        results = wait_all(waits, on_failure="collect")
    assert all(isinstance(result, bwp.ResponseOutcome) for result in results[:8])
    assert all(isinstance(result, bwp.WaiterTimeoutError) for result in results[8:])
    assert executor.most <= 32
    return polls


@pytest.fixture(scope="module")
def alone():
    with pytest.MonkeyPatch.context() as patch:
        return polls_of_s3(patch, 0)


@pytest.mark.parametrize(
    ("others", "hanging"),
    [(throttled, False), (broken, False), (creating, True)],
    ids=["throttles", "answers 500", "hangs"],
)
def test_outage_of_one_service_moves_no_other_poll(monkeypatch, alone, others, hanging):
    assert polls_of_s3(monkeypatch, 100, others, hanging=hanging) == alone
    assert sum(map(len, alone)) > 40

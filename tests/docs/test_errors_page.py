"""The table of docs/errors.md has every message."""

import re
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions

DOCS = Path(__file__).resolve().parents[2] / "docs"
IDS = ["i-0a1", "i-0b2", "i-0c3"]
FIXED = {"delay_pace": "fixed"}
"""So that the number of attempts is the same each time."""

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


NOT_FOUND = {"Error": {"Code": "404", "Message": "Not Found"}, "ResponseMetadata": {}}
NOT_FOUND["ResponseMetadata"]["HTTPStatusCode"] = 404
DENIED = {"Error": {"Code": "AccessDenied", "Message": "not you"}, "ResponseMetadata": {}}
DENIED["ResponseMetadata"]["HTTPStatusCode"] = 403
SLOW = {"Error": {"Code": "SlowDown", "Message": "Slow down"}, "ResponseMetadata": {}}
SLOW["ResponseMetadata"]["HTTPStatusCode"] = 503
CONTAINER = {"name": "web", "reason": "OutOfMemoryError", "exitCode": 137}
STOPPED = {"lastStatus": "STOPPED", "stoppedReason": "Essential container in task exited"}
STOPPED["containers"] = [CONTAINER]


def instances(*states):
    found = [
        {"InstanceId": name, "State": {"Name": state}}
        for name, state in zip(IDS, states, strict=False)
    ]
    return {"Reservations": [{"Instances": found}]}


class Service:
    """A client that is answered one thing, and its waits."""

    def __init__(self, answers, service, answer):
        self.client = boto3.client(service)
        answers(self.client, answer)

    def bucket(self, max_wait=30, **options):
        return self.client.wait_until_bucket_exists(Bucket="b", max_wait=max_wait, **options)

    def stock_bucket(self, **options):
        return self.client.get_waiter("bucket_exists").wait(Bucket="b", **options)

    def instance(self, ids=IDS, **options):
        return self.client.wait_until_instance_running(InstanceIds=ids, max_wait=30, **options)

    def stock_instance(self, **options):
        return self.client.get_waiter("instance_running").wait(InstanceIds=IDS, **options)

    def batch(self, **options):
        waits = [bwp.Wait(self.client, "bucket_exists", {"Bucket": f"b{n}"}) for n in range(2)]
        return bwp.wait_all(waits, max_wait=30, max_attempts=1, **options)


class IsSet:
    @staticmethod
    def is_set():
        return True

    def wait(self, timeout=None):
        return True


UNREACHABLE = EndpointConnectionError(
    endpoint_url="https://x", error=ConnectionRefusedError(111, "Connection refused")
)

# The messages of the table in docs/errors.md, in its order.
MESSAGES = [
    ("s3", NOT_FOUND, lambda s: s.bucket()),
    ("ec2", instances("running", "pending"), lambda s: s.instance()),
    ("ec2", instances(), lambda s: s.instance(IDS[:1])),
    ("ec2", instances("running", "pending"), lambda s: s.instance(show_parameters=False)),
    ("s3", NOT_FOUND, lambda s: bwp.deadline(1).run(lambda: (s.clock.advance(2), s.bucket()))),
    ("s3", NOT_FOUND, lambda s: s.bucket(max_attempts=2, delay_pace="fixed")),
    ("s3", NOT_FOUND, lambda s: s.bucket(cancel_event=IsSet())),
    ("ec2", instances("running", "terminated"), lambda s: s.instance(IDS[:2])),
    (
        "ecs",
        {"tasks": [STOPPED]},
        lambda s: s.client.wait_until_tasks_running(tasks=["t"], max_wait=30),
    ),
    (
        "stepfunctions",
        {"status": "FAILED", "error": "e", "cause": "c"},
        lambda s: s.client.wait_until_execution_succeeded(executionArn="e", max_wait=30),
    ),
    ("s3", DENIED, lambda s: s.bucket()),
    ("s3", SLOW, lambda s: s.bucket()),
    ("s3", SLOW, lambda s: s.bucket(retry_transient=False)),
    ("s3", UNREACHABLE, lambda s: s.bucket()),
    (
        "lambda",
        {"Error": {"Code": "ResourceNotFoundException", "Message": "no function f"}},
        lambda s: s.client.wait_until_function_active(FunctionName="f", max_wait=30),
    ),
    ("s3", NOT_FOUND, lambda s: s.stock_bucket(WaiterConfig={"Delay": 5, "MaxAttempts": 2})),
    ("s3", SLOW, lambda s: s.stock_bucket(WaiterConfig={"Delay": 5, "MaxAttempts": 1})),
    ("s3", NOT_FOUND, lambda s: s.stock_bucket(max_wait=30)),
    ("ec2", instances("running", "terminated"), lambda s: s.stock_instance()),
    ("ec2", DENIED, lambda s: s.stock_instance()),
    ("s3", NOT_FOUND, lambda _: conditions.wait_for(job_state, max_wait=1)),
    ("s3", NOT_FOUND, lambda _: conditions.wait_for(job_state, max_wait=1, label="the job")),
    (
        "s3",
        NOT_FOUND,
        lambda _: conditions.wait_for_case(
            lambda: "FAILED", [conditions.failure("FAILED")], max_wait=1, label="the job"
        ),
    ),
    ("s3", NOT_FOUND, lambda s: s.bucket(timeout=5)),
    ("s3", NOT_FOUND, lambda s: s.bucket(retry_transiant=True)),
    ("s3", NOT_FOUND, lambda s: s.bucket(max_wait=None)),
]


def job_state():
    return None


def rows():
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    table = text.partition("## Every message")[2]
    found = re.findall(r"^\| (.*) \| `(.*)` \|$", table, re.MULTILINE)
    assert len(found) == len({when for when, _ in found})
    return [message for _, message in found]


def message_of(service, call):
    try:
        call(service)
    except (bwp.WaiterError, TypeError) as error:
        return str(error)
    raise AssertionError("no error")


def test_the_table_has_every_message(answers, virtual_time):
    bwp.install(defaults=FIXED)
    made = []
    for name, answer, call in MESSAGES:
        service = Service(answers, name, answer)
        service.clock = virtual_time
        made.append(message_of(service, call))
    shown = [re.sub(r"test_errors_page\.py:\d+", "jobs.py:12", message) for message in made]
    assert rows() == shown

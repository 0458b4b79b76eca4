"""docs/errors.md and docs/logging.md: the examples run, and print what the pages show."""

import io
import logging
import re
from contextlib import redirect_stdout
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
IDS = ["i-0a1", "i-0b2", "i-0c3"]
FIXED = {"delay_pace": "fixed"}
"""So that the number of attempts is the same each time."""

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


@pytest.fixture
def examples(monkeypatch, virtual_time, answers):
    """`examples(page)`: each Python block with the text that it prints and the text shown."""
    logger = logging.getLogger("boto_waiters_plus")
    handlers = list(logger.handlers)
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    with mock_aws():
        bwp.install(defaults=FIXED)
        s3, ec2, cloudformation = map(boto3.client, ("s3", "ec2", "cloudformation"))
        for number in set(range(30)) - {3, 17, 29}:
            s3.create_bucket(Bucket=f"logs-{number:02}")
        reply = ec2.run_instances(ImageId="ami-12345678", MinCount=3, MaxCount=3)
        ids = [instance["InstanceId"] for instance in reply["Instances"]]
        ec2.terminate_instances(InstanceIds=ids[1:2])
        failed = {"StackName": "web", "StackStatus": "ROLLBACK_COMPLETE"}
        failed["StackStatusReason"] = "The following resource(s) failed to create: [Bucket]."
        going = {"StackName": "web", "StackStatus": "CREATE_IN_PROGRESS"}
        answers(cloudformation, *[{"Stacks": [going]}] * 9, {"Stacks": [failed]})

        def run(page):
            text = (DOCS / page).read_text(encoding="utf-8")
            names = {"s3": s3, "ec2": ec2, "cloudformation": cloudformation, "ids": ids}
            for code, shown in BLOCKS.findall(text):
                printed = io.StringIO()
                with redirect_stdout(printed):
                    exec(compile(code, page, "exec"), names)
                found = printed.getvalue()
                for real, short in zip(ids, IDS, strict=True):
                    found = found.replace(real, short)
                yield found, shown

        yield run
    logger.setLevel(logging.NOTSET)
    logger.handlers[:] = handlers
    bwp.uninstall()


@pytest.mark.parametrize(("page", "least"), [("errors.md", 5), ("logging.md", 1)])
def test_examples_print_what_is_shown(examples, page, least):
    pairs = list(examples(page))
    assert len(pairs) >= least
    for printed, shown in pairs:
        assert printed == shown


# --- every message ------------------------------------------------------------------------------

NOT_FOUND = {"Error": {"Code": "404", "Message": "Not Found"}, "ResponseMetadata": {}}
NOT_FOUND["ResponseMetadata"]["HTTPStatusCode"] = 404
DENIED = {"Error": {"Code": "AccessDenied", "Message": "not you"}, "ResponseMetadata": {}}
DENIED["ResponseMetadata"]["HTTPStatusCode"] = 403
SLOW = {"Error": {"Code": "SlowDown", "Message": "Slow down"}, "ResponseMetadata": {}}
SLOW["ResponseMetadata"]["HTTPStatusCode"] = 503


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


UNREACHABLE = EndpointConnectionError(endpoint_url="https://x")

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
    ("s3", DENIED, lambda s: s.bucket()),
    ("s3", SLOW, lambda s: s.bucket()),
    ("s3", UNREACHABLE, lambda s: s.bucket()),
    (
        "lambda",
        {"Error": {"Code": "ResourceNotFoundException", "Message": "no function f"}},
        lambda s: s.client.wait_until_function_active(FunctionName="f", max_wait=30),
    ),
    ("s3", NOT_FOUND, lambda s: s.stock_bucket(WaiterConfig={"Delay": 5, "MaxAttempts": 2})),
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
    assert rows() == made

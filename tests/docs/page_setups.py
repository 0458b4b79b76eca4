"""What the blocks of each page take for granted, and what holds after they were executed.

A setup is a generator: the resources and names before its `yield`, assertions after it.
"""

import dataclasses
import io
import itertools
import json
import logging
import os
import re
import signal
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import boto3
import pytest
from aio.clients import required
from botocore.config import Config
from docs.page_run import ROOT

import boto_waiters_plus as bwp
from boto_waiters_plus.signals import receiver
from boto_waiters_plus.testing import virtual_time

SETUPS = {}


def setup(*names):
    """Register a setup for pages by their names."""

    def register(function):
        SETUPS.update(dict.fromkeys(names, function))
        return function

    return register


# --- resources ----------------------------------------------------------------------------------


def make_table(name, **client):
    boto3.client("dynamodb", **client).create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def make_database(name):
    boto3.client("rds").create_db_instance(
        DBInstanceIdentifier=name,
        DBInstanceClass="db.m5.large",
        Engine="postgres",
        AllocatedStorage=20,
        MasterUsername="admin",
        MasterUserPassword="not-a-secret",
    )


def make_bucket(name):
    boto3.client("s3").create_bucket(Bucket=name)


def make_instances(count, **parameters):
    made = boto3.client("ec2").run_instances(
        ImageId="ami-12345678", MinCount=count, MaxCount=count, **parameters
    )
    return [instance["InstanceId"] for instance in made["Instances"]]


def answer(service, operation, *replies):
    """Answer an operation of clients made from now on: with each reply, and the last one again.

    A reply is a response, or a function that is given the request and returns one, or None to
    leave the request to moto.
    """
    replies = list(replies)

    def reply(params, **_):
        found = replies.pop(0) if len(replies) > 1 else replies[0]
        found = found(params) if callable(found) else found
        if found is None:
            return None
        status = 400 if "Error" in found else 200
        metadata = {"HTTPStatusCode": status} | found.get("ResponseMetadata", {})
        http = SimpleNamespace(status_code=metadata["HTTPStatusCode"])
        return http, {**found, "ResponseMetadata": metadata}

    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session()
    boto3.DEFAULT_SESSION.events.register(f"before-call.{service}.{operation}", reply)


def error_reply(code, message="", status=400):
    return {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


def first_time(text, reply):
    """Give a reply to the first request that contains some text."""
    replies = [reply]
    return lambda request: replies.pop() if replies and text in str(request) else None


def short_ids(ids):
    """Return what the pages show for identifiers of instances."""
    return dict(zip(ids, ["i-0a1", "i-0b2", "i-0c3"], strict=False))


def make_function(name, alias, version):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as code:
        code.writestr("main.py", "")
    role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")
    client = boto3.client("lambda")
    client.create_function(
        FunctionName=name,
        Role=role["Role"]["Arn"],
        Handler="main.run",
        Runtime="python3.12",
        Code={"ZipFile": archive.getvalue()},
        Publish=True,
    )
    client.create_alias(FunctionName=name, Name=alias, FunctionVersion=version)


# --- README.md and the pages of docs/ -----------------------------------------------------------


@setup(None)
def other_pages(page):
    make_bucket("my-bucket")
    yield


@setup("README.md")
def readme(page):
    page.rough_times = True
    make_bucket("my-bucket")
    answer("cloudformation", "DescribeStacks", *failing_stack())
    answer("cloudformation", "DescribeStackEvents", events_of_bucket())
    deployed, *seen = rolled_back_service()
    answer("ecs", "UpdateService", {"service": deployed})
    answer("ecs", "DescribeServices", *({"services": [each]} for each in seen))
    yield


def rolled_back_service():
    """Return an ECS service after its update, and as it is seen until it was rolled back."""

    def service(*deployments):
        names = ("id", "status", "rolloutState", "rolloutStateReason")
        arns = {"serviceArn": "service/main/web", "clusterArn": "cluster/main"}
        made = [dict(zip(names, each, strict=False)) for each in deployments]
        return arns | {"status": "ACTIVE", "deployments": made}

    why = "ECS deployment circuit breaker: tasks failed to start."
    old, new = ("ecs-svc/1", "PRIMARY", "COMPLETED"), ("ecs-svc/2", "PRIMARY", "IN_PROGRESS")
    back = ("ecs-svc/3", "PRIMARY", "COMPLETED"), ("ecs-svc/2", "ACTIVE", "FAILED", why)
    return service(new), service(old), service(new), service(*back)


def failing_stack():
    """Return the answers for a stack that is rolled back."""
    going = {"StackName": "web", "StackStatus": "CREATE_IN_PROGRESS"}
    failed = going | {"StackStatus": "ROLLBACK_COMPLETE", "StackId": "stack/web/1"}
    failed["StackStatusReason"] = "The following resource(s) failed to create: [Bucket]."
    return {"Stacks": [going]}, {"Stacks": [failed]}


def events_of_bucket():
    """Return the answer with the event of the bucket that made a stack fail."""
    event = {"LogicalResourceId": "Bucket", "ResourceType": "AWS::S3::Bucket"}
    event |= {"ResourceStatus": "CREATE_FAILED", "Timestamp": "2026-11-01T10:00:00Z"}
    return {"StackEvents": [event | {"ResourceStatusReason": "company-logs already exists"}]}


@setup("tutorial.md")
def tutorial(page):
    page.rough_times = True
    page.replaced = lambda: short_ids(page.names.get("ids", ()))
    yield


@setup("begin.md")
def begin(page):
    make_table("orders")
    make_database("orders")
    yield


@setup("howto.md")
def howto(page):
    page.rough_times = True
    make_bucket("my-bucket")
    make_table("orders")
    make_table("busy")
    make_database("orders")
    answer("cloudformation", "DescribeStacks", *failing_stack())
    answer("cloudformation", "DescribeStackEvents", events_of_bucket())
    tasks = [{"tasks": [{"taskArn": "a1", "lastStatus": s}]} for s in ("PENDING", "RUNNING")]
    answer("ecs", "DescribeTasks", *tasks)
    done = {"ExportDescription": {"ExportStatus": "COMPLETED"}}
    lost = {"ExportDescription": {"ExportStatus": "FAILED"}}
    answer("dynamodb", "DescribeExport", lambda request: lost if "-lost" in str(request) else done)
    throttled = error_reply("ThrottlingException", "Rate exceeded")
    answer("dynamodb", "DescribeTable", first_time("busy", throttled))
    missing = error_reply("ResourceNotFoundException", "Function not found", 404)
    answer("lambda", "GetFunctionConfiguration", missing, {"State": "Active"})
    refused = error_reply(
        "InvalidParameterValueException",
        "The role defined for the function cannot be assumed by Lambda.",
    )
    answer("lambda", "CreateFunction", refused, refused, {"FunctionName": "resize"})
    denied = error_reply("403", "Forbidden", 403)
    answer("s3", "HeadBucket", lambda request: denied if "not-mine" in str(request) else None)
    page.planned = [("cancel_event=stop", 10, lambda: os.kill(os.getpid(), signal.SIGTERM))]
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


@setup("migration.md")
def migration(page):
    pytest.importorskip("tenacity")
    pytest.importorskip("backoff")
    make_bucket("my-bucket")
    ids = make_instances(3)
    boto3.client("ec2").terminate_instances(InstanceIds=ids[1:2])
    states = itertools.cycle(["RUNNING", "RUNNING", "SUCCEEDED"])
    answer("glue", "GetJobRun", lambda _: {"JobRun": {"JobRunState": next(states)}})
    page.replaced = lambda: short_ids(ids)
    page.names |= {"ids": ids, "report": page.folder}
    yield
    assert page.names["run"] == {"JobRunState": "SUCCEEDED"}
    assert page.names["state"] == "SUCCEEDED"


@setup("testing.md")
def test_module(page):
    page.is_test_module = True
    yield
    names = re.findall(r"^def (test_\w+)", page.text, re.MULTILINE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py"]
    page.monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests"), *sys.path]))
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=170)
    assert f"{len(names)} passed" in run.stdout, run.stdout


@setup("lambda.md")
def lambda_page(page):
    page.rough_times = True
    pytest.importorskip("sqlalchemy")
    make_bucket("my-bucket")
    make_bucket("my-other-bucket")
    page.names["context"] = SimpleNamespace(get_remaining_time_in_millis=lambda: 60_000)
    page.names["STORE_URL"] = "waits.db"
    yield
    page.names["store"].close()


@setup("jupyter.md")
def jupyter(page):
    page.in_loop = True
    page.real_time = ["task", "operation"]
    make_bucket("my-bucket")
    make_bucket("my-other-bucket")
    yield
    for shown in page.names["outcome"], page.names["failed"]:
        assert shown._repr_html_().startswith("<table>")
    assert page.printed[2].endswith("\r2 of 2 ended, 0 failed")
    assert page.names["task"].cancelled()


def make_waiters_folder(folder):
    acceptors = [{"state": "success", "matcher": {"success": True}}]
    traits = {"smithy.waiters#waitable": {"QueueReady": {"acceptors": acceptors}}}
    shapes = {"com.amazonaws.sqs#GetQueueUrl": {"type": "apply", "traits": traits}}
    (folder / "waiters").mkdir()
    (folder / "waiters/sqs.json").write_text(json.dumps({"smithy": "2.0", "shapes": shapes}))


@setup("waiting.md")
def waiting(page):
    make_waiters_folder(page.folder)
    page.rough_times = True
    replies = [{"Table": {"TableStatus": state}} for state in ("CREATING", "ACTIVE")]
    missing, throttle = map(error_reply, ("ResourceNotFoundException", "ThrottlingException"))
    answer("dynamodb", "DescribeTable", missing, replies[0], throttle, replies[1])
    page.names |= {"bwp": bwp, "dynamodb": boto3.client("dynamodb")}
    yield
    assert hasattr(boto3.client("sqs"), "wait_until_queue_ready")


@setup("many.md")
def many(page):
    make_table("orders")
    *made, gone = make_instances(3)
    ec2 = boto3.client("ec2")
    ec2.terminate_instances(InstanceIds=[gone])
    page.names |= {"ec2": ec2, "dynamodb": boto3.client("dynamodb"), "instances": made}
    page.names["gone"] = gone
    yield
    names = page.names
    assert list(names["failed"]) == [2]
    assert isinstance(names["failed"][2], bwp.WaiterFailedError)
    assert names["rest"][2] is None
    assert all(isinstance(result, bwp.WaiterOutcome) for result in names["results"])
    assert len(names["ready"]) == 3
    assert "3 of 3 are over, 0 failed" in "".join(page.printed)
    assert list(names["addresses"]) == made


@setup("asyncio.md")
def asyncio_page(page):
    required("aiobotocore.session")
    page.real_time = [""]
    # moto does not reach aiobotocore; its server does.
    page.monkeypatch.setenv("AWS_ENDPOINT_URL", page.start_server())
    for name in ("my-bucket", "my-other-bucket"):
        make_bucket(name)
    yield
    page.names["s3"].close()
    printed = "".join(page.printed)
    assert "asyncio's error" in printed
    assert "the wait's own error" in printed
    assert [outcome.attempts for outcome in page.names["outcomes"]] == [1, 1]


@dataclasses.dataclass
class User:
    name: str
    id: int = 7
    confirmed: bool = True


class Buffer(list):
    put = list.append
    count = list.__len__


@setup("conditions.md")
def conditions(page):
    page.names |= {
        "User": User,
        "find_user": User,
        "find_file": lambda name: None,
        "JobFailed": RuntimeError,
        "job": SimpleNamespace(
            status=lambda: "DONE",
            result=lambda: 42,
            describe=lambda: {"state": {"code": 16, "name": "running"}},
            done=lambda: True,
            running=lambda: False,
            error=lambda: None,
        ),
        "queue": SimpleNamespace(
            depth=iter([*range(102), *[3] * 900]).__next__, peek=lambda: ("ok", 3)
        ),
        "load_account": lambda token: SimpleNamespace(closed=not token),
        "fetch_balance": lambda account: 12,
        "buffer": Buffer(),
    }
    yield
    names = page.names
    assert (names["result"], names["which"]) == (42, "enough")
    assert (names["tag"], names["depth"]) == ("ok", 3)
    assert (names["wait"].label, names["outcome"].response.name) == ("anna", "anna")
    assert names["open_account"]("token") == 12
    assert names["open_account"](None) is None


@setup("signals.md")
def signals(page):
    # moto's long polls end late, whatever ends the wait.
    page.monkeypatch.setattr(receiver, "IDLE_TIMEOUT", 0.02)
    page.monkeypatch.setattr(receiver, "SHORTEST_ROUND", 0.02)
    brief = Config(read_timeout=1)
    boto3.setup_default_session()
    boto3.DEFAULT_SESSION._session.set_default_client_config(brief)
    page.real_time = [""]
    yield
    names, (instance, *others) = page.names, make_instances(4)
    start_after_first_attempt(names["ec2"], [instance])
    outcome = names["start"](instance, names["queue_url"])
    assert (outcome.attempts, outcome.observed) == (2, ["running"])
    start_after_first_attempt(names["ec2"], others)
    outcomes = names["wait_for_each"](others, names["queue_url"])
    assert [outcome.observed for outcome in outcomes] == [["running"]] * 3
    assert all(each.elapsed < 30 for each in [outcome, *outcomes])
    topic = boto3.client("sns").create_topic(Name="stacks")["TopicArn"]
    stacks = names["watch_topic"](topic, names["queue_url"])
    assert stacks.deliver(
        "StackStatus='CREATE_COMPLETE'\nResourceType='AWS::CloudFormation::Stack'"
    )


def start_after_first_attempt(ec2, instances):
    """Stop instances; start them after their first attempt, and put the events, as EC2 does."""
    ec2.stop_instances(InstanceIds=instances)
    missing = set(instances)
    start = type(ec2).start_instances
    ec2.start_instances = lambda **_: None

    def change(**_):
        for instance in [missing.pop() for _ in range(len(missing))]:
            start(ec2, InstanceIds=[instance])
            entry = {
                "Source": "aws.ec2",
                "DetailType": "EC2 Instance State-change Notification",
                "Detail": json.dumps({"instance-id": instance, "state": "running"}),
            }
            boto3.client("events").put_events(Entries=[entry])

    ec2.meta.events.register("after-call.ec2.DescribeInstances", change)


@setup("definitions.md")
def definitions(page):
    [first, *_] = [each.parsed for each in page.examples if "smithy.waiters" in each.parsed]
    (page.folder / "queue.json").write_text(first, encoding="utf-8")
    page.service = "sqs"
    boto3.client("sqs").create_queue(QueueName="orders")
    make_table("orders")
    tags = [{"Key": "app", "Value": "shop"}]
    make_instances(3, TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])
    make_function("orders", alias="live", version="1")
    make_query_waiter(page.folder)
    yield
    names = page.names
    assert bwp.load_definitions(names["idl"]) == bwp.load_definitions(json.loads(first))
    waiter = names["instances_running"](4, "app", "shop")
    with virtual_time(), pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(boto3.client("ec2"), waiter, max_wait=10)


def make_query_waiter(folder):
    """A definition that compares with a value that the enum does not have."""
    output = {"path": "QueryExecution.Status.State", "comparator": "stringEquals"}
    acceptors = [
        {"state": state, "matcher": {"output": {**output, "expected": expected}}}
        for state, expected in [
            ("success", "SUCCEEDED"),
            ("failure", "FAILED"),
            ("failure", "CANCELED"),
        ]
    ]
    traits = {"smithy.waiters#waitable": {"QueryDone": {"acceptors": acceptors}}}
    shapes = {"com.amazonaws.athena#GetQueryExecution": {"type": "apply", "traits": traits}}
    text = json.dumps({"smithy": "2.0", "shapes": shapes}, indent=2)
    (folder / "waiters").mkdir()
    (folder / "waiters/athena.json").write_text(text, encoding="utf-8")


@setup("operations.md")
def operations(page):
    page.real_time = [""]
    page.names["s3"] = boto3.client("s3")
    page.names["s3"].create_bucket(Bucket="orders")
    yield
    page.names["store"].close()
    assert "True 1 response" in "".join(page.printed)


@setup("fleet.md")
def fleet(page):
    pytest.importorskip("distributed")
    page.real_time = [""]
    page.names["dynamodb"] = boto3.client("dynamodb", endpoint_url=page.start_server())
    for number in range(20):
        make_table(f"table-{number}")
    yield
    page.names["store"].close()
    assert "".join(page.printed).count(" succeeded\n") == 20


@setup("idempotency.md")
def idempotency(page):
    pytest.importorskip("sqlalchemy")
    yield
    *python, command = page.printed
    assert "".join(python).endswith(" 1\n['running']\n")
    assert page.names["call"].outcome.waiter == "InstanceExists"
    assert "then InstanceRunning" in command
    interrupt_and_resume(page)
    assert page.names["store"].open_calls() == []
    page.names["store"].close()


def interrupt_and_resume(page):
    """Run the block that resumes calls after one that was interrupted."""
    [block] = [each for each in page.examples if "resume_call(" in each.parsed]
    events = page.names["ec2"].meta.events
    events.register("before-call.ec2.RunInstances", interrupt, unique_id="interrupt")
    with pytest.raises(KeyboardInterrupt):
        block.evaluate()
    assert len(page.names["store"].open_calls()) == 1
    events.unregister("before-call.ec2.RunInstances", unique_id="interrupt")
    block.evaluate()


def interrupt(**_):
    raise KeyboardInterrupt


@setup("typing.md")
def typing_page(page):
    make_bucket("my-bucket")
    yield
    assert page.names["state_of"](page.names["waited"])["BucketRegion"] == "us-east-1"


@setup("telemetry.md")
def telemetry(page):
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = memory.InMemorySpanExporter()
    # It writes to the stdout of the moment at which OpenTelemetry was imported.
    page.monkeypatch.setattr(export, "ConsoleSpanExporter", lambda: exporter)
    make_bucket("my-bucket")
    yield
    page.names["telemetry"].uninstrument()
    (span,) = exporter.get_finished_spans()
    assert span.name == "wait BucketExists"


@setup("errors.md", "logging.md")
def errors(page):
    # So that the number of attempts is the same each time.
    bwp.install(defaults={"delay_pace": "fixed"})
    s3, ec2, cloudformation = map(boto3.client, ("s3", "ec2", "cloudformation"))
    for number in set(range(30)) - {3, 17, 29}:
        s3.create_bucket(Bucket=f"logs-{number:02}")
    ids = make_instances(3)
    ec2.terminate_instances(InstanceIds=ids[1:2])
    going, failed = failing_stack()
    page.answers(cloudformation, *[going] * 9, failed, events_of_bucket())
    page.names |= {"s3": s3, "ec2": ec2, "cloudformation": cloudformation, "ids": ids}
    page.replaced = lambda: short_ids(ids)
    logger = logging.getLogger("boto_waiters_plus")
    handlers = list(logger.handlers)
    yield
    logger.setLevel(logging.NOTSET)
    logger.handlers[:] = handlers


@setup("command.md")
def command(page):
    page.rough_times = True
    make_table("orders", region_name="eu-west-1")
    for name in ("orders", "customers"):
        make_table(name)
    first = "s3 bucket-exists --bucket my-bucket --max-wait 5m"
    page.planned = [(first, 10, lambda: make_bucket("my-bucket"))]
    ecs = boto3.client("ecs")
    ecs.create_cluster(clusterName="web")
    container = {"name": "main", "image": "x", "memory": 128}
    ecs.register_task_definition(family="api", containerDefinitions=[container])
    ecs.create_service(cluster="web", serviceName="api", taskDefinition="api", desiredCount=1)
    (page.folder / "tables.jsonl").write_text(
        '{"TableName": "orders"}\n{"TableName": "customers"}\n'
    )
    (page.folder / "deploy.py").write_text(
        "import boto3\n"
        "boto3.client('s3').wait_until_bucket_exists(Bucket='my-bucket', max_wait=9)\n"
    )
    (page.folder / "poll.py").write_text(
        "import time, boto3\n"
        "athena = boto3.client('athena')\n"
        "def get(): return athena.get_query_execution(QueryExecutionId=query)['QueryExecution']\n"
        "for _ in range(60):\n"
        "    if get()['Status']['State'] == 'SUCCEEDED': break\n"
        "    time.sleep(10)\n"
    )
    (page.folder / ".config/fish/completions").mkdir(parents=True)
    yield

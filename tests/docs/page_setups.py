"""What the blocks of each page take for granted, and what holds after they were executed.

A setup is a generator: the resources and names before its `yield`, the cleaning up after it.
"""

import os
import signal
from types import SimpleNamespace

import boto3

import boto_waiters_plus

# --- resources ----------------------------------------------------------------------------------


def make_table(name):
    key = {"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
    key["AttributeDefinitions"] = [{"AttributeName": "id", "AttributeType": "S"}]
    boto3.client("dynamodb").create_table(TableName=name, **key, BillingMode="PAY_PER_REQUEST")


def make_database(name):
    kind = {"DBInstanceClass": "db.m5.large", "Engine": "postgres", "AllocatedStorage": 20}
    user = {"MasterUsername": "admin", "MasterUserPassword": "not-a-secret"}
    boto3.client("rds").create_db_instance(DBInstanceIdentifier=name, **kind, **user)


def make_bucket(name):
    boto3.client("s3").create_bucket(Bucket=name)


def write_report(text):
    boto3.client("s3").put_object(Bucket="my-bucket", Key="report.csv", Body=text.encode())


STATES = "pending", "running", "stopping", "stopped"
"""The states of an EC2 instance that stops itself."""


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
    error = {"Code": code, "Message": message}
    return {"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}


def first_time(text, reply):
    """Give a reply to the first request that contains some text."""
    replies = [reply]
    return lambda request: replies.pop() if replies and text in str(request) else None


# --- the pages ----------------------------------------------------------------------------------


def readme(page):
    make_bucket("my-bucket")
    a_stack_fails()
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


def a_stack_fails(after=1):
    """Answer for a stack that is rolled back, and with the event of the bucket that it lacks."""
    going = {"StackName": "web", "StackStatus": "CREATE_IN_PROGRESS"}
    failed = going | {"StackStatus": "ROLLBACK_COMPLETE", "StackId": "stack/web/1"}
    failed["StackStatusReason"] = "The following resource(s) failed to create: [Bucket]."
    replies = [*[going] * after, failed]
    answer("cloudformation", "DescribeStacks", *({"Stacks": [each]} for each in replies))
    event = {"LogicalResourceId": "Bucket", "ResourceType": "AWS::S3::Bucket"}
    event |= {"ResourceStatus": "CREATE_FAILED", "Timestamp": "2026-11-01T10:00:00Z"}
    event["ResourceStatusReason"] = "company-logs already exists"
    answer("cloudformation", "DescribeStackEvents", {"StackEvents": [event]})


def show_short_ids(page):
    ids = "i-0a1", "i-0b2", "i-0c3"
    page.replaced = lambda: dict(zip(page.names.get("ids", ()), ids, strict=False))


def make_instances(page):
    """Three instances, of which the second is terminated."""
    ec2 = page.names["ec2"] = boto3.client("ec2")
    made = ec2.run_instances(ImageId="ami-12345678", MinCount=3, MaxCount=3)["Instances"]
    page.names["ids"] = [each["InstanceId"] for each in made]
    ec2.terminate_instances(InstanceIds=page.names["ids"][1:2])
    show_short_ids(page)


def tutorial(page):
    show_short_ids(page)
    yield


def waiting(page):
    missing, throttled = map(error_reply, ("ResourceNotFoundException", "ThrottlingException"))
    creating, active = ({"Table": {"TableStatus": each}} for each in ("CREATING", "ACTIVE"))
    answer("dynamodb", "DescribeTable", missing, creating, throttled, active)
    page.names.update(bwp=boto_waiters_plus, dynamodb=boto3.client("dynamodb"))
    yield


def logged(page):
    a_stack_fails(after=9)
    page.names.update(cloudformation=boto3.client("cloudformation"), s3=boto3.client("s3"))
    make_instances(page)
    make_bucket("logs-00")
    # The same lines each time.
    boto_waiters_plus.install(defaults={"delay_pace": "fixed"})
    yield
    boto_waiters_plus.uninstall()


def migration(page):
    make_bucket("my-bucket")
    make_instances(page)
    runs = [{"JobRun": {"JobRunState": state}} for state in ("RUNNING", "SUCCEEDED")]
    answer("glue", "GetJobRun", *runs)
    page.names["report"] = SimpleNamespace(exists=lambda: True)
    yield


def begin(page):
    make_table("orders")
    make_database("orders")
    yield


def howto(page):
    make_bucket("my-bucket")
    make_table("orders")
    make_table("busy")
    make_database("orders")
    a_stack_fails()
    tasks = [{"tasks": [{"taskArn": "a1", "lastStatus": s}]} for s in ("PENDING", "RUNNING")]
    answer("ecs", "DescribeTasks", *tasks)
    done = {"ExportDescription": {"ExportStatus": "COMPLETED"}}
    lost = {"ExportDescription": {"ExportStatus": "FAILED"}}
    answer("dynamodb", "DescribeExport", lambda request: lost if "-lost" in str(request) else done)
    throttled = error_reply("ThrottlingException", "Rate exceeded")
    answer("dynamodb", "DescribeTable", first_time("busy", throttled))
    missing = error_reply("ResourceNotFoundException", "Function not found", 404)
    answer("lambda", "GetFunctionConfiguration", missing, {"State": "Active"})
    why = "The role defined for the function cannot be assumed by Lambda."
    refused = error_reply("InvalidParameterValueException", why)
    answer("lambda", "CreateFunction", refused, refused, {"FunctionName": "resize"})
    instances = [{"Instances": [{"InstanceId": "i-0a1", "State": {"Name": s}}]} for s in STATES]
    answer("ec2", "DescribeInstances", *({"Reservations": [each]} for each in instances))
    write_report("old")
    page.planned = [
        ("cancel_event=stop", 10, lambda: os.kill(os.getpid(), signal.SIGTERM)),
        ("IfNoneMatch=etag", 60, lambda: write_report("new")),
    ]
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


SETUPS = {
    "README.md": readme, "tutorial.md": tutorial, "waiting.md": waiting, "logging.md": logged,
    "migration.md": migration, "begin.md": begin, "howto.md": howto,
}  # fmt: skip

"""Real waiters against moto: each kind of end, in each way to wait.

What a case needs to happen later is planned on the virtual clock. What moto itself cannot produce
(a status it never sets, an error it never raises) is set on its backend or answered by a handler;
such a case says so in `by_hand`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, WaiterError
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

import boto_waiters_plus as bwp

REGION = "us-east-1"
WAYS = ("wait_until", "get_waiter", "resource")


def client(service):
    """A client that is not attached, for what happens beside the wait."""
    return boto3.Session().client(service)


def backend(service):
    return get_backend(service)[DEFAULT_ACCOUNT_ID][REGION]


@dataclass(frozen=True, kw_only=True)
class Case:
    service: str
    kind: str
    """response, exception, failure or timeout"""
    waiter: str
    world: Callable[[Any], dict[str, Any]]
    """Makes what is there, plans what comes, gives the parameters."""
    seen: Any = None
    """What the outcome or the error observed last; an error's code for the exception kind."""
    resource: Callable[[Any, dict[str, Any]], Any] | None = None
    """The bound resource method, where boto3 has one."""
    answer: dict[str, Any] | None = None
    """An error that a handler answers instead of moto, from its third call on."""
    ways: tuple[str, ...] = WAYS
    definitions: dict[str, Any] | None = None
    by_hand: str = ""

    @property
    def id(self):
        return f"{self.service}-{self.kind}-{self.waiter}"


# --- worlds -------------------------------------------------------------------------------------


def bucket_appears(clock):
    s3 = client("s3")
    clock.call_at(8, lambda: s3.create_bucket(Bucket="photos"))
    return {"Bucket": "photos"}


def bucket_goes(clock):
    s3 = client("s3")
    s3.create_bucket(Bucket="photos")
    clock.call_at(8, lambda: s3.delete_bucket(Bucket="photos"))
    return {"Bucket": "photos"}


def object_appears(clock):
    s3 = client("s3")
    s3.create_bucket(Bucket="photos")
    clock.call_at(8, lambda: s3.put_object(Bucket="photos", Key="a", Body=b"a"))
    return {"Bucket": "photos", "Key": "a"}


def no_bucket(_):
    return {"Bucket": "never"}


def create_table():
    client("dynamodb").create_table(
        TableName="orders",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def table_appears(clock):
    clock.call_at(30, create_table)
    return {"TableName": "orders"}


def table_goes(clock):
    create_table()
    dynamodb = client("dynamodb")
    clock.call_at(30, lambda: dynamodb.delete_table(TableName="orders"))
    return {"TableName": "orders"}


def table_stays(_):
    create_table()
    return {"TableName": "orders"}


def instance():
    [made] = client("ec2").run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)[
        "Instances"
    ]
    return made["InstanceId"]


def pending_instance():
    # moto's instances run at once: this one is put back to pending
    made = instance()
    state = backend("ec2").get_instance(made)._state
    state.name, state.code = "pending", 0
    return {"InstanceIds": [made]}, state


def instance_starts(clock):
    parameters, state = pending_instance()
    clock.call_at(40, lambda: setattr(state, "name", "running"))
    return parameters


def instance_dies(clock):
    parameters, ec2 = pending_instance()[0], client("ec2")
    clock.call_at(20, lambda: ec2.terminate_instances(**parameters))
    return parameters


def instance_stays(_):
    return {"InstanceIds": [instance()]}


def volume_goes(clock):
    ec2 = client("ec2")
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    clock.call_at(20, lambda: ec2.delete_volume(VolumeId=volume))
    return {"VolumeIds": [volume]}


TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {}}}})


def stack(status):
    client("cloudformation").create_stack(StackName="network", TemplateBody=TEMPLATE)
    [made] = backend("cloudformation").stacks.values()
    made.status = status
    return made


def stack_completes(clock):
    made = stack("CREATE_IN_PROGRESS")
    clock.call_at(70, lambda: setattr(made, "status", "CREATE_COMPLETE"))
    return {"StackName": "network"}


def stack_rolls_back(clock):
    made = stack("CREATE_IN_PROGRESS")
    clock.call_at(70, lambda: setattr(made, "status", "ROLLBACK_COMPLETE"))
    return {"StackName": "network"}


def stack_goes(clock):
    stack("CREATE_COMPLETE")
    cloudformation = client("cloudformation")
    clock.call_at(70, lambda: cloudformation.delete_stack(StackName="network"))
    return {"StackName": "network"}


def stack_hangs(_):
    stack("CREATE_IN_PROGRESS")
    return {"StackName": "network"}


def role_appears(clock):
    iam = client("iam")
    clock.call_at(
        5, lambda: iam.create_role(RoleName="worker", AssumeRolePolicyDocument=json.dumps({}))
    )
    return {"RoleName": "worker"}


def user_goes(clock):
    iam = client("iam")
    iam.create_user(UserName="bob")
    clock.call_at(5, lambda: iam.delete_user(UserName="bob"))
    return {"UserName": "bob"}


def no_role(_):
    return {"RoleName": "never"}


def database(status):
    client("rds").create_db_instance(
        DBInstanceIdentifier="db",
        DBInstanceClass="db.t3.micro",
        Engine="postgres",
        MasterUsername="root",
        MasterUserPassword="password",
        AllocatedStorage=20,
    )
    made = backend("rds").databases["db"]
    made.status = status
    return made


def database_starts(clock):
    made = database("creating")
    clock.call_at(100, lambda: setattr(made, "status", "available"))
    return {"DBInstanceIdentifier": "db"}


def database_fails(clock):
    made = database("creating")
    clock.call_at(100, lambda: setattr(made, "status", "incompatible-parameters"))
    return {"DBInstanceIdentifier": "db"}


def database_hangs(_):
    database("creating")
    return {"DBInstanceIdentifier": "db"}


def database_goes(clock):
    database("deleting")
    rds = client("rds")
    clock.call_at(
        100, lambda: rds.delete_db_instance(DBInstanceIdentifier="db", SkipFinalSnapshot=True)
    )
    return {"DBInstanceIdentifier": "db"}


def service(clock, *, deletes):
    ecs = client("ecs")
    ecs.create_cluster(clusterName="main")
    ecs.register_task_definition(
        family="web", containerDefinitions=[{"name": "web", "image": "web", "memory": 10}]
    )
    ecs.create_service(cluster="main", serviceName="web", taskDefinition="web", desiredCount=0)
    if deletes:
        clock.call_at(40, lambda: ecs.delete_service(cluster="main", service="web", force=True))
    return {"cluster": "main", "services": ["web"]}


def service_goes(clock):
    return service(clock, deletes=True)


def service_stays(clock):
    return service(clock, deletes=False)


def service_missing(clock):
    return {**service(clock, deletes=False), "services": ["other"]}


def create_stream():
    client("kinesis").create_stream(StreamName="clicks", ShardCount=1)
    return backend("kinesis").describe_stream(stream_arn=None, stream_name="clicks")


def stream_starts(clock):
    made = create_stream()
    made.status = "CREATING"
    clock.call_at(25, lambda: setattr(made, "status", "ACTIVE"))
    return {"StreamName": "clicks"}


def stream_hangs(_):
    create_stream().status = "CREATING"
    return {"StreamName": "clicks"}


def stream_goes(clock):
    create_stream()
    kinesis = client("kinesis")
    clock.call_at(25, lambda: kinesis.delete_stream(StreamName="clicks"))
    return {"StreamName": "clicks"}


def denied(code="AccessDeniedException", status=400):
    return {
        "Error": {"Code": code, "Message": "not you"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


def waiters_2(name, operation, *acceptors):
    body = {"operation": operation, "delay": 2, "maxAttempts": 30, "acceptors": list(acceptors)}
    return {"version": 2, "waiters": {name: body}}


USER_GONE = waiters_2(
    "UserNotExists", "GetUser", {"state": "success", "matcher": "error", "expected": "NoSuchEntity"}
)
CLUSTER_GONE = waiters_2(
    "ClusterServicesGone",
    "ListServices",
    {"state": "success", "matcher": "error", "expected": "ClusterNotFoundException"},
)


def cluster_goes(clock):
    ecs = client("ecs")
    ecs.create_cluster(clusterName="main")
    clock.call_at(10, backend("ecs").clusters.clear)
    return {"cluster": "main"}


def forbidden_bucket(clock):
    return bucket_appears(clock)


def only_ours(reason):
    return {"ways": ("wait_until",), "by_hand": reason}


CASES = [
    # s3
    Case(
        service="s3",
        kind="response",
        waiter="bucket_exists",
        world=bucket_appears,
        resource=lambda r, p: r.Bucket(p["Bucket"]).wait_until_exists,
    ),
    Case(
        service="s3",
        kind="response",
        waiter="object_exists",
        world=object_appears,
        resource=lambda r, p: r.Object(p["Bucket"], p["Key"]).wait_until_exists,
    ),
    Case(
        service="s3",
        kind="exception",
        waiter="bucket_not_exists",
        world=bucket_goes,
        seen="404",
        resource=lambda r, p: r.Bucket(p["Bucket"]).wait_until_not_exists,
    ),
    Case(
        service="s3",
        kind="failure",
        waiter="bucket_exists",
        world=no_bucket,
        answer=denied("405", 405),
        seen="405",
        by_hand="moto forbids nothing",
        resource=lambda r, p: r.Bucket(p["Bucket"]).wait_until_exists,
    ),
    Case(
        service="s3",
        kind="failure",
        waiter="bucket_exists",
        world=no_bucket,
        answer=denied("403", 403),
        seen="403",
        **only_ours("moto forbids nothing; botocore's own acceptors take 403 as success"),
    ),
    Case(
        service="s3",
        kind="timeout",
        waiter="bucket_exists",
        world=no_bucket,
        resource=lambda r, p: r.Bucket(p["Bucket"]).wait_until_exists,
    ),
    # dynamodb
    Case(
        service="dynamodb",
        kind="response",
        waiter="table_exists",
        world=table_appears,
        seen="ACTIVE",
        resource=lambda r, p: r.Table(p["TableName"]).wait_until_exists,
    ),
    Case(
        service="dynamodb",
        kind="exception",
        waiter="table_not_exists",
        world=table_goes,
        seen="ResourceNotFoundException",
        resource=lambda r, p: r.Table(p["TableName"]).wait_until_not_exists,
    ),
    Case(
        service="dynamodb",
        kind="failure",
        waiter="table_exists",
        world=lambda _: {"TableName": "never"},
        answer=denied(),
        seen="AccessDeniedException",
        by_hand="moto denies nothing",
        resource=lambda r, p: r.Table(p["TableName"]).wait_until_exists,
    ),
    Case(
        service="dynamodb",
        kind="timeout",
        waiter="table_not_exists",
        world=table_stays,
        resource=lambda r, p: r.Table(p["TableName"]).wait_until_not_exists,
    ),
    # ec2
    Case(
        service="ec2",
        kind="response",
        waiter="instance_running",
        world=instance_starts,
        seen=["running"],
        by_hand="the pending state is set on moto's backend",
        resource=lambda r, p: r.Instance(p["InstanceIds"][0]).wait_until_running,
    ),
    Case(
        service="ec2",
        kind="exception",
        waiter="volume_deleted",
        world=volume_goes,
        seen="InvalidVolume.NotFound",
    ),
    Case(
        service="ec2",
        kind="failure",
        waiter="instance_running",
        world=instance_dies,
        seen=["terminated"],
        by_hand="the pending state is set on moto's backend",
        resource=lambda r, p: r.Instance(p["InstanceIds"][0]).wait_until_running,
    ),
    Case(
        service="ec2",
        kind="timeout",
        waiter="instance_stopped",
        world=instance_stays,
        seen=["running"],
        resource=lambda r, p: r.Instance(p["InstanceIds"][0]).wait_until_stopped,
    ),
    # cloudformation
    Case(
        service="cloudformation",
        kind="response",
        waiter="stack_create_complete",
        world=stack_completes,
        seen=["CREATE_COMPLETE"],
        by_hand="moto's stacks are complete at once: the status is set on its backend",
    ),
    Case(
        service="cloudformation",
        kind="exception",
        waiter="stack_delete_complete",
        world=stack_goes,
        seen="ValidationError",
    ),
    Case(
        service="cloudformation",
        kind="failure",
        waiter="stack_create_complete",
        world=stack_rolls_back,
        seen=["ROLLBACK_COMPLETE"],
        by_hand="moto's stacks are complete at once: the status is set on its backend",
    ),
    Case(
        service="cloudformation",
        kind="timeout",
        waiter="stack_create_complete",
        world=stack_hangs,
        seen=["CREATE_IN_PROGRESS"],
        by_hand="moto's stacks are complete at once: the status is set on its backend",
    ),
    # iam
    Case(service="iam", kind="response", waiter="role_exists", world=role_appears),
    Case(
        service="iam",
        kind="exception",
        waiter="user_not_exists",
        world=user_goes,
        seen="NoSuchEntity",
        definitions=USER_GONE,
        **only_ours("botocore has no iam waiter that ends with an error: one of our own"),
    ),
    Case(
        service="iam",
        kind="failure",
        waiter="role_exists",
        world=no_role,
        answer=denied("AccessDenied", 403),
        seen="AccessDenied",
        by_hand="moto denies nothing",
    ),
    Case(service="iam", kind="timeout", waiter="role_exists", world=no_role),
    # rds
    Case(
        service="rds",
        kind="response",
        waiter="db_instance_available",
        world=database_starts,
        seen=["available"],
        by_hand="the status is set on moto's backend",
    ),
    Case(
        service="rds",
        kind="exception",
        waiter="db_instance_deleted",
        world=database_goes,
        seen="DBInstanceNotFound",
    ),
    Case(
        service="rds",
        kind="failure",
        waiter="db_instance_available",
        world=database_fails,
        seen=["incompatible-parameters"],
        by_hand="the status is set on moto's backend",
    ),
    Case(
        service="rds",
        kind="timeout",
        waiter="db_instance_available",
        world=database_hangs,
        seen=["creating"],
        by_hand="the status is set on moto's backend",
    ),
    # ecs
    Case(
        service="ecs",
        kind="response",
        waiter="services_inactive",
        world=service_goes,
        seen=["INACTIVE"],
    ),
    Case(service="ecs", kind="response", waiter="services_stable", world=service_stays),
    Case(
        service="ecs",
        kind="exception",
        waiter="cluster_services_gone",
        world=cluster_goes,
        seen="ClusterNotFoundException",
        definitions=CLUSTER_GONE,
        **only_ours(
            "botocore has no ecs waiter that ends with an error: one of our own; "
            "moto keeps deleted clusters: it is taken from its backend"
        ),
    ),
    Case(
        service="ecs",
        kind="failure",
        waiter="services_stable",
        world=service_missing,
        seen=["MISSING"],
    ),
    Case(
        service="ecs",
        kind="timeout",
        waiter="services_inactive",
        world=service_stays,
        seen=["ACTIVE"],
    ),
    # kinesis
    Case(
        service="kinesis",
        kind="response",
        waiter="stream_exists",
        world=stream_starts,
        seen="ACTIVE",
        by_hand="moto's streams are active at once: the status is set on its backend",
    ),
    Case(
        service="kinesis",
        kind="exception",
        waiter="stream_not_exists",
        world=stream_goes,
        seen="ResourceNotFoundException",
    ),
    Case(
        service="kinesis",
        kind="failure",
        waiter="stream_exists",
        world=lambda _: {"StreamName": "never"},
        seen="ResourceNotFoundException",
    ),
    Case(
        service="kinesis",
        kind="timeout",
        waiter="stream_exists",
        world=stream_hangs,
        seen="CREATING",
        by_hand="moto's streams are active at once: the status is set on its backend",
    ),
]

RUNS = [
    pytest.param(case, way, id=f"{case.id}-{way}")
    for case in CASES
    for way in WAYS
    if way in case.ways and (way != "resource" or case.resource is not None)
]


def begin(case, way, parameters):
    """The call that waits, on a client or a resource that is attached."""
    bwp.install(definitions=case.definitions or ())
    session = boto3.Session()
    if way == "resource":
        resource = session.resource(case.service)
        answer_later(resource.meta.client, case.answer)
        method = case.resource(resource, parameters)
        return lambda: method(max_wait=600)
    attached = session.client(case.service)
    answer_later(attached, case.answer)
    if way == "get_waiter":
        return lambda: attached.get_waiter(case.waiter).wait(**parameters)
    method = getattr(attached, f"wait_until_{case.waiter}")
    return lambda: method(**parameters, max_wait=600)


def answer_later(attached, answer):
    calls = []

    def handle(**_):
        calls.append(1)
        if len(calls) < 3:
            return None
        status = answer["ResponseMetadata"]["HTTPStatusCode"]
        return SimpleNamespace(status_code=status), answer

    if answer is not None:
        attached.meta.events.register("before-call", handle)


@pytest.mark.parametrize(("case", "way"), RUNS)
def test_wait_ends_as_it_should(case, way, virtual_time):
    with mock_aws():
        parameters = case.world(virtual_time)
        wait = begin(case, way, parameters)
        if case.kind in ("response", "exception"):
            succeeds(case, wait())
        else:
            fails(case, way, wait)


def succeeds(case, outcome):
    if case.kind == "response":
        assert isinstance(outcome, bwp.ResponseOutcome)
        assert outcome.response["ResponseMetadata"]["HTTPStatusCode"] == 200
        assert case.seen is None or outcome.observed == case.seen
    else:
        assert isinstance(outcome, bwp.ExceptionOutcome)
        assert isinstance(outcome.exception, ClientError)
        assert outcome.exception.response["Error"]["Code"] == case.seen
    assert outcome.attempts > 1 or case.waiter == "services_stable"


def fails(case, way, wait):
    with pytest.raises(WaiterError) as caught:
        wait()
    error = caught.value
    assert isinstance(error, bwp.WaiterError)
    if case.kind == "failure":
        assert isinstance(error, bwp.WaiterFailedError)
        assert "terminal failure" in str(error) or "An error occurred" in str(error)
    elif way != "get_waiter":
        assert isinstance(error, bwp.WaiterTimeoutError)
        assert error.elapsed == pytest.approx(600, abs=1)
    else:
        assert "Max attempts exceeded" in str(error)
    if error.last_exception is not None:
        code = error.last_exception.response["Error"]["Code"]
        assert case.seen is None or code == case.seen
        assert error.last_response["Error"]["Code"] == code
        assert error.__cause__ is error.last_exception
    else:
        assert case.seen is None or error.observed == case.seen
        assert error.last_response["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_every_service_has_every_kind():
    services = ("s3", "dynamodb", "ec2", "cloudformation", "iam", "rds", "ecs", "kinesis")
    kinds = ("response", "exception", "failure", "timeout")
    assert {(c.service, c.kind) for c in CASES} == {(s, k) for s in services for k in kinds}

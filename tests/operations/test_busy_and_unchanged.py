"""Refusals of `begin`: another change, nothing to change, and what is gone already."""

import asyncio
import functools
import json

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from case_tables import CASES
from stored_waits import RunningClock, work

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

STACK = {"StackName": "s", "UsePreviousTemplate": True}
CHANGES = {**STACK, "ChangeSetName": "n"}
FAILED = {"Id": "arn:cs", "StackId": "arn:s", "Status": "FAILED"}
EMPTY = "The submitted information didn't contain changes."


@pytest.fixture
def busy(error_answer):
    text = "Stack:arn is in UPDATE_IN_PROGRESS state and can not be updated."
    return error_answer("ValidationError", text)


@pytest.fixture
def unchanged(error_answer):
    return error_answer("ValidationError", "No updates are to be performed.")


@pytest.fixture
def client(answers, virtual_time):
    """`client(service, *answers)`: a client, whose `requests` are those of its operations."""

    def make(service, *replies):
        made = boto3.client(service)
        made.called = answers(made, *replies)
        return made

    return make


@pytest.fixture(params=["blocking", "task", "store"])
def begin(request, virtual_time):
    """`begin`, blocking, as part of a task, and in a store."""
    if request.param == "blocking":
        return bwp.begin
    if request.param == "task":
        return lambda *method, **options: asyncio.run(bwp.begin_async(*method, **options))
    store = operations.Store(":memory:", clock=RunningClock())

    def begin_in_store(method, **options):
        operation = bwp.begin(method, in_store=store, **options)
        work(store, method.__self__)
        return store.get(operation.path)

    return begin_in_store


def test_nothing_to_change_is_an_outcome(begin, client, unchanged):
    stacks = client("cloudformation", unchanged)
    operation = begin(stacks.update_stack, max_wait=60, no_change_ok=True, **STACK)
    outcome = operation.result(0)
    assert isinstance(outcome, bwp.ExceptionOutcome)
    assert outcome.basis == "unchanged"
    assert outcome.exception.response["Error"]["Message"] == "No updates are to be performed."
    assert operation.call.attempts == 1
    assert operation.to_json()["response"]["basis"] == "unchanged"
    assert stacks.called.operations == ["UpdateStack"]


def test_nothing_is_stopped_where_nothing_changed(begin, client, unchanged):
    stacks = client("cloudformation", unchanged)
    options = {"no_change_ok": True, "stop_on_timeout": True, "stop_on_cancel": True}
    operation = begin(stacks.update_stack, max_wait=60, **options, **STACK)
    assert operation.stop() is None
    assert not operation.cancel()
    assert stacks.called.operations == ["UpdateStack"]


@pytest.mark.parametrize("reason", [EMPTY, "No updates are to be performed."])
def test_an_empty_change_set_is_an_outcome(begin, client, reason):
    stacks = client("cloudformation", {**FAILED, "StatusReason": reason})
    operation = begin(stacks.create_change_set, max_wait=60, no_change_ok=True, **CHANGES)
    outcome = operation.result(60)
    assert (type(outcome), outcome.basis) == (bwp.ExceptionOutcome, "unchanged")
    assert reason in str(outcome.exception)


def test_another_failure_of_a_change_set_stays_one(begin, client):
    stacks = client("cloudformation", {**FAILED, "StatusReason": "No such template"})
    operation = begin(stacks.create_change_set, max_wait=60, no_change_ok=True, **CHANGES)
    assert isinstance(operation.exception(60), bwp.WaiterFailedError)


def test_nothing_to_change_is_refused_unless_allowed(begin, client, unchanged):
    stacks = client("cloudformation", unchanged)
    with pytest.raises(ClientError, match="No updates"):
        begin(stacks.update_stack, max_wait=60, **STACK)


def test_nothing_left_to_change_is_no_outcome_after_an_open_attempt(
    begin, client, unchanged, no_answer
):
    stacks = client("cloudformation", no_answer, unchanged)
    with pytest.raises(ClientError, match="No updates"):
        begin(stacks.update_stack, max_wait=60, no_change_ok=True, **STACK)
    retried = {**unchanged, "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 1}}
    stacks = client("cloudformation", retried)
    with pytest.raises(ClientError, match="No updates"):
        begin(stacks.update_stack, max_wait=60, no_change_ok=True, **STACK)


def test_a_busy_resource_is_waited_for(begin, client, busy, unchanged):
    stacks = client("cloudformation", busy, busy, unchanged)
    options = {"max_wait": 600, "busy_wait": 300, "no_change_ok": True}
    operation = begin(stacks.update_stack, **options, **STACK)
    assert operation.result(0).basis == "unchanged"
    assert operation.call.attempts == 3


@pytest.mark.parametrize(("busy_wait", "least", "most"), [(None, 1, 1), (0, 1, 1), (60, 3, 20)])
def test_a_busy_resource_is_refused_in_the_end(begin, client, busy, busy_wait, least, most):
    stacks = client("cloudformation", busy)
    with pytest.raises(ClientError, match="UPDATE_IN_PROGRESS"):
        begin(stacks.update_stack, max_wait=600, busy_wait=busy_wait, **STACK)
    assert least <= len(stacks.called.operations) <= most


SHARDS = {"StreamName": "s", "TargetShardCount": 2, "ScalingType": "UNIFORM_SCALING"}
PARAMETERS = {
    "lambda": ("update_function_code", {"FunctionName": "f", "ZipFile": b"z"}),
    "eks": ("update_nodegroup_config", {"clusterName": "c", "nodegroupName": "n"}),
    "rds": ("reboot_db_instance", {"DBInstanceIdentifier": "d"}),
    "opensearch": ("update_domain_config", {"DomainName": "logs"}),
    "kinesis": ("update_shard_count", SHARDS),
    "elasticbeanstalk": ("update_environment", {"EnvironmentName": "blue"}),
}
BUSY = {
    "lambda": ("ResourceConflictException", "An update is in progress for resource: arn"),
    "eks": ("ResourceInUseException", "Cannot Update because c currently has update u in progress"),
    "rds": ("InvalidDBInstanceState", "Instance cannot reboot due to an in-progress operation."),
    "opensearch": ("ValidationException", "A change/update is in progress."),
    "kinesis": ("ResourceInUseException", "Stream s not ACTIVE, instead in state UPDATING"),
    "elasticbeanstalk": ("InvalidParameterValue", "e is in an invalid state. Must be Ready."),
}


@pytest.mark.parametrize("service", PARAMETERS)
def test_busy_is_told_by_the_words_of_each_service(client, error_answer, service):
    method, parameters = PARAMETERS[service]
    made = client(service, error_answer(*BUSY[service]))
    with pytest.raises(ClientError, match=BUSY[service][0]):
        bwp.begin(getattr(made, method), max_wait=600, busy_wait=60, **parameters)
    assert len(made.called.operations) > 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ResourceInUseException", "Cluster already exists with name: c"),
        ("ResourceInUseException", "Cluster c is in progress and already exists"),
        ("InvalidParameterException", "The name must match a pattern"),
    ],
)
def test_what_exists_already_is_not_busy(client, error_answer, code, message):
    clusters = client("eks", error_answer(code, message))
    given = {"name": "c", "roleArn": "arn:r", "resourcesVpcConfig": {}}
    with pytest.raises(ClientError, match=code):
        bwp.begin(clusters.create_cluster, max_wait=600, busy_wait=60, **given)
    assert len(clusters.called.operations) == 1


def test_a_change_of_an_open_attempt_is_not_waited_for(client, busy):
    """Without a token, the update in progress may be that of the attempt before."""
    conflict = {
        "Error": {"Code": "ResourceConflictException", "Message": "An update is in progress"},
        "ResponseMetadata": {"HTTPStatusCode": 409, "RetryAttempts": 1},
    }
    functions = client("lambda", conflict)
    with pytest.raises(ClientError, match="update is in progress"):
        bwp.begin(functions.update_function_code, max_wait=600, busy_wait=60, FunctionName="f")
    assert len(functions.called.operations) == 1
    # Under a token the same call is answered in the end.
    retried = {**busy, "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 1}}
    stacks = client("cloudformation", retried)
    with pytest.raises(ClientError, match="UPDATE_IN_PROGRESS"):
        bwp.begin(stacks.update_stack, max_wait=600, busy_wait=60, **STACK)
    assert len(stacks.called.operations) > 1


THROUGHPUT = {"ReadCapacityUnits": 25, "WriteCapacityUnits": 25}
LOGGING = {"clusterLogging": [{"types": ["api"], "enabled": True}]}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("service", "method", "one", "other", "code", "message"),
    [
        (
            *("dynamodb", "update_table"),
            {"TableName": "orders", "ProvisionedThroughput": THROUGHPUT},
            {"DeletionProtectionEnabled": True},
            *("ValidationException", "The requested value equals the current value."),
        ),
        (
            *("eks", "update_cluster_config", {"name": "c", "logging": LOGGING}),
            {"resourcesVpcConfig": {"endpointPublicAccess": True}},
            *("InvalidParameterException", "No changes needed for the logging config provided"),
        ),
    ],
)
def test_one_of_several_changes_is_not_all(
    client, error_answer, several, service, method, one, other, code, message
):
    made = client(service, error_answer(code, message))
    call = functools.partial(bwp.begin, getattr(made, method), max_wait=60, no_change_ok=True)
    if several:
        with pytest.raises(ClientError, match=code):
            call(**one, **other)
    else:
        assert call(**one).result(0).basis == "unchanged"


@pytest.mark.parametrize(
    "message",
    [
        "Stack:arn is in REVIEW_IN_PROGRESS state and can not be updated.",
        "1 validation error: Member must satisfy constraint: [CREATE_IN_PROGRESS]",
    ],
)
def test_what_does_not_pass_is_not_busy(client, error_answer, message):
    stacks = client("cloudformation", error_answer("ValidationError", message))
    with pytest.raises(ClientError, match="IN_PROGRESS"):
        bwp.begin(stacks.update_stack, max_wait=600, busy_wait=60, **STACK)
    assert len(stacks.called.operations) == 1


# --- what is to be deleted is gone already -------------------------------------------------------

SERVICE = {"cluster": "c", "service": "s"}
DELETIONS = json.loads((CASES / "gone.json").read_text("utf-8"))["deletions"]


def refusals():
    for name, (parameters, *rows) in DELETIONS.items():
        for code, message, is_gone in rows:
            yield pytest.param(
                name, parameters, code, message, is_gone, id=f"{name} {code} {is_gone}"
            )


@pytest.mark.models
@pytest.mark.parametrize(("name", "parameters", "code", "message", "is_gone"), [*refusals()])
def test_errors_of_services_tell_what_is_gone(
    client, error_answer, name, parameters, code, message, is_gone
):
    service, method = name.split()
    made = client(service, error_answer(code, message))
    call = functools.partial(bwp.begin, getattr(made, method), max_wait=60, **parameters)
    if is_gone:
        assert call(missing_ok=True).result(0).basis == "goal"
    else:
        with pytest.raises(ClientError, match=code):
            call(missing_ok=True)
    with pytest.raises(ClientError, match=code):
        call()
    assert len(made.called.operations) == 2


def test_what_is_gone_is_an_outcome(begin, client, error_answer):
    services = client("ecs", error_answer("ServiceNotFoundException", "Service not found."))
    operation = begin(services.delete_service, max_wait=60, missing_ok=True, **SERVICE)
    outcome = operation.result(0)
    assert (type(outcome), outcome.basis) == (bwp.ExceptionOutcome, "goal")
    assert outcome.exception.response["Error"]["Code"] == "ServiceNotFoundException"
    assert "gone" in outcome.acceptor.text
    assert operation.call.attempts == 1
    assert operation.to_json()["response"]["basis"] == "goal"
    assert services.called.operations == ["DeleteService"]


def test_a_missing_parent_stays_a_refusal(begin, client, error_answer):
    services = client("ecs", error_answer("ClusterNotFoundException", "Cluster not found."))
    with pytest.raises(ClientError, match="ClusterNotFound"):
        begin(services.delete_service, max_wait=60, missing_ok=True, **SERVICE)


def test_what_is_there_is_deleted_as_ever(begin, client, error_answer):
    gone = error_answer("ResourceNotFoundException", "Table: t not found")
    tables = client("dynamodb", {"TableDescription": {}}, gone)
    operation = begin(tables.delete_table, max_wait=60, missing_ok=True, TableName="table")
    assert operation.result(60).waiter == "TableNotExists"
    assert tables.called.operations == ["DeleteTable", "DescribeTable"]


@pytest.mark.parametrize(
    ("service", "method", "parameters"),
    [
        ("ecs", "update_service", SERVICE),
        ("rds", "reboot_db_instance", {"DBInstanceIdentifier": "d"}),
        ("kinesis", "create_stream", {"StreamName": "s"}),
    ],
)
def test_what_takes_nothing_away_refuses_missing_ok(begin, client, service, method, parameters):
    made = client(service, {})
    with pytest.raises(ValueError, match=r"missing_ok: \w+ takes nothing away"):
        begin(getattr(made, method), max_wait=60, missing_ok=True, **parameters)
    assert made.called.operations == []


def test_one_of_several_missing_is_a_refusal(begin, client, error_answer):
    instances = client("ec2", error_answer("InvalidInstanceID.NotFound", "'i-1' does not exist"))
    for ids in (["i-1", "i-2"], ("i-1", "i-2")):
        with pytest.raises(ClientError, match="NotFound"):
            begin(instances.terminate_instances, max_wait=60, missing_ok=True, InstanceIds=ids)


def test_a_dry_run_is_no_success(client, error_answer):
    vpcs = client("ec2", error_answer("InvalidVpcID.NotFound"))
    with pytest.raises(ClientError, match="NotFound"):
        bwp.begin(vpcs.delete_vpc, max_wait=60, missing_ok=True, VpcId="vpc-1", DryRun=True)


@pytest.mark.parametrize("code", ["InvalidVpcEndpointId.NotFound", "OperationNotPermitted"])
@pytest.mark.parametrize("several", [False, True])
def test_an_answer_may_say_that_it_is_gone(begin, client, code, several):
    ids = ["vpce-1", "vpce-2"] if several else ["vpce-1"]
    refused = [{"ResourceId": each, "Error": {"Code": code, "Message": "No"}} for each in ids]
    endpoints = client("ec2", {"Unsuccessful": refused})
    call = functools.partial(begin, endpoints.delete_vpc_endpoints, max_wait=60, missing_ok=True)
    if several or "NotFound" not in code:
        with pytest.raises(bwp.WaiterFailedError, match=code):
            call(VpcEndpointIds=ids).result(0)
    else:
        outcome = call(VpcEndpointIds=ids).result(0)
        assert (type(outcome), outcome.basis) == (bwp.ExceptionOutcome, "goal")
    assert endpoints.called.operations == ["DeleteVpcEndpoints"]


def test_an_open_attempt_may_have_deleted_it(begin, client, error_answer):
    """A retry of the SDK says that what the attempt before has deleted is gone."""
    gone = error_answer("ServiceNotFoundException", "Service not found.")
    gone["ResponseMetadata"]["RetryAttempts"] = 1
    services = client("ecs", gone)
    operation = begin(services.delete_service, max_wait=60, missing_ok=True, **SERVICE)
    assert operation.result(0).basis == "goal"


def test_an_answer_on_the_way_is_no_success(client, error_answer):
    """The role that could not be assumed is not what was to be deleted."""
    error = ClientError(error_answer("ServiceNotFoundException", "No"), "AssumeRole")
    services = client("ecs", error)
    with pytest.raises(ClientError, match="AssumeRole"):
        bwp.begin(services.delete_service, max_wait=60, missing_ok=True, **SERVICE)
    services = client("ecs", EndpointConnectionError(endpoint_url="https://ecs"))
    with pytest.raises(EndpointConnectionError):
        bwp.begin(services.delete_service, max_wait=60, missing_ok=True, **SERVICE)


def test_a_waiter_of_the_callers_is_not_asked(client, error_answer):
    def parameters(response):
        raise AssertionError

    roles = client("iam", error_answer("NoSuchEntity", "The role with name r cannot be found."))
    then = ("role_exists", parameters)
    operation = bwp.begin(
        roles.delete_role, max_wait=60, then_wait=then, missing_ok=True, RoleName="r"
    )
    assert operation.result(0).basis == "goal"


def test_stop_and_cancel_have_nothing_left(begin, client, error_answer):
    services = client("ecs", error_answer("ServiceNotFoundException"))
    operation = begin(services.delete_service, max_wait=60, missing_ok=True, **SERVICE)
    assert not operation.cancel()
    assert bwp.wait_all([operation], max_wait=60)[0].basis == "goal"

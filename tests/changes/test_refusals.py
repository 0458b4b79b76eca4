"""What is told apart: mismatches, expired tokens, resources that exist, late arrivals."""

import copy
import functools
import pickle

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency

EXISTS = "Table already exists: orders"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("TokenMismatchError", "IdempotentParameterMismatch", "The parameters differ"),
        ("TokenMismatchError", "IdempotencyParameterMismatchException", ""),
        ("TokenMismatchError", "ClientTokenConflictException", ""),
        ("TokenMismatchError", "IncompatibleParameterError", ""),
        (
            "TokenMismatchError",
            "ConflictException",
            "clientToken is in use with a different request",
        ),
        (
            "TokenMismatchError",
            "ValidationException",
            "Client token used with different parameters",
        ),
        ("TokenExpiredError", "ClientTokenExpiredException", ""),
        ("TokenExpiredError", "RequestTokenNotFoundException", ""),
        ("TokenExpiredError", "ValidationException", "The client token has expired"),
        ("TokenExpiredError", "InvalidRequest", "Unknown idempotency token: not found"),
    ],
)
def test_refused_token_has_an_error_of_its_own(
    ec2, answers, error_answer, image, error, code, message
):
    answers(ec2, error_answer(code, message))
    with pytest.raises(getattr(idempotency, error)) as caught:
        idempotency.call_once(ec2.run_instances, max_wait=60, ClientToken="t", **image)
    assert (caught.value.token, caught.value.attempts) == ("t", 1)


@pytest.fixture
def refused_first(stock_botocore, virtual_time, answers, error_answer):
    """`refused_first(name, code, message)`: a call whose first answer is this error."""

    def call(name, code, message):
        service, _, method = name.partition(".")
        client = boto3.client(service, config=Config(parameter_validation=False))
        answers(client, error_answer(code, message), {})
        return idempotency.call_once(getattr(client, method), max_wait=60, allow_repeat=True)

    return call


@pytest.mark.parametrize(
    "row",
    [
        ("route53.create_hosted_zone", "ConcurrentModification", "no words that say so"),
        ("servicediscovery.create_http_namespace", "DuplicateRequest", "operation o-1"),
        ("acm-pca.create_certificate_authority", "RequestInProgressException", ""),
        ("verifiedpermissions.create_policy_store", "ConflictException", ""),
        ("ec2.run_instances", "IncorrectState", "The subnet is pending. Please try again later."),
        ("ec2.attach_volume", "IncorrectState", "vol-1 is not 'available'."),
        ("ec2.attach_volume", "IncorrectState", "Instance 'i-1' is not 'running'."),
        ("ec2.create_volume", "IncorrectState", "Snapshot is in invalid state - pending"),
        ("ec2.start_instances", "IncorrectInstanceState", "is not in a state from which it can be"),
        ("ec2.modify_volume", "IncorrectModificationState", "modification state OPTIMIZING"),
        ("rds.modify_db_instance", "InvalidDBInstanceState", "db is not in available state."),
        ("redshift.modify_cluster", "InvalidClusterState", "is not in the available state."),
        ("batch.create_job_queue", "OperationAborted", "A conflicting conditional operation"),
        ("lambda.create_function", "ResourceConflictException", "An update is in progress: f"),
        ("dynamodb.create_table", "ResourceInUseException", "Table is being updated: orders"),
        ("autoscaling.delete_auto_scaling_group", "ScalingActivityInProgress", "It is running"),
        ("sqs.create_queue", "QueueDeletedRecently", "You must wait 60 seconds."),
        ("batch.create_job_queue", "ConflictException", "The queue is being modified"),
    ],
    ids=str,
)
def test_another_change_in_progress_is_repeated(refused_first, row):
    assert refused_first(*row).attempts == 2


@pytest.mark.parametrize(
    "row",
    [
        ("ec2.attach_volume", "IncorrectState", "an existing association", "CallRefusedError"),
        ("rds.modify_db_instance", "InvalidDBInstanceState", "is stopped", "CallRefusedError"),
        ("ec2.run_instances", "IncorrectState", "The instance is stopped", "CallRefusedError"),
        ("batch.create_job_queue", "ConflictException", "Delete it first", "CallRefusedError"),
        ("lambda.create_function", "ResourceConflictException", "is attached", "CallRefusedError"),
        (
            "lambda.create_function",
            "ResourceConflictException",
            "f already exists",
            "AlreadyExistsError",
        ),
        ("servicediscovery.create_service", "ServiceAlreadyExists", "", "AlreadyExistsError"),
    ],
    ids=str,
)
def test_conflict_that_no_time_resolves_is_refused(refused_first, row):
    with pytest.raises(getattr(idempotency, row[-1])):
        refused_first(*row[:-1])


@pytest.fixture
def create(call_once, dynamodb, table):
    """`create(**options)`: CreateTable, which has no token."""

    def create(**options):
        return call_once(dynamodb.create_table, max_wait=600, allow_repeat=True, **table, **options)

    return create


@pytest.fixture
def exists(error_answer):
    return error_answer("ResourceInUseException", EXISTS)


def test_resource_that_existed_before_is_not_ours(create, dynamodb, answers, exists):
    service = answers(dynamodb, exists)
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        create(adopt_existing=True)
    assert not caught.value.maybe_ours
    assert caught.value.check_operation is None
    assert service.operations == ["CreateTable"]


@pytest.mark.parametrize("retries", [0, 1])
def test_resource_after_an_unknown_outcome_may_be_ours(
    create, dynamodb, answers, exists, lost, retries
):
    """A retry of the SDK hides an unknown outcome as well as an attempt of ours."""
    exists["ResponseMetadata"]["RetryAttempts"] = retries
    answers(dynamodb, *([] if retries else [lost]), exists)
    with pytest.raises(idempotency.AlreadyExistsError, match="describe_table") as caught:
        create()
    error = caught.value
    check = ("DescribeTable", {"TableName": "orders"})
    assert (error.maybe_ours, error.check_operation, error.check_parameters) == (True, *check)


def described(table, **changes):
    return {"Table": {**table, "TableStatus": "CREATING", "ItemCount": 0, **changes}}


def test_existing_resource_is_adopted(create, dynamodb, answers, exists, lost, table):
    found = described({**table, "BillingModeSummary": {}})
    active = described(table, TableStatus="ACTIVE")
    service = answers(dynamodb, lost, exists, lost, found, active)
    call = create(adopt_existing=True, then_wait="table_exists")
    assert call.adopted
    assert call.response["Table"]["TableName"] == "orders"
    assert call.outcome.observed == "ACTIVE"
    assert service.operations == ["CreateTable"] * 2 + ["DescribeTable"] * 3


def test_existing_resource_that_differs_is_not_adopted(
    create, dynamodb, answers, exists, lost, table
):
    other = described(table, KeySchema=[{"AttributeName": "other", "KeyType": "HASH"}])
    answers(dynamodb, lost, exists, other)
    with pytest.raises(idempotency.AlreadyExistsError, match="KeySchema") as caught:
        create(adopt_existing=True)
    assert (caught.value.differences, caught.value.maybe_ours) == (("KeySchema",), True)
    assert caught.value.__cause__.response["Error"]["Message"] == EXISTS


@pytest.mark.parametrize("answer", [{"Table": {}}, None])
def test_description_that_tells_nothing_adopts_nothing(
    create, dynamodb, answers, error_answer, exists, lost, answer
):
    answers(dynamodb, lost, exists, answer or error_answer("AccessDeniedException"))
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        create(adopt_existing=True)
    assert caught.value.differences == ()


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("attempts", idempotency.LateArrivalError),
        ("token", idempotency.LateArrivalError),
        ("SDK", idempotency.LateArrivalError),
        ("none", bwp.WaiterFailedError),
    ],
)
def test_failure_of_a_repeated_call_is_a_late_arrival(
    call_once, ec2, answers, lost, image, running, polled, reason, kind
):
    token = {"ClientToken": "t"} if reason == "token" else {}
    metadata = {"RetryAttempts": 1 if reason == "SDK" else 0, "HTTPStatusCode": 200}
    first = [lost] if reason == "attempts" else []
    answers(ec2, *first, {**running, "ResponseMetadata": metadata}, polled("terminated"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        call_once(ec2.run_instances, max_wait=60, then_wait="InstanceRunning", **token, **image)
    error = caught.value
    assert type(error) is kind
    assert error.call.response["Instances"][0]["InstanceId"] == "i-1"
    assert error.call.token is not None


def test_missing_resource_of_a_repeated_call_is_a_late_arrival(
    stock_botocore, answers, error_answer, lost, virtual_time
):
    eks = boto3.client("eks")
    answers(eks, lost, {"cluster": {"name": "c"}}, error_answer("ResourceNotFoundException"))
    cluster = {"name": "c", "roleArn": "arn:r", "resourcesVpcConfig": {}}
    with pytest.raises(idempotency.LateArrivalError):
        idempotency.call_once(eks.create_cluster, max_wait=200, then_wait=True, **cluster)


def test_failure_under_a_stubber_is_no_late_arrival(ec2, image, running, polled):
    """The answers of botocore's Stubber do not say how often the SDK repeated the request."""
    with Stubber(ec2) as stubber:
        stubber.add_response("run_instances", running)
        stubber.add_response("describe_instances", polled("terminated"))
        with pytest.raises(bwp.WaiterFailedError) as caught:
            idempotency.call_once(
                ec2.run_instances, max_wait=60, then_wait="InstanceRunning", **image
            )
    assert type(caught.value) is bwp.WaiterFailedError


def test_error_that_a_test_of_a_caller_makes_claims_nothing():
    error = idempotency.AlreadyExistsError("CreateTable", EXISTS)
    assert (error.maybe_ours, error.made_under_token, error.outcome_unknown) == (False,) * 3
    assert (error.check_operation, error.check_parameters, error.differences) == (None, {}, ())


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_keep_their_facts(create, dynamodb, answers, exists, lost, copied):
    answers(dynamodb, lost, exists)
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        create()
    other = copied(caught.value)
    assert str(other) == str(caught.value)
    for name in ("maybe_ours", "check_operation", "check_parameters", "token", "attempts"):
        assert getattr(other, name) == getattr(caught.value, name)


BUSY = "Stack:arn is in UPDATE_IN_PROGRESS state and can not be updated."
LISTED = "An update is in progress for resource: arn"


@pytest.mark.parametrize(
    ("busy_wait", "name", "code", "message", "is_repeated"),
    [
        (None, "lambda.publish_version", "ResourceConflictException", LISTED, True),
        (None, "cloudformation.delete_stack", "ValidationError", BUSY, False),
        (0, "lambda.publish_version", "ResourceConflictException", LISTED, False),
        (60, "lambda.publish_version", "ResourceConflictException", LISTED, True),
        (60, "cloudformation.delete_stack", "ValidationError", BUSY, True),
        (60, "cloudformation.delete_stack", "ValidationError", "Stack s does not exist", False),
        (0, "route53.change_resource_record_sets", "PriorRequestNotComplete", "", False),
    ],
)
def test_busy_wait_decides_what_is_repeated(
    stock_botocore, virtual_time, answers, error_answer, busy_wait, name, code, message, is_repeated
):
    service, _, method = name.partition(".")
    client = boto3.client(service, config=Config(parameter_validation=False))
    answers(client, error_answer(code, message), {})
    options = {"max_wait": 600, "allow_repeat": True, "busy_wait": busy_wait}
    given = {"FunctionName": "f", "StackName": "s", "HostedZoneId": "z"}
    shape = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
    given = {key: each for key, each in given.items() if key in shape.input_shape.members}
    call = functools.partial(idempotency.call_once, getattr(client, method), **options, **given)
    if is_repeated:
        assert call().attempts == 2
    else:
        with pytest.raises(idempotency.CallRefusedError):
            call()


def test_a_busy_call_is_refused_after_busy_wait(call_once, ec2, answers, error_answer, image):
    busy = answers(ec2, error_answer("IncorrectState", "i-1 is in progress"))
    with pytest.raises(idempotency.CallRefusedError) as caught:
        call_once(ec2.run_instances, max_wait=600, busy_wait=60, **image)
    assert 60 <= caught.value.elapsed < 120
    assert caught.value.attempts == len(busy.operations)


def test_no_busy_call_is_repeated_after_an_open_attempt(ec2, answers, error_answer, call_once):
    broken = error_answer("InternalError", "", 500)
    busy = error_answer("IncorrectState", "i-1 is in progress")
    options = {"max_wait": 600, "busy_wait": 300}
    service = answers(ec2, broken, busy, {"Reservations": []})
    with pytest.raises(idempotency.CallRefusedError) as caught:
        call_once(ec2.stop_instances, allow_repeat=True, InstanceIds=["i-1"], **options)
    assert caught.value.outcome_unknown
    assert service.operations == ["StopInstances"] * 2


def test_what_goes_while_it_is_watched_is_not_late(
    stock_botocore, answers, error_answer, lost, virtual_time
):
    eks = boto3.client("eks")
    creating = {"nodegroup": {"status": "CREATING"}}
    answers(eks, lost, creating, creating, creating, error_answer("ResourceNotFoundException"))
    group = {"clusterName": "c", "nodegroupName": "n", "subnets": ["s"], "nodeRole": "r"}
    with pytest.raises(bwp.WaiterFailedError) as caught:
        idempotency.call_once(eks.create_nodegroup, max_wait=600, then_wait=True, **group)
    assert type(caught.value) is bwp.WaiterFailedError

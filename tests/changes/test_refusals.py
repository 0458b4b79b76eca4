"""What is told apart: mismatches, expired tokens, resources that exist, late arrivals."""

import copy
import pickle

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber
from case_tables import tabled, tables

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency

EXISTS = "Table already exists: orders"


@tabled("code", "message")
def test_parameter_mismatch_has_an_error_of_its_own(
    ec2, answers, error_answer, image, code, message
):
    answers(ec2, error_answer(code, message))
    with pytest.raises(idempotency.TokenMismatchError) as caught:
        idempotency.call_once(ec2.run_instances, max_wait=60, ClientToken="t", **image)
    assert (caught.value.token, caught.value.attempts) == ("t", 1)


@tabled("code", "message")
def test_expired_token_has_an_error_of_its_own(ec2, answers, error_answer, image, code, message):
    answers(ec2, error_answer(code, message))
    with pytest.raises(idempotency.TokenExpiredError):
        idempotency.call_once(ec2.run_instances, max_wait=60, ClientToken="t", **image)


IN_PROGRESS = tables("changes")["test_refusals.py::IN_PROGRESS"]
REFUSED = tables("changes")["test_refusals.py::REFUSED"]


@pytest.fixture
def refused_first(stock_botocore, virtual_time, answers, error_answer):
    """`refused_first(service, method, code, message)`: a call whose first answer is this error."""

    def call(service, method, code, message):
        client = boto3.client(service, config=Config(parameter_validation=False))
        answers(client, error_answer(code, message), {})
        return idempotency.call_once(getattr(client, method), max_wait=60, allow_repeat=True)

    return call


@pytest.mark.parametrize(("service", "method", "code", "message"), IN_PROGRESS)
def test_another_change_in_progress_is_repeated(refused_first, service, method, code, message):
    assert refused_first(service, method, code, message).attempts == 2


@pytest.mark.parametrize(("service", "method", "code", "message", "error"), REFUSED)
def test_conflict_that_no_time_resolves_is_refused(
    refused_first, service, method, code, message, error
):
    with pytest.raises(getattr(idempotency, error)):
        refused_first(service, method, code, message)


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
    with pytest.raises(
        idempotency.AlreadyExistsError, match="It existed before this call"
    ) as caught:
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
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        create()
    error = caught.value
    assert error.maybe_ours
    assert (error.check_operation, error.check_parameters) == (
        "DescribeTable",
        {"TableName": "orders"},
    )
    assert "describe_table(TableName='orders') tells" in str(error)


def described(table, **changes):
    return {"Table": {**table, "TableStatus": "CREATING", "ItemCount": 0, **changes}}


def test_existing_resource_is_adopted(create, dynamodb, answers, exists, lost, table):
    found = described({**table, "BillingModeSummary": {}})
    service = answers(dynamodb, lost, exists, lost, found)
    call = create(adopt_existing=True)
    assert call.adopted
    assert call.response["Table"]["TableName"] == "orders"
    assert service.operations == ["CreateTable"] * 2 + ["DescribeTable"] * 2


def test_wait_follows_an_adopted_resource(create, dynamodb, answers, exists, lost, table):
    active = described(table, TableStatus="ACTIVE")
    answers(dynamodb, lost, exists, described(table), active)
    call = create(adopt_existing=True, then_wait="table_exists")
    assert call.outcome.observed == "ACTIVE"


def test_existing_resource_that_differs_is_not_adopted(
    create, dynamodb, answers, exists, lost, table
):
    other = described(table, KeySchema=[{"AttributeName": "other", "KeyType": "HASH"}])
    answers(dynamodb, lost, exists, other)
    with pytest.raises(idempotency.AlreadyExistsError, match="It differs in KeySchema") as caught:
        create(adopt_existing=True)
    assert caught.value.differences == ("KeySchema",)
    assert caught.value.maybe_ours
    assert caught.value.__cause__.response["Error"]["Message"] == EXISTS


@pytest.mark.parametrize("answer", [{"Table": {}}, None])
def test_description_that_tells_nothing_adopts_nothing(
    create, dynamodb, answers, error_answer, exists, lost, answer
):
    answers(dynamodb, lost, exists, answer or error_answer("AccessDeniedException"))
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        create(adopt_existing=True)
    assert caught.value.differences == ()


@pytest.mark.parametrize("reason", ["attempts", "token", "SDK"])
def test_late_arrival_fails_the_wait(call_once, ec2, answers, lost, image, running, reason):
    terminated = {"InstanceId": "i-1", "State": {"Name": "terminated"}}
    gone = {"Reservations": [{"Instances": [terminated]}]}
    token = {"ClientToken": "t"} if reason == "token" else {}
    metadata = {"RetryAttempts": 1 if reason == "SDK" else 0, "HTTPStatusCode": 200}
    first = [lost] if reason == "attempts" else []
    answers(ec2, *first, {**running, "ResponseMetadata": metadata}, gone)
    with pytest.raises(idempotency.LateArrivalError, match="it is gone by now") as caught:
        call_once(ec2.run_instances, max_wait=60, then_wait="InstanceRunning", **token, **image)
    error = caught.value
    assert isinstance(error, bwp.WaiterFailedError)
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


def test_failure_of_a_fresh_resource_is_no_late_arrival(ec2, answers, image, running):
    terminated = {"InstanceId": "i-1", "State": {"Name": "terminated"}}
    answers(ec2, running, {"Reservations": [{"Instances": [terminated]}]})
    with pytest.raises(bwp.WaiterFailedError) as caught:
        idempotency.call_once(ec2.run_instances, max_wait=60, then_wait="InstanceRunning", **image)
    assert type(caught.value) is bwp.WaiterFailedError
    assert caught.value.call.attempts == 1


def test_failure_under_a_stubber_is_no_late_arrival(ec2, image, running):
    """The answers of botocore's Stubber do not say how often the SDK repeated the request."""
    terminated = {"InstanceId": "i-1", "State": {"Name": "terminated"}}
    with Stubber(ec2) as stubber:
        stubber.add_response("run_instances", running)
        stubber.add_response("describe_instances", {"Reservations": [{"Instances": [terminated]}]})
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

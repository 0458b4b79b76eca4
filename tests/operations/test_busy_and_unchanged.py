"""Refusals of `begin`: another change, nothing to change, and what is gone already."""

import functools
import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from case_tables import CASES
from stored_waits import begin_in_store
from test_begin import begin_in_task

import boto_waiters_plus as bwp

REFUSED = json.loads((CASES / "refused-changes.json").read_text("utf-8"))
DELETIONS = json.loads((CASES / "gone.json").read_text("utf-8"))["deletions"]
STACK = {"StackName": "s", "UsePreviousTemplate": True}
CHANGES = {**STACK, "ChangeSetName": "n"}
FAILED = {"Id": "arn:cs", "StackId": "arn:s", "Status": "FAILED"}
EMPTY = "The submitted information didn't contain changes."
NO_UPDATES = "No updates are to be performed."
SERVICE = {"cluster": "c", "service": "s"}


@pytest.fixture
def busy(error_answer):
    text = "Stack:arn is in UPDATE_IN_PROGRESS state and can not be updated."
    return error_answer("ValidationError", text)


@pytest.fixture
def unchanged(error_answer):
    return error_answer("ValidationError", NO_UPDATES)


@pytest.fixture
def client(answered, virtual_time):
    return answered


@pytest.fixture(params=[bwp.begin, begin_in_task, begin_in_store])
def begin(request, virtual_time):
    """`begin`, blocking, as part of a task, and in a store."""
    return functools.partial(request.param, max_wait=60)


def retried(answer):
    """An answer to a retry of the SDK."""
    return {**answer, "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 1}}


@pytest.mark.parametrize(("call", "parameters", "error", "basis", "options"), [
    (
        *("cloudformation update_stack", STACK, ("ValidationError", NO_UPDATES), "unchanged"),
        {"no_change_ok": True, "stop_on_timeout": True, "stop_on_cancel": True},
    ),
    (
        *("ecs delete_service", SERVICE, ("ServiceNotFoundException", "Not found."), "goal"),
        {"missing_ok": True},
    ),
])  # fmt: skip
def test_what_is_so_already_is_an_outcome(
    begin, client, error_answer, call, parameters, error, basis, options
):
    service, method = call.split()
    made = client(service, error_answer(*error))
    operation = begin(getattr(made, method), **options, **parameters)
    outcome = operation.result(0)
    assert (type(outcome), outcome.basis) == (bwp.ExceptionOutcome, basis)
    assert outcome.exception.response["Error"]["Message"] == error[1]
    assert operation.call.attempts == 1
    assert operation.to_json()["response"]["basis"] == basis
    assert bwp.wait_all([operation], max_wait=60)[0].basis == basis
    if "stop_on_cancel" in options:
        assert operation.stop() is None
    assert not operation.cancel()
    assert len(made.answers.operations) == 1
    with pytest.raises(ClientError, match=error[0]):
        begin(getattr(made, method), **parameters)


@pytest.mark.parametrize("reason", [EMPTY, NO_UPDATES, "No such template"])
def test_an_empty_change_set_is_an_outcome(begin, client, reason):
    stacks = client("cloudformation", {**FAILED, "StatusReason": reason})
    operation = begin(stacks.create_change_set, no_change_ok=True, **CHANGES)
    if reason == "No such template":
        assert isinstance(operation.exception(60), bwp.WaiterFailedError)
    else:
        outcome = operation.result(60)
        assert (type(outcome), outcome.basis) == (bwp.ExceptionOutcome, "unchanged")
        assert reason in str(outcome.exception)


def test_nothing_left_to_change_is_no_outcome_after_an_open_attempt(
    begin, client, unchanged, no_answer
):
    for replies in ([no_answer, unchanged], [retried(unchanged)]):
        stacks = client("cloudformation", *replies)
        with pytest.raises(ClientError, match="No updates"):
            begin(stacks.update_stack, no_change_ok=True, **STACK)


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
    assert least <= len(stacks.answers.operations) <= most


@pytest.mark.parametrize("row", REFUSED["busy"], ids=lambda row: f"{row['call']} {row['message']}")
def test_busy_is_told_by_the_words_of_each_service(client, error_answer, row):
    service, method = row["call"].split()
    made = client(service, error_answer(row["code"], row["message"]))
    with pytest.raises(ClientError, match=row["code"]):
        bwp.begin(getattr(made, method), max_wait=600, busy_wait=60, **row["parameters"])
    assert (len(made.answers.operations) > 1) is row["is_busy"]


def test_a_change_of_an_open_attempt_is_not_waited_for(client, error_answer, busy):
    """Without a token, the update in progress may be that of the attempt before."""
    conflict = error_answer("ResourceConflictException", "An update is in progress")
    functions = client("lambda", retried(conflict))
    with pytest.raises(ClientError, match="update is in progress"):
        bwp.begin(functions.update_function_code, max_wait=600, busy_wait=60, FunctionName="f")
    assert len(functions.answers.operations) == 1
    # Under a token the same call is answered in the end.
    stacks = client("cloudformation", retried(busy))
    with pytest.raises(ClientError, match="UPDATE_IN_PROGRESS"):
        bwp.begin(stacks.update_stack, max_wait=600, busy_wait=60, **STACK)
    assert len(stacks.answers.operations) > 1


@pytest.mark.parametrize("row", REFUSED["unchanged"], ids=lambda row: row["call"])
def test_one_of_several_changes_is_not_all(client, error_answer, row):
    service, method = row["call"].split()
    made = client(service, error_answer(row["code"], row["message"]))
    call = functools.partial(bwp.begin, getattr(made, method), max_wait=60, no_change_ok=True)
    assert call(**row["parameters"]).result(0).basis == "unchanged"
    with pytest.raises(ClientError, match=row["code"]):
        call(**row["parameters"], **row["other"])


# --- what is to be deleted is gone already -------------------------------------------------------


@pytest.mark.models
@pytest.mark.parametrize(("name", "parameters", "code", "message", "is_gone"), [
    pytest.param(name, parameters, *row, id=f"{name} {row[0]} {row[2]}")
    for name, (parameters, *rows) in DELETIONS.items()
    for row in rows
])  # fmt: skip
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
    assert len(made.answers.operations) == 2


def test_what_is_there_is_deleted_as_ever(begin, client, error_answer):
    gone = error_answer("ResourceNotFoundException", "Table: t not found")
    tables = client("dynamodb", {"TableDescription": {}}, gone)
    operation = begin(tables.delete_table, missing_ok=True, TableName="table")
    assert operation.result(60).waiter == "TableNotExists"
    assert tables.answers.operations == ["DeleteTable", "DescribeTable"]


def test_what_takes_nothing_away_refuses_missing_ok(begin, client):
    services = client("ecs", {})
    with pytest.raises(ValueError, match="missing_ok: update_service takes nothing away"):
        begin(services.update_service, missing_ok=True, **SERVICE)
    assert services.answers.operations == []


@pytest.mark.parametrize(("method", "code", "parameters"), [
    ("terminate_instances", "InvalidInstanceID.NotFound", {"InstanceIds": ["i-1", "i-2"]}),
    ("terminate_instances", "InvalidInstanceID.NotFound", {"InstanceIds": ("i-1", "i-2")}),
    ("delete_vpc", "InvalidVpcID.NotFound", {"VpcId": "vpc-1", "DryRun": True}),
])  # fmt: skip
def test_one_of_several_and_a_dry_run_are_refused(
    begin, client, error_answer, method, code, parameters
):
    made = client("ec2", error_answer(code, "'i-1' does not exist"))
    with pytest.raises(ClientError, match="NotFound"):
        begin(getattr(made, method), missing_ok=True, **parameters)


@pytest.mark.parametrize("code", ["InvalidVpcEndpointId.NotFound", "OperationNotPermitted"])
@pytest.mark.parametrize("ids", [["vpce-1"], ["vpce-1", "vpce-2"]])
def test_an_answer_may_say_that_it_is_gone(begin, client, code, ids):
    refused = [{"ResourceId": each, "Error": {"Code": code, "Message": "No"}} for each in ids]
    endpoints = client("ec2", {"Unsuccessful": refused})
    call = functools.partial(begin, endpoints.delete_vpc_endpoints, VpcEndpointIds=ids)
    if len(ids) > 1 or "NotFound" not in code:
        with pytest.raises(bwp.WaiterFailedError, match=code):
            call(missing_ok=True).result(0)
    else:
        outcome = call(missing_ok=True).result(0)
        assert (type(outcome), outcome.basis) == (bwp.ExceptionOutcome, "goal")
    assert endpoints.answers.operations == ["DeleteVpcEndpoints"]


def test_an_open_attempt_may_have_deleted_it(begin, client, error_answer):
    """A retry of the SDK says that what the attempt before has deleted is gone."""
    services = client("ecs", retried(error_answer("ServiceNotFoundException", "Not found.")))
    assert begin(services.delete_service, missing_ok=True, **SERVICE).result(0).basis == "goal"


def test_an_answer_on_the_way_is_no_success(client, error_answer):
    """The role that could not be assumed is not what was to be deleted."""
    unreachable = EndpointConnectionError(endpoint_url="https://ecs")
    no_role = ClientError(error_answer("ServiceNotFoundException", "No"), "AssumeRole")
    for error in (no_role, unreachable):
        with pytest.raises(type(error), match=r"AssumeRole|https://ecs"):
            bwp.begin(client("ecs", error).delete_service, max_wait=60, missing_ok=True, **SERVICE)


def test_a_waiter_of_the_callers_is_not_asked(client, error_answer):
    def parameters(response):
        raise AssertionError

    roles = client("iam", error_answer("NoSuchEntity", "The role with name r cannot be found."))
    options = {"then_wait": ("role_exists", parameters), "missing_ok": True}
    operation = bwp.begin(roles.delete_role, max_wait=60, **options, RoleName="r")
    assert operation.result(0).basis == "goal"

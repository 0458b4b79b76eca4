"""Messages and errors of botocore's own waiters: its words, its `last_response`."""

import copy
import pickle
from functools import partial

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError, WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter
from case_tables import tabled

import boto_waiters_plus as bwp

# The messages have the elapsed time.
pytestmark = pytest.mark.usefixtures("virtual_time")

ONCE = {"Delay": 1, "MaxAttempts": 1}


def fail(client, name, **keywords):
    with pytest.raises(WaiterError) as caught:
        client.get_waiter(name).wait(**keywords)
    return caught.value


@pytest.fixture
def dynamodb():
    bwp.install()
    return boto3.client("dynamodb")


def waiter(operation, *acceptors, name="GetSecretValue"):
    config = {"operation": name, "delay": 1, "maxAttempts": 1, "acceptors": list(acceptors)}
    return Waiter("Mine", SingleWaiterConfig(config), operation)


def path(argument, expected, state="success", matcher="path"):
    return {"state": state, "matcher": matcher, "argument": argument, "expected": expected}


def test_attempts_used_up_keep_botocores_words(dynamodb, answers):
    answers(dynamodb, {"Table": {"TableStatus": "CREATING"}})
    error = fail(dynamodb, "table_exists", TableName="orders", WaiterConfig=ONCE)
    assert error.kwargs == {"name": "TableExists", "reason": "Max attempts exceeded"}
    assert error.last_response["Table"] == {"TableStatus": "CREATING"}
    assert isinstance(error, bwp.WaiterAttemptsError)
    assert (error.attempts, error.acceptor, error.observed) == (1, None, "CREATING")
    for twin in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert str(twin) == (
            "Waiter TableExists failed: Max attempts exceeded. For dynamodb TableName=orders: "
            "last state seen: CREATING (1 attempt of DescribeTable in 0.0 s)."
        )
        assert twin.label == "dynamodb TableName=orders"
        assert (twin.last_response, twin.kwargs) == (error.last_response, error.kwargs)


def test_attempts_used_up_name_the_accepted_state(dynamodb, answers, error_answer):
    answers(dynamodb, error_answer("ResourceNotFoundException", "no such table"))
    error = fail(dynamodb, "table_exists", TableName="orders", WaiterConfig=ONCE)
    assert str(error) == (
        "Waiter TableExists failed: Max attempts exceeded. Previously accepted state: "
        "Matched expected service error code: ResourceNotFoundException. For dynamodb "
        "TableName=orders: last state seen: ResourceNotFoundException: no such table "
        "(1 attempt of DescribeTable in 0.0 s)."
    )
    assert error.last_response["Error"]["Message"] == "no such table"


@pytest.mark.parametrize("replaced", [False, True])
def test_attempts_used_up_by_a_transient_error_begin_with_it(
    dynamodb, answers, error_answer, replaced
):
    throttled = error_answer("ThrottlingException", "Rate exceeded")
    answers(dynamodb, {"Table": {"TableStatus": "CREATING"}}, throttled)
    exists = dynamodb.get_waiter("table_exists")
    if replaced:
        exists._operation_method = partial(exists._operation_method)
    with pytest.raises(bwp.WaiterAttemptsError) as caught:
        exists.wait(TableName="orders", WaiterConfig={"Delay": 1, "MaxAttempts": 2})
    error = caught.value
    assert error.kwargs["reason"] == "An error occurred (ThrottlingException): Rate exceeded"
    words = f"Waiter TableExists failed: {error.kwargs['reason']}. Max attempts exceeded. "
    assert str(error).startswith(words)
    assert error.last_response["Error"]["Code"] == "ThrottlingException"
    assert error.observed == "CREATING"


def test_attempts_used_up_by_a_lost_connection_name_no_earlier_error(
    dynamodb, answers, error_answer
):
    missing = error_answer("ResourceNotFoundException", "no such table")
    lost = ReadTimeoutError(endpoint_url="https://dynamodb")
    answers(dynamodb, missing, lost)
    error = fail(
        dynamodb, "table_exists", TableName="orders", WaiterConfig={**ONCE, "MaxAttempts": 2}
    )
    assert error.kwargs["reason"].startswith("Max attempts exceeded. Previously accepted state")


def test_a_failure_state_keeps_botocores_words():
    bwp.install()
    response = {"a": [{"s": "dead"}]}
    dead = waiter(lambda **_: response, path("a[].s", "dead", "failure", "pathAny"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        dead.wait()
    assert str(caught.value) == (
        "Waiter Mine failed: Waiter encountered a terminal failure state: "
        'For expression "a[].s" we matched expected path: "dead" at least once. '
        "Last state seen: ['dead'] (1 attempt of GetSecretValue in 0.0 s)."
    )
    assert (caught.value.acceptor.index, caught.value.observed) == (0, ["dead"])
    assert caught.value.last_response == response


@pytest.mark.parametrize("wrap", [NormalizedOperationMethod, lambda method: method])
def test_a_value_on_a_sensitive_path_is_not_shown(answers, wrap):
    """`SecretString` is sensitive in the model of Secrets Manager."""
    bwp.install()
    client = boto3.client("secretsmanager")
    answers(client, {"SecretString": "hunter2"})
    operation, events = wrap(client.get_secret_value), []
    secret = waiter(operation, path("SecretString", "hunter2"))
    outcome = secret.wait(SecretId="s", on_attempt=events.append)
    assert (outcome.observed, events[0].state) == (None, None)
    assert "hunter2" not in repr(outcome).replace(outcome.acceptor.text, "")
    with pytest.raises(WaiterError) as caught:
        waiter(operation, path("SecretString", "other")).wait(SecretId="s")
    assert caught.value.observed is None
    assert "hunter2" not in str(caught.value)


def test_a_path_without_a_value_is_no_match(dynamodb, answers):
    """There, stock raises the error of jmespath."""
    answers(dynamodb, {})
    status = {"state": "success", "matcher": "status", "expected": 200}
    mine = waiter(dynamodb.list_tables, path("length(Nothing)", 3), status, name="ListTables")
    assert mine.wait().acceptor.index == 1


def test_a_path_that_is_too_much_work_is_told():
    bwp.install()
    doubled = "|".join(["[@,@][]"] * 23)
    mine = waiter(lambda **_: {"a": 1}, path("a", "b"), path(doubled, 3))
    with pytest.raises(WaiterError, match=r"Failing expressions: .*more than 500000 steps"):
        mine.wait()


@tabled("details", "words")
def test_error_that_no_acceptor_takes(dynamodb, answers, details, words):
    answers(dynamodb, {"Error": details})
    error = fail(dynamodb, "table_exists", TableName="orders")
    assert error.kwargs["reason"] == f"An error occurred {words}"
    assert str(error).startswith(f"Waiter TableExists failed: An error occurred {words}")
    assert isinstance(error, bwp.WaiterFailedError)
    assert isinstance(error.__cause__, ClientError)
    assert error.last_exception is error.__cause__
    assert error.last_response["Error"] == details
    assert error.last_response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_denied_deletion_says_the_resource_may_be_gone(answers, error_answer):
    bwp.install()
    backup = boto3.client("backup")
    answers(backup, error_answer("AccessDeniedException", "Insufficient privileges"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        backup.wait_until_backup_vault_deleted(BackupVaultName="v", max_wait=60)
    assert "failed with AccessDeniedException" in str(caught.value)
    told = (
        " DescribeBackupVault also answers this when the resource is gone: "
        "the deletion may have succeeded."
    )
    assert str(caught.value).endswith(told)


@pytest.mark.parametrize("code", ["ValidationException", "ServiceUnavailableException"])
def test_other_errors_of_a_deletion_say_nothing_more(answers, error_answer, code):
    bwp.install()
    backup = boto3.client("backup")
    answers(backup, error_answer(code, "no"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        backup.wait_until_backup_vault_deleted(BackupVaultName="v", max_wait=60)
    assert "gone" not in str(caught.value)

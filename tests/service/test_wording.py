"""Errors of botocore's own waiters: its words in `reason` and first, its `last_response`."""

import copy
import pickle

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError, WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter

import boto_waiters_plus as bwp

pytestmark = pytest.mark.usefixtures("virtual_time")

USED_UP = "Max attempts exceeded"
ACCEPTED = "Matched expected service error code: ResourceNotFoundException"
THROTTLED = "An error occurred (ThrottlingException): Rate exceeded"


@pytest.fixture
def dynamodb(installed):
    return boto3.client("dynamodb")


def fail(waiter, attempts=1):
    with pytest.raises(WaiterError) as caught:
        waiter.wait(TableName="orders", WaiterConfig={"Delay": 1, "MaxAttempts": attempts})
    return caught.value


def waiter(operation, *acceptors, name="GetSecretValue"):
    config = {"operation": name, "delay": 1, "maxAttempts": 1, "acceptors": list(acceptors)}
    return Waiter("Mine", SingleWaiterConfig(config), operation)


def path(argument, expected, state="success", matcher="path"):
    return {"state": state, "matcher": matcher, "argument": argument, "expected": expected}


CREATING = {"Table": {"TableStatus": "CREATING"}}
MISSING, THROTTLE, LOST = (
    {"Error": {"Code": "ResourceNotFoundException", "Message": "no such table"}},
    {"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}},
    ReadTimeoutError(endpoint_url="https://dynamodb"),
)
CODELESS = {"Error": {}, "ResponseMetadata": {"HTTPStatusCode": 503}}


@pytest.mark.parametrize(("replies", "reason", "words", "observed", "last"), [
    ([CREATING], USED_UP, f"{USED_UP}. For dynamodb TableName=orders: ", "CREATING", "Table"),
    ([MISSING], f"{USED_UP}. Previously accepted state: {ACCEPTED}", "", None, "Error"),
    ([CREATING, THROTTLE], THROTTLED, f"{THROTTLED}. {USED_UP}. ", "CREATING", "Error"),
    # botocore takes it for no error.
    ([CREATING, CODELESS], f"{USED_UP}", f"{USED_UP}. For dynamodb", "CREATING", "Error"),
    ([MISSING, LOST], f"{USED_UP}. Previously accepted state: {ACCEPTED}", "", None, "Error"),
])  # fmt: skip
def test_attempts_used_up_keep_botocores_words(
    dynamodb, answers, replies, reason, words, observed, last
):
    answers(dynamodb, *replies)
    error = fail(dynamodb.get_waiter("table_exists"), attempts=len(replies))
    assert isinstance(error, bwp.WaiterAttemptsError)
    assert (error.attempts, error.acceptor, error.observed) == (len(replies), None, observed)
    for twin in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert str(twin).startswith(f"Waiter TableExists failed: {words or reason}")
        assert twin.kwargs == {"name": "TableExists", "reason": reason}
        assert twin.label == "dynamodb TableName=orders"
        assert twin.last_response == error.last_response
        assert last in twin.last_response


@pytest.mark.parametrize("wrap", [NormalizedOperationMethod, lambda method: method])
def test_a_value_on_a_sensitive_path_is_not_shown(installed, answers, wrap):
    """`SecretString` is sensitive in the model of Secrets Manager."""
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


def test_a_path_that_is_too_much_work_is_told(installed):
    doubled = "|".join(["[@,@][]"] * 23)
    mine = waiter(lambda **_: {"a": 1}, path("a", "b"), path(doubled, 3))
    with pytest.raises(WaiterError, match="Failing expressions: "):
        mine.wait()


@pytest.mark.parametrize(("details", "words"), [
    ({"Code": "AccessDeniedException", "Message": "not you"}, "(AccessDeniedException): not you"),
    ({"Code": "AccessDeniedException"}, "(AccessDeniedException): Unknown"),
    ({"Code": "", "Message": ""}, "(): "),
])  # fmt: skip
def test_error_that_no_acceptor_takes(dynamodb, answers, details, words):
    answers(dynamodb, {"Error": details})
    error = fail(dynamodb.get_waiter("table_exists"))
    assert isinstance(error, bwp.WaiterFailedError)
    assert error.kwargs["reason"] == f"An error occurred {words}"
    assert isinstance(error.__cause__, ClientError)
    assert error.last_exception is error.__cause__
    assert error.last_response["Error"] == details

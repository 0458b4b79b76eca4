"""Messages and errors of botocore's own waiters: its words, its `last_response`."""

import copy
import pickle

import boto3
import pytest
from botocore.exceptions import ClientError, WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter

import boto_waiters_plus as bwp

ONCE = {"Delay": 1, "MaxAttempts": 1}


def fail(client, name, **keywords):
    with pytest.raises(WaiterError) as caught:
        client.get_waiter(name).wait(**keywords)
    return caught.value


@pytest.fixture
def dynamodb():
    bwp.install()
    return boto3.client("dynamodb")


def test_attempts_used_up_without_a_match(dynamodb, answers):
    answers(dynamodb, {"Table": {"TableStatus": "CREATING"}})
    error = fail(dynamodb, "table_exists", TableName="orders", WaiterConfig=ONCE)
    assert str(error) == "Waiter TableExists failed: Max attempts exceeded"
    assert error.kwargs == {"name": "TableExists", "reason": "Max attempts exceeded"}
    assert error.last_response["Table"] == {"TableStatus": "CREATING"}
    assert isinstance(error, bwp.WaiterAttemptsError)
    assert (error.attempts, error.acceptor, error.observed) == (1, None, "CREATING")


def test_attempts_used_up_after_a_match(dynamodb, answers, error_answer):
    answers(dynamodb, error_answer("ResourceNotFoundException", "no such table"))
    error = fail(dynamodb, "table_exists", TableName="orders", WaiterConfig=ONCE)
    assert str(error) == (
        "Waiter TableExists failed: Max attempts exceeded. Previously accepted state: "
        "Matched expected service error code: ResourceNotFoundException"
    )
    assert error.last_response["Error"]["Message"] == "no such table"


def test_terminal_failure():
    bwp.install()
    acceptor = {"state": "failure", "matcher": "pathAny", "argument": "a[].s", "expected": "dead"}
    config = SingleWaiterConfig(
        {"operation": "Look", "delay": 1, "maxAttempts": 2, "acceptors": [acceptor]}
    )
    with pytest.raises(WaiterError) as caught:
        Waiter("Alive", config, lambda **_: {"a": [{"s": "dead"}]}).wait()
    error = caught.value
    assert str(error) == (
        "Waiter Alive failed: Waiter encountered a terminal failure state: "
        'For expression "a[].s" we matched expected path: "dead" at least once'
    )
    assert isinstance(error, bwp.WaiterFailedError)
    assert error.acceptor.index == 0
    assert error.observed == ["dead"]
    assert error.last_response == {"a": [{"s": "dead"}]}


@pytest.mark.parametrize(
    ("details", "words"),
    [
        (
            {"Code": "AccessDeniedException", "Message": "not you"},
            "(AccessDeniedException): not you",
        ),
        ({"Code": "AccessDeniedException"}, "(AccessDeniedException): Unknown"),
        ({"Code": "", "Message": ""}, "(): "),
    ],
)
def test_error_that_no_acceptor_takes(dynamodb, answers, details, words):
    answers(dynamodb, {"Error": details})
    error = fail(dynamodb, "table_exists", TableName="orders")
    assert str(error) == f"Waiter TableExists failed: An error occurred {words}"
    assert isinstance(error, bwp.WaiterFailedError)
    assert isinstance(error.__cause__, ClientError)
    assert error.last_exception is error.__cause__
    assert error.last_response["Error"] == details
    assert error.last_response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_error_survives_copy_and_pickle_where_botocores_does_not(dynamodb, answers):
    answers(dynamodb, {"Table": {"TableStatus": "CREATING"}})
    error = fail(dynamodb, "table_exists", TableName="orders", WaiterConfig=ONCE)
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert twin.last_response == error.last_response
        assert twin.kwargs == error.kwargs


def test_value_on_a_sensitive_path_is_not_shown(answers):
    """Secrets Manager calls `SecretString` sensitive; a waiter of one's own may still look."""
    bwp.install()
    client = boto3.client("secretsmanager")
    answers(client, {"SecretString": "hunter2"})
    acceptors = [
        {"state": "success", "matcher": "path", "argument": "SecretString", "expected": "hunter2"}
    ]
    config = SingleWaiterConfig(
        {"operation": "GetSecretValue", "delay": 1, "maxAttempts": 2, "acceptors": acceptors}
    )
    told = []
    outcome = Waiter("SecretSet", config, NormalizedOperationMethod(client.get_secret_value)).wait(
        SecretId="s", on_attempt=told.append
    )
    assert outcome.observed is None
    assert "hunter2" not in repr(outcome).replace(outcome.acceptor.text, "")
    assert told[0].observed is None


@pytest.mark.parametrize(
    ("matcher", "argument", "expected", "response", "matches"),
    [
        ("path", "N", 1, {"N": True}, True),  # Python's ==, as botocore's
        ("path", "N", True, {"N": 1}, True),
        ("path", "N", None, {}, True),
        ("path", "N", [], {"N": []}, True),
        ("pathAll", "L", "x", {"L": []}, False),
        ("pathAll", "L", "x", {"L": ["x", "x"]}, True),
        ("pathAll", "L", "x", {"L": "x"}, False),
        ("pathAny", "L", "x", {"L": ["y", "x"]}, True),
        ("pathAny", "L", "x", {"L": []}, False),
        ("pathAny", "L[].M", 0, {"L": [{"M": 0}]}, True),
        ("path", "ResponseMetadata.HTTPStatusCode", 200, {}, True),
        ("status", None, 200, {}, True),
        ("status", None, 404, {"Error": {"Code": "X"}}, False),
        ("status", None, 400, {"Error": {"Code": "X"}}, True),
        ("error", None, "X", {"Error": {"Code": "X"}}, True),
        ("error", None, "Y", {"Error": {"Code": "X"}}, False),
        ("error", None, True, {"Error": {"Code": "X"}}, True),
        ("error", None, True, {}, False),
        ("error", None, False, {"Error": {"Code": "X"}}, False),
        ("error", None, False, {}, True),
        ("path", "Error.Code", "X", {"Error": {"Code": "X"}}, False),
        ("pathAny", "[Error.Code]", "X", {"Error": {"Code": "X"}}, False),
    ],
)
def test_acceptors_judge_as_the_installed_botocores_do(
    answers, matcher, argument, expected, response, matches
):
    acceptor = {"state": "success", "matcher": matcher, "expected": expected}
    if argument is not None:
        acceptor["argument"] = argument
    data = {"operation": "ListTables", "delay": 1, "maxAttempts": 1, "acceptors": [acceptor]}
    seen = []
    for prepare in (lambda: None, bwp.install):
        prepare()
        client = boto3.client("dynamodb")
        answers(client, response)
        operation = NormalizedOperationMethod(client.list_tables)
        waiter = Waiter("w", SingleWaiterConfig(data), operation)
        try:
            waiter.wait()
            seen.append(True)
        except WaiterError:
            seen.append(False)
    stock, ours = seen
    assert ours is stock
    if not isinstance(expected, bool) or matcher != "error":  # 1.34 knows no error of any name
        assert stock is matches


def test_path_that_cannot_be_evaluated_is_no_match(answers):
    """The one place where stock lets jmespath's own error out."""
    bwp.install()
    client = boto3.client("dynamodb")
    answers(client, {})
    acceptors = [
        {"state": "success", "matcher": "path", "argument": "length(Nothing)", "expected": 3},
        {"state": "success", "matcher": "status", "expected": 200},
    ]
    config = SingleWaiterConfig(
        {"operation": "ListTables", "delay": 1, "maxAttempts": 1, "acceptors": acceptors}
    )
    assert Waiter("w", config, client.list_tables).wait().acceptor.index == 1

"""`until_state`: an operation and a state in place of a waiter."""

import asyncio
import contextlib
import dataclasses

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations


@pytest.fixture
def dynamodb(answers):
    """`dynamodb(*states)`: a client whose table passes through these states."""

    def client(*states):
        made = boto3.client("dynamodb")
        answers(made, *[{"Table": {"TableStatus": state}} for state in states])
        return made

    return client


ACTIVE = {"until_state": "ACTIVE", "max_wait": 60}


@pytest.mark.parametrize("name", ["DescribeTable", "describe_table"])
def test_wait_until_takes_an_operation_and_a_state(dynamodb, virtual_time, name):
    client = dynamodb("CREATING", "ACTIVE", "INACCESSIBLE_ENCRYPTION_CREDENTIALS")
    outcome = bwp.wait_until(client, name, TableName="orders", **ACTIVE)
    assert (outcome.waiter, outcome.attempts) == ("DescribeTableUntilActive", 2)
    assert outcome.observed == "ACTIVE"
    # A failure state of the model.
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, name, TableName="orders", **ACTIVE)
    assert caught.value.observed == "INACCESSIBLE_ENCRYPTION_CREDENTIALS"


def test_tasks_and_many_waits_take_it(dynamodb, virtual_time):
    client = dynamodb("ACTIVE")
    wait = bwp.Wait(client, "DescribeTable", {"TableName": "orders"}, **ACTIVE)
    assert bwp.wait_all([wait])[0].observed == "ACTIVE"
    operation = operations.start(client, "DescribeTable", TableName="orders", **ACTIVE)
    assert operation.result(timeout=60).observed == "ACTIVE"
    coroutine = bwp.wait_until_async(client, "DescribeTable", TableName="orders", **ACTIVE)
    assert asyncio.run(coroutine).observed == "ACTIVE"


def by_function(client, operation, parameters, **keywords):
    return bwp.wait_until(client, operation, **parameters, **keywords)


def by_task(client, operation, parameters, **keywords):
    return asyncio.run(bwp.wait_until_async(client, operation, **parameters, **keywords))


def by_batch(client, operation, parameters, **keywords):
    [result] = bwp.wait_all(
        [bwp.Wait(client, operation, parameters, **keywords)], on_failure="collect"
    )
    if isinstance(result, Exception):
        raise result
    return result


def in_background(client, operation, parameters, **keywords):
    return operations.start(client, operation, **parameters, **keywords).result(60)


def in_store(client, operation, parameters, **keywords):
    with contextlib.closing(operations.Store(":memory:")) as store:
        made = store.start(client, operation, **parameters, **keywords)
        store.work(until_idle=True, make_client=lambda _: client)
        return made.result(60)


each_way = pytest.mark.parametrize("way", [by_function, by_task, by_batch, in_background, in_store])
FORECAST = {"ForecastArn": "arn:aws:forecast:us-east-1:123456789012:forecast/f"}
SERVICES = {"services": ["a", "b"], "cluster": "c"}


def of_forecasts(answers, *states):
    """A client whose forecast, whose states no model lists, passes through these states."""
    client = boto3.client("forecast")
    answers(client, *({"Status": state, "Message": "No disk."} for state in states))
    return client


@each_way
@pytest.mark.parametrize("state", ["CREATE FAILED", "ERROR", "failed", "TimedOut", "FailedToStart"])
def test_a_state_that_says_that_it_failed_ends_the_wait(answers, virtual_time, way, state):
    client = of_forecasts(answers, "CREATE_IN_PROGRESS", state, "ACTIVE")
    with pytest.raises(bwp.WaiterFailedError) as caught:
        way(client, "DescribeForecast", FORECAST, **ACTIVE)
    assert (caught.value.observed, caught.value.attempts) == (state, 2)
    assert f"says that it failed: {state}: No disk" in str(caught.value)
    assert caught.value.service_message == "No disk."


@each_way
def test_a_listed_resource_that_failed_ends_the_wait(answers, virtual_time, way):
    client = boto3.client("ecs")
    listed = [{"serviceName": name, "status": "ACTIVE"} for name in "ab"]
    answers(client, {"services": [*listed[:1], {"serviceName": "b", "status": "CREATE_FAILED"}]})
    with pytest.raises(bwp.WaiterFailedError) as caught:
        way(client, "DescribeServices", SERVICES, until_state="ACTIVE", max_wait=60)
    assert caught.value.observed == ["ACTIVE", "CREATE_FAILED"]


@each_way
def test_a_failure_that_the_model_lacks_ends_the_wait(dynamodb, virtual_time, way):
    client = dynamodb("CREATING", "CREATE_FAILED", "ACTIVE")
    with pytest.raises(bwp.WaiterFailedError) as caught:
        way(client, "DescribeTable", {"TableName": "orders"}, **ACTIVE)
    assert caught.value.observed == "CREATE_FAILED"


@each_way
@pytest.mark.filterwarnings("ignore:the model")
@pytest.mark.parametrize(
    ("until", "states"),
    [
        # What is waited for, alone and among others.
        ("CREATE FAILED", ["ACTIVE", "CREATE FAILED"]),
        (["ACTIVE", "ERROR"], ["CREATING", "ERROR"]),
        # No failures, and none that ends it.
        ("ACTIVE", ["NO_ERRORS", "FAILED_RETRYING", "Some of the checks failed", "ACTIVE"]),
        ("ACTIVE", ["FAILED_OVER", "none failed", "0 failed", "Last update failed", "ACTIVE"]),
        ("ACTIVE", ["RETRYING AFTER FAILURE", "RECOVERED FROM ERROR", "ACTIVE"]),
        ("ACTIVE", ["", "  ", "ERROR: none of 3", "x" * 99_999, "ACTIVE"]),
        # Whatever else has failed can be deleted.
        ("DELETED", ["CREATE_FAILED", "DELETED"]),
    ],
)
def test_other_states_are_waited_out(answers, virtual_time, way, until, states):
    client = of_forecasts(answers, *states)
    outcome = way(client, "DescribeForecast", FORECAST, until_state=until, max_wait=600)
    assert (outcome.observed, outcome.attempts) == (states[-1], len(states))


@pytest.mark.filterwarnings("ignore:the model")
def test_a_deletion_that_failed_ends_the_wait(answers, virtual_time):
    client = of_forecasts(answers, "CREATE_FAILED", "DELETE_FAILED")
    options = {"until_state": "DELETED", "max_wait": 60}
    with pytest.raises(bwp.WaiterFailedError) as caught:
        by_function(client, "DescribeForecast", FORECAST, **options)
    assert caught.value.attempts == 2


def test_an_expression_of_the_callers_fails_by_words(answers, virtual_time):
    client = boto3.client("ecs")
    tasks = [{"taskArn": "t", "lastStatus": state} for state in ("PENDING", "ERROR")]
    answers(client, *({"tasks": [task]} for task in tasks))
    options = {"until_state": "RUNNING", "max_wait": 60}
    path = {"state_path": "tasks[*].lastStatus | [0]"}
    with pytest.raises(bwp.WaiterFailedError) as caught:
        by_function(client, "DescribeTasks", {"tasks": ["t"]}, **options, **path)
    assert caught.value.observed == "ERROR"


def test_a_waiter_of_that_state_can_be_stored_as_it_is(answers):
    wait = bwp.Wait(of_forecasts(answers, "ACTIVE"), "DescribeForecast", FORECAST, **ACTIVE)
    shapes = {"a#DescribeForecast": {"type": "apply", "traits": {}}}
    body = {wait.waiter: wait.definition.to_json()}
    shapes["a#DescribeForecast"]["traits"]["smithy.waiters#waitable"] = body
    [loaded] = bwp.load_definitions({"smithy": "2.0", "shapes": shapes})
    assert loaded.tags == wait.definition.tags
    assert loaded.digest == wait.definition.digest


@pytest.mark.parametrize(
    ("waiter", "keywords", "error", "names"),
    [
        ("DescribeTabel", ACTIVE, ValueError, "dynamodb: .* 'DescribeTable'"),
        ("TableExists", ACTIVE, ValueError, "until_state"),
        ("DescribeTable", {"max_wait": 60}, ValueError, "until_state"),
        ("DescribeTable", {"max_wait": 60, "state_path": "Table"}, TypeError, "until_state"),
        (7, ACTIVE, TypeError, "until_state"),
        ("DescribeTable", ACTIVE | {"until_state": "ACTIV"}, ValueError, "'ACTIVE'"),
    ],
)
def test_what_does_not_go_together_is_refused(dynamodb, waiter, keywords, error, names):
    with pytest.raises(error, match=names):
        bwp.wait_until(dynamodb(), waiter, TableName="orders", **keywords)


def test_a_method_of_a_client_does_not_take_it():
    client = bwp.enable(boto3.client("dynamodb"))
    with pytest.raises(TypeError, match="until_state"):
        client.wait_until_table_exists(TableName="orders", until_state="ACTIVE", max_wait=60)


def test_a_tag_of_somebody_elses_definition_breaks_nothing(answers, virtual_time):
    client = of_forecasts(answers, "CREATE FAILED")
    ends = {"success_on_error": ["NotFound"]}
    waiter = bwp.WaiterDefinition.from_states(
        "X", "DescribeForecast", path="Status", success=[], **ends
    )
    tagged = dataclasses.replace(waiter, tags=("fails-by-words",))
    with pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(client, tagged, max_wait=9, **FORECAST)

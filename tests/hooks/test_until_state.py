"""`until_state`: an operation and a state in place of a waiter."""

import dataclasses

import boto3
import pytest
from service import ways

import boto_waiters_plus as bwp

ACTIVE = {"until_state": "ACTIVE", "max_wait": 60}
FORECAST = {"ForecastArn": "arn:aws:forecast:us-east-1:123456789012:forecast/f"}
# A service, an operation, its parameters, and its answer for a state.
SOURCES = {
    # The model lists its states.
    "table": ("dynamodb", "describe_table", {"TableName": "orders"},
              lambda state: {"Table": {"TableStatus": state}}),
    # No model lists its states.
    "forecast": ("forecast", "DescribeForecast", FORECAST,
                 lambda state: {"Status": state, "Message": "No disk."}),
    "services": ("ecs", "DescribeServices", {"services": ["a", "b"], "cluster": "c"},
                 lambda states: {"services": [{"status": state} for state in states]}),
}  # fmt: skip


@pytest.fixture
def client_of(answers):
    """`client_of(source, *states)`: a client whose resource passes through these states."""

    def client_of(source, *states):
        service, _, _, answer = SOURCES[source]
        client = boto3.client(service)
        answers(client, *map(answer, states))
        return client

    return client_of


WAYS = [bwp.wait_until, ways.by_task, ways.by_batch, ways.in_background, ways.in_store]
FAILED = ["CREATE FAILED", "ERROR", "failed", "TimedOut", "FailedToStart"]
NO_FAILURES = [
    "NO_ERRORS", "FAILED_RETRYING", "Some of the checks failed", "FAILED_OVER", "none failed", "",
    "0 failed", "Last update failed", "RETRYING AFTER FAILURE", "RECOVERED FROM ERROR", "  ",
    "ERROR: none of 3", "x" * 99_999,
]  # fmt: skip
# What is waited for, and the states, of which the last one ends the wait.
FAILURES = [
    *[("forecast", "ACTIVE", ["CREATE_IN_PROGRESS", state]) for state in FAILED],
    ("forecast", "DELETED", ["CREATE_FAILED", "DELETE_FAILED"]),
    # A failure of the model, and one that it lacks.
    ("table", "ACTIVE", ["INACCESSIBLE_ENCRYPTION_CREDENTIALS"]),
    ("table", "ACTIVE", ["CREATING", "CREATE_FAILED"]),
    ("services", "ACTIVE", [["ACTIVE", "CREATE_FAILED"]]),
]
SUCCESSES = [
    ("table", "ACTIVE", ["CREATING", "ACTIVE"]),
    # What is waited for, alone and among others.
    ("forecast", "CREATE FAILED", ["ACTIVE", "CREATE FAILED"]),
    ("forecast", ["ACTIVE", "ERROR"], ["CREATING", "ERROR"]),
    # No failures, and none that ends it.
    ("forecast", "ACTIVE", [*NO_FAILURES, "ACTIVE"]),
    # Whatever else has failed can be deleted.
    ("forecast", "DELETED", ["CREATE_FAILED", "DELETED"]),
]


@pytest.mark.filterwarnings("ignore:the model")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", FAILURES + SUCCESSES)
def test_only_states_that_say_so_end_the_wait_in_failure(client_of, virtual_time, way, row):
    (source, until, states), failed = row, row in FAILURES
    _, operation, parameters, _ = SOURCES[source]
    client = client_of(source, *states, "ACTIVE")
    try:
        end = way(client, operation, until_state=until, max_wait=9000, **parameters)
    except bwp.WaiterError as error:
        end = error
    assert isinstance(end, bwp.WaiterFailedError if failed else bwp.ResponseOutcome)
    assert (end.observed, end.attempts) == (states[-1], len(states))
    if failed and source == "forecast":
        assert f"says that it failed: {states[-1]}: No disk" in str(end)
        assert end.service_message == "No disk."


def test_an_expression_of_the_callers_fails_by_words(client_of, virtual_time):
    client, path = client_of("services", ["PENDING"], ["ERROR"]), "services[*].status | [0]"
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, "DescribeServices", services=["a"], state_path=path, **ACTIVE)
    assert caught.value.observed == "ERROR"


def test_a_waiter_of_that_state_can_be_stored_as_it_is(client_of, waitable):
    wait = bwp.Wait(client_of("forecast", "ACTIVE"), "DescribeForecast", FORECAST, **ACTIVE)
    members = wait.definition.to_json()
    document = waitable(wait.waiter, "DescribeForecast", *members.pop("acceptors"), **members)
    [loaded] = bwp.load_definitions(document)
    assert loaded.tags == wait.definition.tags
    assert loaded.digest == wait.definition.digest


@pytest.mark.parametrize(("waiter", "keywords", "error", "names"), [
    ("DescribeTabel", ACTIVE, ValueError, "dynamodb: .* 'DescribeTable'"),
    ("TableExists", ACTIVE, ValueError, "until_state"), (7, ACTIVE, TypeError, "until_state"),
    ("DescribeTable", {"max_wait": 60}, ValueError, "until_state"),
    ("DescribeTable", {"max_wait": 60, "state_path": "Table"}, TypeError, "until_state"),
    ("DescribeTable", ACTIVE | {"until_state": "ACTIV"}, ValueError, "'ACTIVE'"),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(client_of, waiter, keywords, error, names):
    with pytest.raises(error, match=names):
        bwp.wait_until(client_of("table"), waiter, TableName="orders", **keywords)


def test_a_method_of_a_client_does_not_take_it():
    client = bwp.enable(boto3.client("dynamodb"))
    with pytest.raises(TypeError, match="until_state"):
        client.wait_until_table_exists(TableName="orders", until_state="ACTIVE", max_wait=60)


def test_a_tag_of_somebody_elses_definition_breaks_nothing(client_of, virtual_time):
    client, ends = client_of("forecast", "CREATE FAILED"), {"success_on_error": ["NotFound"]}
    waiter = bwp.WaiterDefinition.from_states(
        "X", "DescribeForecast", path="Status", success=[], **ends
    )
    tagged = dataclasses.replace(waiter, tags=("fails-by-words",))
    with pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(client, tagged, max_wait=9, **FORECAST)

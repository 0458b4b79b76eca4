"""Waiters that are made for a state of an operation, and which members are states."""

import warnings

import boto3
import pytest
from installed_models import with_the_operations_of_today

import boto_waiters_plus as bwp


def made(name, until, path=None):
    """Return the definition that a wait for states of an operation has."""
    service, _, operation = name.partition(".")
    wait = bwp.Wait(boto3.client(service), operation, {}, until_state=until, state_path=path)
    return wait.bound_waiter.definition


@with_the_operations_of_today
@pytest.mark.parametrize(
    ("name", "until", "path", "expected"),
    [
        # Failures by the words of the states that the model lists.
        (
            "dynamodb.DescribeTable",
            "ACTIVE",
            None,
            ["Table.TableStatus", "stringEquals", "ACTIVE", "INACCESSIBLE_ENCRYPTION_CREDENTIALS"],
        ),
        (
            "lambda.GetFunctionConfiguration",
            "Active",
            "State",
            ["State", "stringEquals", "Active", "Failed Deactivated"],
        ),
        # Of a list, all: the model tells that it is one.
        (
            "ec2.DescribeVolumes",
            "available",
            None,
            ["Volumes[].State", "allStringEquals", "available", "deleted error"],
        ),
        # A state in a structure of that name.
        (
            "ec2.DescribeInstances",
            "terminated",
            None,
            ["Reservations[].Instances[].State.Name", "allStringEquals", "terminated", ""],
        ),
        # What the model lists no states for.
        (
            "ecs.DescribeServices",
            "ACTIVE",
            None,
            ["services[].status", "allStringEquals", "ACTIVE", ""],
        ),
        (
            "s3.GetBucketVersioning",
            ["Enabled", "Suspended"],
            None,
            ["Status", "stringEquals", "Enabled Suspended", ""],
        ),
        # One of a list is one state.
        (
            "ecs.DescribeTasks",
            "RUNNING",
            "tasks[0].lastStatus",
            ["tasks[0].lastStatus", "stringEquals", "RUNNING", ""],
        ),
        (
            "kms.DescribeKey",
            "Enabled",
            None,
            ["KeyMetadata.KeyState", "stringEquals", "Enabled", ""],
        ),
        (
            "workspaces.DescribeConnectionAliases",
            "CREATED",
            None,
            ["ConnectionAliases[].State", "allStringEquals", "CREATED", ""],
        ),
    ],
)
def test_states_become_acceptors(name, until, path, expected):
    acceptors = [each.to_json() for each in made(name, until, path).acceptors]
    outputs = {state: [] for state in ("success", "failure")}
    for each in acceptors:
        outputs[each["state"]].append(each["matcher"]["output"])
    [(found, comparator)] = {(each["path"], each["comparator"]) for each in outputs["success"]}
    states = [" ".join(each["expected"] for each in kind) for kind in outputs.values()]
    assert [found, comparator, *states] == expected


def test_a_made_waiter_tells_how_states_were_sorted():
    waiter = made("kinesis.DescribeStream", ["ACTIVE", "UPDATING"])
    assert waiter.name == "DescribeStreamUntilActiveOrUpdating"
    for words in ("success: ACTIVE, UPDATING", "passing: CREATING, DELETING"):
        assert words in waiter.documentation


@pytest.mark.parametrize(
    ("name", "until", "path", "message"),
    [
        (
            "dynamodb.DeleteTable",
            "ACTIVE",
            None,
            "DeleteTable may modify resources; every attempt would call it",
        ),
        ("s3.GetObject", "COMPLETED", None, "the output of GetObject is a stream"),
        (
            "s3.HeadBucket",
            "Enabled",
            None,
            "HeadBucket has no member with a state: give state_path, the JMESPath for one",
        ),
        (
            "ecs.DescribeTasks",
            "RUNNING",
            None,
            (
                "DescribeTasks has several states: give state_path: one of 'tasks[].healthStatus', "
                "'tasks[].lastStatus'"
            ),
        ),
        (
            "dynamodb.DescribeTable",
            "ACTVE",
            None,
            ("unknown state 'ACTVE' of Table.TableStatus in DescribeTable; did you mean 'ACTIVE'?"),
        ),
        (
            "dynamodb.DescribeTable",
            "active",
            None,
            (
                "unknown state 'active' of Table.TableStatus in DescribeTable; did you mean "
                "'ACTIVE'?"
            ),
        ),
        (
            "s3.GetBucketVersioning",
            "xyz",
            None,
            "unknown state 'xyz' of Status in GetBucketVersioning; known: Enabled, Suspended",
        ),
        (
            "dynamodb.DescribeTable",
            "ACTIVE",
            "Table.TableState",
            (
                "the response of DescribeTable has no member Table.TableState; did you mean "
                "'Table.TableStatus'?"
            ),
        ),
        ("dynamodb.DescribeTable", "ACTIVE", "Table", "Table in DescribeTable is a structure"),
        (
            "dynamodb.DescribeTable",
            "5",
            "Table.ItemCount",
            (
                "Table.ItemCount in DescribeTable is a long, not the name of a state: give "
                "state_path: 'Table.to_string(ItemCount)', and until_state: the value as text"
            ),
        ),
        ("dynamodb.DescribeTable", "ACTIVE", "Table.[", "path 'Table.[' is not a JMESPath"),
        ("dynamodb.DescribeTable", [], None, "until_state is empty: give the state to wait for"),
        # The state of the resource itself comes before others beside it.
        (
            "ec2.DescribeFleets",
            "active",
            None,
            "DescribeFleets has several states: give state_path: one of 'Fleets[].FleetState', ",
        ),
        ("secretsmanager.GetSecretValue", "x", None, "GetSecretValue has no member with a state"),
    ],
)
def test_what_cannot_be_made_is_refused(name, until, path, message):
    with pytest.raises(ValueError) as caught:
        made(name, until, path)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("until", [True, 5, 1.5])
def test_a_boolean_or_number_is_refused(until):
    with pytest.raises(TypeError, match="until_state must be the name of a state"):
        made("dynamodb.DescribeTable", until)


@pytest.mark.parametrize(
    ("name", "until", "told"),
    [
        (
            "forecast.DescribeDatasetGroup",
            ["CREATE FAILED", "ACTIVE"],
            [
                "of Status, and 'CREATE FAILED' is not among those known: ACTIVE, CREATE_PENDING, ",
                "; did you mean 'CREATE_FAILED'?",
            ],
        ),
        # Shipped waiters know states that no documentation has.
        ("rds.DescribeDBInstances", "avalable", ["known: ", "available", "mean 'available'?"]),
        # Any word of the documentation.
        ("rds.DescribeDBInstances", "current", ["known: ", "available"]),
        (
            "personalize.DescribeRecipe",
            "DONE",
            ["of recipe.status, so that 'DONE' cannot be checked"],
        ),
        # Nearest to the root, whatever lies deeper.
        (
            "autoscaling.DescribeAutoScalingGroups",
            "x",
            ["lists no states of AutoScalingGroups[].Status,"],
        ),
    ],
)
def test_a_state_that_no_model_lists_is_warned_of(name, until, told):
    path = "DBInstances[].DBInstanceStatus" if name.startswith("rds") else None
    with pytest.warns(UserWarning, match=name.partition(".")[2]) as caught:
        made(name, until, path)
    [warning] = caught
    assert all(text in str(warning.message) for text in told)
    assert warning.filename == __file__


@pytest.mark.parametrize(
    ("name", "until", "path"),
    [
        ("forecast.DescribeDatasetGroup", "CREATE_FAILED", None),
        ("personalize.DescribeCampaign", ["ACTIVE", "CREATE FAILED"], None),
        ("rds.DescribeDBInstances", "available", "DBInstances[0].DBInstanceStatus"),
        ("dynamodb.DescribeTable", "5", "to_string(Table.ItemCount)"),
        # The model lists 'Available'; a shipped waiter knows what the service answers.
        ("ec2.DescribeVpcEndpoints", "available", "VpcEndpoints[].State"),
    ],
)
def test_a_state_that_is_known_is_silent(name, until, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(name, until, path)


def test_a_sensitive_output_may_be_polled_by_its_caller():
    """Its state is shown, and nothing else."""
    waiter = made("lambda.GetFunctionConfiguration", "Active", "State")
    assert waiter.operation == "GetFunctionConfiguration"


def test_state_is_that_of_the_list_that_a_path_counts(answers, waitable, virtual_time):
    seen, path = [], "length(AutoScalingGroups[].Instances[]) == `2`"
    matcher = {"output": {"path": path, "comparator": "booleanEquals", "expected": "true"}}
    document = waitable(
        "Full", "DescribeAutoScalingGroups", {"state": "success", "matcher": matcher}
    )
    client = bwp.enable(boto3.client("autoscaling"), definitions=document)
    group = {"Status": "x", "Instances": [{"LifecycleState": "Pending", "HealthStatus": "y"}]}
    answers(client, {"AutoScalingGroups": [group]}, {"AutoScalingGroups": [group, group]})
    client.wait_until_full(max_wait=60, on_attempt=lambda event: seen.append(event.state))
    assert "Pending" in seen[0]

"""Waiters that are made for a state of an operation."""

import botocore.session
import pytest
from installed_models import with_the_operations_of_today

from boto_waiters_plus.aws.made_waiter import made_waiter
from boto_waiters_plus.aws.state_member import shape_at
from boto_waiters_plus.engine.model import AcceptorState


def operation(name):
    service, _, name = name.partition(".")
    return botocore.session.get_session().get_service_model(service).operation_model(name)


def outputs(waiter):
    """The path, the comparator and the states of each kind."""
    [(path, comparator)] = {
        (a.matcher.matcher.path, a.matcher.matcher.comparator.value)
        for a in waiter.acceptors
        if a.state is AcceptorState.SUCCESS
    }
    states = [
        [a.matcher.matcher.expected for a in waiter.acceptors if a.state is state]
        for state in (AcceptorState.SUCCESS, AcceptorState.FAILURE)
    ]
    return path, comparator, *map(" ".join, states)


@with_the_operations_of_today
@pytest.mark.parametrize(
    ("name", "until", "path", "expected"),
    [
        # Failures by the words of the states that the model lists.
        ("dynamodb.DescribeTable", "ACTIVE", None,
         ("Table.TableStatus", "stringEquals", "ACTIVE", "INACCESSIBLE_ENCRYPTION_CREDENTIALS")),
        ("lambda.GetFunctionConfiguration", "Active", "State",
         ("State", "stringEquals", "Active", "Failed Deactivated")),
        # Of a list, all: the model tells that it is one.
        ("ec2.DescribeVolumes", "available", None,
         ("Volumes[].State", "allStringEquals", "available", "deleted error")),
        # A state in a structure of that name.
        ("ec2.DescribeInstances", "terminated", None,
         ("Reservations[].Instances[].State.Name", "allStringEquals", "terminated", "")),
        # What the model lists no states for.
        ("ecs.DescribeServices", "ACTIVE", None,
         ("services[].status", "allStringEquals", "ACTIVE", "")),
        ("s3.GetBucketVersioning", ["Enabled", "Suspended"], None,
         ("Status", "stringEquals", "Enabled Suspended", "")),
        # One of a list is one state.
        ("ecs.DescribeTasks", "RUNNING", "tasks[0].lastStatus",
         ("tasks[0].lastStatus", "stringEquals", "RUNNING", "")),
    ],
)  # fmt: skip
def test_states_become_acceptors(name, until, path, expected):
    assert outputs(made_waiter(operation(name), until, path)) == expected


def test_a_made_waiter_tells_how_states_were_sorted():
    waiter = made_waiter(operation("kinesis.DescribeStream"), ["ACTIVE", "UPDATING"])
    assert waiter.name == "DescribeStreamUntilActiveOrUpdating"
    assert waiter.documentation == (
        "Made for one wait. success: ACTIVE, UPDATING; passing: CREATING, DELETING."
    )


def test_given_failures_replace_the_guess():
    waiter = made_waiter(operation("ec2.DescribeVolumes"), "available", failure=["in-use"])
    assert outputs(waiter)[3] == "in-use"


@pytest.mark.parametrize(
    ("name", "until", "path", "message"),
    [
        ("dynamodb.DeleteTable", "ACTIVE", None,
         "DeleteTable may modify resources; every attempt would call it"),
        ("s3.GetObject", "COMPLETED", None, "the output of GetObject is a stream"),
        ("s3.HeadBucket", "Enabled", None,
         "HeadBucket has no member with a state: give state_path, the JMESPath for one"),
        ("ecs.DescribeTasks", "RUNNING", None,
         ("DescribeTasks has several states: give state_path: one of 'tasks[].healthStatus', "
         "'tasks[].lastStatus'")),
        ("dynamodb.DescribeTable", "ACTVE", None,
         "unknown state 'ACTVE' of Table.TableStatus in DescribeTable; did you mean 'ACTIVE'?"),
        ("dynamodb.DescribeTable", "active", None,
         "unknown state 'active' of Table.TableStatus in DescribeTable; did you mean 'ACTIVE'?"),
        ("s3.GetBucketVersioning", "xyz", None,
         "unknown state 'xyz' of Status in GetBucketVersioning; known: Enabled, Suspended"),
        ("dynamodb.DescribeTable", "ACTIVE", "Table.TableState",
         ("the response of DescribeTable has no member Table.TableState; did you mean "
         "'Table.TableStatus'?")),
        ("dynamodb.DescribeTable", "ACTIVE", "Table", "Table in DescribeTable is a structure"),
        ("dynamodb.DescribeTable", "5", "Table.ItemCount",
         ("Table.ItemCount in DescribeTable is a long, not the name of a state: give state_path: "
         "'Table.to_string(ItemCount)', and until_state: the value as text")),
        ("dynamodb.DescribeTable", "ACTIVE", "Table.[", "path 'Table.[' is not a JMESPath"),
        ("dynamodb.DescribeTable", [], None, "until_state is empty: give the state to wait for"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused(name, until, path, message):
    with pytest.raises(ValueError) as caught:
        made_waiter(operation(name), until, path)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("until", "kind"), [(True, "bool"), (5, "int"), (1.5, "float")])
def test_a_boolean_or_number_is_refused_with_what_to_do(until, kind):
    with pytest.raises(TypeError) as caught:
        made_waiter(operation("dynamodb.DescribeTable"), until)
    assert str(caught.value) == (
        f"until_state must be the name of a state, not {kind}: give it as text, such as 'true', "
        "and state_path: 'to_string(MEMBER)'"
    )


def test_a_sensitive_output_may_be_polled_by_its_caller():
    """Its state is shown, and nothing else."""
    waiter = made_waiter(operation("lambda.GetFunctionConfiguration"), "Active", "State")
    assert waiter.operation == "GetFunctionConfiguration"


@pytest.mark.parametrize(
    ("name", "path", "kind"),
    [
        ("dynamodb.DescribeTable", "Table.GlobalSecondaryIndexes[].IndexStatus", "string"),
        ("dynamodb.DescribeTable", "Table.GlobalSecondaryIndexes[-1].Projection", "structure"),
        ("dynamodb.DescribeTable", "Table.GlobalSecondaryIndexes.IndexStatus", None),
        ("dynamodb.DescribeTable", "Table.TableStatus.Name", None),
        ("lambda.GetFunctionConfiguration", "Environment.Variables.any", "string"),
    ],
)
def test_shape_of_a_plain_path_is_found(name, path, kind):
    found = shape_at(operation(name), path)
    assert (None if found is None else found.type_name) == kind

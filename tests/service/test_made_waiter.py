"""Waiters that are made for a state of an operation."""

import warnings

import botocore.session
import pytest
from case_tables import tabled
from installed_models import with_the_operations_of_today

from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.service.made_waiter import made_waiter
from boto_waiters_plus.service.state_member import shape_at


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
@tabled("name", "until", "path", "expected")
def test_states_become_acceptors(name, until, path, expected):
    assert outputs(made_waiter(operation(name), until, path)) == tuple(expected)


def test_a_made_waiter_tells_how_states_were_sorted():
    waiter = made_waiter(operation("kinesis.DescribeStream"), ["ACTIVE", "UPDATING"])
    assert waiter.name == "DescribeStreamUntilActiveOrUpdating"
    assert waiter.documentation == (
        "Made for one wait. success: ACTIVE, UPDATING; passing: CREATING, DELETING."
    )


def test_given_failures_replace_the_guess():
    waiter = made_waiter(operation("ec2.DescribeVolumes"), "available", failure=["in-use"])
    assert outputs(waiter)[3] == "in-use"


@tabled("name", "until", "path", "message")
def test_what_cannot_be_made_is_refused(name, until, path, message):
    with pytest.raises(ValueError) as caught:
        made_waiter(operation(name), until, path)
    assert str(caught.value).startswith(message)


@tabled("name", "until", "told")
def test_a_state_that_no_model_lists_is_warned_of(name, until, told):
    path = "DBInstances[].DBInstanceStatus" if name.startswith("rds") else None
    told_of = f"the model of {name.partition('.')[2]} lists no states of "
    with pytest.warns(UserWarning, match=told_of) as caught:
        made_waiter(operation(name), until, path)
    [warning] = caught
    assert all(text in str(warning.message) for text in told)
    assert warning.filename == __file__


@tabled("name", "until", "path")
def test_a_state_that_is_known_is_silent(name, until, path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made_waiter(operation(name), until, path)
    assert caught == []


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


@tabled("name", "path", "kind")
def test_shape_of_a_plain_path_is_found(name, path, kind):
    found = shape_at(operation(name), path)
    assert (None if found is None else found.type_name) == kind

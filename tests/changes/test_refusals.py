"""Refused calls: how long a busy resource is called again, and what the errors keep."""

import copy
import pickle

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency

EXISTS = "Table already exists: orders"


def test_failure_under_a_stubber_is_no_late_arrival(ec2, image, running, polled):
    """The answers of botocore's Stubber do not say how often the SDK repeated the request."""
    with Stubber(ec2) as stubber:
        stubber.add_response("run_instances", running)
        stubber.add_response("describe_instances", polled("terminated"))
        given = {"max_wait": 60, "then_wait": "InstanceRunning", **image}
        with pytest.raises(bwp.WaiterFailedError) as caught:
            idempotency.call_once(ec2.run_instances, **given)
    assert type(caught.value) is bwp.WaiterFailedError


def test_error_that_a_test_of_a_caller_makes_claims_nothing():
    error = idempotency.AlreadyExistsError("CreateTable", EXISTS)
    assert (error.maybe_ours, error.made_under_token, error.outcome_unknown) == (False,) * 3
    assert (error.check_operation, error.check_parameters, error.differences) == (None, {}, ())


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_keep_their_facts(dynamodb, answers, error_answer, lost, table, copied):
    answers(dynamodb, lost, error_answer("ResourceInUseException", EXISTS))
    with pytest.raises(idempotency.AlreadyExistsError, match="describe_table") as caught:
        idempotency.call_once(dynamodb.create_table, max_wait=600, allow_repeat=True, **table)
    other = copied(caught.value)
    assert str(other) == str(caught.value)
    for name in ("maybe_ours", "check_operation", "check_parameters", "token", "attempts"):
        assert getattr(other, name) == getattr(caught.value, name)


BUSY = "Stack:arn is in UPDATE_IN_PROGRESS state and can not be updated."
LISTED = "An update is in progress for resource: arn"


@pytest.mark.parametrize(
    ("busy_wait", "name", "code", "message", "is_repeated"),
    [
        (None, "lambda.create_function", "ResourceConflictException", LISTED, True),
        (None, "cloudformation.delete_stack", "ValidationError", BUSY, False),
        (0, "lambda.create_function", "ResourceConflictException", LISTED, False),
        (60, "lambda.create_function", "ResourceConflictException", LISTED, True),
        (60, "cloudformation.delete_stack", "ValidationError", BUSY, True),
        (60, "cloudformation.delete_stack", "ValidationError", "Stack s does not exist", False),
        (0, "route53.create_hosted_zone", "PriorRequestNotComplete", "", False),
    ],
)
def test_busy_wait_decides_what_is_repeated(
    stock_botocore, virtual_time, answers, error_answer, busy_wait, name, code, message, is_repeated
):
    service, _, method = name.partition(".")
    client = boto3.client(service, config=Config(parameter_validation=False))
    made = answers(client, error_answer(code, message), {})
    options = {"max_wait": 600, "allow_repeat": True, "busy_wait": busy_wait}
    try:
        idempotency.call_once(getattr(client, method), **options)
    except idempotency.CallRefusedError:
        assert not is_repeated
    assert len(made.operations) == 1 + is_repeated


def test_a_busy_call_is_refused_after_busy_wait(call_once, ec2, answers, error_answer, image):
    busy = answers(ec2, error_answer("IncorrectState", "i-1 is in progress"))
    with pytest.raises(idempotency.CallRefusedError) as caught:
        call_once(ec2.run_instances, max_wait=600, busy_wait=60, **image)
    assert 60 <= caught.value.elapsed < 120
    assert caught.value.attempts == len(busy.operations)

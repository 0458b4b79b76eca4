"""Refused calls: how long a busy resource is called again, and what the errors keep."""

import copy
import pickle

import pytest
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


def test_a_busy_call_is_refused_after_busy_wait(call_once, ec2, answers, error_answer, image):
    busy = answers(ec2, error_answer("IncorrectState", "i-1 is in progress"))
    with pytest.raises(idempotency.CallRefusedError) as caught:
        call_once(ec2.run_instances, max_wait=600, busy_wait=60, **image)
    assert 60 <= caught.value.elapsed < 120
    assert caught.value.attempts == len(busy.operations)

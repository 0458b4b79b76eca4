"""`begin` of a call that its answer, or its input, shows to be one that no poll can follow."""

import pytest
from test_begin import StaleService, begin

import boto_waiters_plus as bwp

ARN = "arn:aws:states:us-east-1:123456789012:{}:machine:run"
STARTED = {
    "name": "an execution",
    "service": "stepfunctions",
    "method": "start_execution",
    "parameters": {"stateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:machine"},
    "polls": [[0, {"status": "SUCCEEDED"}]],
}


def started(kind):
    return {**STARTED, "answer": {"executionArn": ARN.format(kind), "startDate": 1000}}


def test_an_express_execution_is_not_polled(virtual_time):
    service = StaleService(started("express"), virtual_time)
    with pytest.raises(bwp.WaiterFailedError, match="EXPRESS") as caught:
        begin(service)
    assert caught.value.call.response["executionArn"] == ARN.format("express")
    assert [each.get("executionArn") for each in service.requests] == [None]
    assert service.operations == ["StartExecution"]


def test_a_standard_execution_is(virtual_time):
    operation = begin(StaleService(started("execution"), virtual_time))
    assert operation.result(60).basis == "identity"


def test_the_redrive_of_an_express_execution_is_refused_before_the_call(virtual_time):
    row = {**STARTED, "method": "redrive_execution", "answer": {"redriveDate": 1000}}
    row["parameters"] = {"executionArn": ARN.format("express")}
    service = StaleService(row, virtual_time)
    with pytest.raises(ValueError, match="EXPRESS"):
        begin(service)
    assert service.requests == []

"""The rules of the trait `boto.waiters#screen`."""

import pytest
from case_tables import tabled
from data_rules import check

TRAIT = "boto.waiters#screen"
GOOD = {
    "operation": "ListTransformJobs",
    "parameters": {"SortBy": "CreationTime"},
    "id": "TransformJobName",
    "items": "TransformJobSummaries",
    "ids": ["TransformJobName", "TransformJobArn"],
    "state": "TransformJobStatus",
    "path": "TransformJobStatus",
    "token": {"input": "NextToken", "output": "NextToken"},
    "page": {"member": "MaxResults", "size": 100},
    "filter": {"member": "StatusEquals", "values": ["InProgress"]},
}
BATCH = {
    "operation": "BatchGetQueryExecution",
    "id": "QueryExecutionId",
    "items": "QueryExecutions",
    "ids": ["QueryExecutionId"],
    "state": "Status.State",
    "path": "QueryExecution.Status.State",
    "batch": {"member": "QueryExecutionIds", "size": 50},
}
DERIVED = {"from": "executionArn", "pattern": "(arn:.*):execution:(.*):.*", "to": "\\1:\\2"}
SCOPED = {
    "operation": "ListExecutions",
    "scope": {"stateMachineArn": DERIVED},
    "id": "executionArn",
    "items": "executions",
    "ids": ["executionArn"],
    "state": "status",
    "path": "status",
    "token": {"input": "nextToken", "output": "nextToken"},
}
OPERATIONS = {
    "sagemaker#DescribeTransformJob": GOOD,
    "athena#GetQueryExecution": BATCH,
    "sfn#DescribeExecution": SCOPED,
}


def events_of(trait, operation="sagemaker#DescribeTransformJob"):
    shapes = {f"com.amazonaws.{operation}": {"type": "apply", "traits": {TRAIT: trait}}}
    return check({"smithy": "2.0", "shapes": shapes})


def found(trait, operation="sagemaker#DescribeTransformJob"):
    return [(event.severity.value, event.id) for event in events_of(trait, operation)]


@pytest.mark.parametrize(("operation", "trait"), OPERATIONS.items())
def test_good_trait_has_no_event(operation, trait):
    assert found(trait, operation) == []


@tabled("trait")
def test_malformed_trait_is_an_error(trait):
    assert found(trait) == [("ERROR", "Screen.Form")]


@tabled("change", "rule", "severity")
def test_what_the_service_lacks_is_reported(change, rule, severity):
    trait = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    assert found(trait) == [(severity, f"Screen.{rule}")]


def test_sibling_that_changes_something_is_an_error():
    trait = {**GOOD, "operation": "CreateTransformJob"}
    assert ("ERROR", "Screen.Operation") in found(trait)


def test_batch_that_the_sibling_does_not_take_is_an_error():
    trait = {**BATCH, "batch": {"member": "Ids", "size": 50}}
    assert found(trait, "athena#GetQueryExecution") == [("ERROR", "Screen.Request")]
    trait = {**BATCH, "batch": {"member": "QueryExecutionIds", "size": 51}}
    assert found(trait, "athena#GetQueryExecution") == [("WARNING", "Screen.Size")]


def test_scope_that_the_sibling_needs_is_an_error_if_missing():
    trait = {
        **GOOD,
        "operation": "ListSteps",
        "id": "StepId",
        "items": "Steps",
        "ids": ["Id"],
        "state": "Status.State",
        "path": "Step.Status.State",
        "token": {"input": "Marker", "output": "Marker"},
        "parameters": {},
    }
    del trait["page"], trait["filter"]
    assert found(trait, "emr#DescribeStep") == [("ERROR", "Screen.Request")]
    assert found({**trait, "scope": {"ClusterId": "ClusterId"}}, "emr#DescribeStep") == []


def test_trait_is_only_allowed_on_operations():
    shapes = {"smithy.example#Thing": {"type": "string", "traits": {TRAIT: GOOD}}}
    events = check({"smithy": "2.0", "shapes": shapes})
    assert [event.id for event in events] == ["Screen.Target"]


def test_messages_name_the_sibling_and_the_member():
    (event,) = events_of({**GOOD, "state": "Status"})
    assert event.message == (
        "Trait `boto.waiters#screen`: the items of `TransformJobSummaries` have no string `Status`"
    )

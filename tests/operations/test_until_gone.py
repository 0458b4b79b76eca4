"""`until_state="gone"`: what says that a resource does not exist any more."""

import functools
import json

import boto3
import pytest
from case_tables import CASES
from hooks.test_until_state import WAYS

import boto_waiters_plus as bwp

GONE = json.loads((CASES / "gone.json").read_text("utf-8"))
ROWS = json.loads((CASES / "until-gone.json").read_text("utf-8"))["rows"]
VPC = {"VpcId": "vpc-1", "State": "available"}


@pytest.fixture(params=WAYS)
def until_gone(request, virtual_time):
    """`until_gone(client, operation, **parameters)`: the outcome, in each way to wait."""
    return functools.partial(request.param, until_state="gone", max_wait=600)


@pytest.fixture
def client(answered, error_answer):
    """`client(service, *answers)`: one that gives these answers; a list is an error."""

    def make(service, *replies):
        return answered(
            service, *[error(*each) if isinstance(each, list) else each for each in replies]
        )

    def error(code, message, status=400, query_code=None):
        details = {"QueryErrorCode": query_code} if query_code else {}
        return error_answer(code, message, status, **details)

    return make


@pytest.mark.models
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['read']}, {row.get('name', '')}")
def test_until_gone_ends_as_services_tell(until_gone, client, row):
    service, operation = row["read"].split()
    made = client(service, *row["replies"])
    if "error" in row:
        kind = getattr(bwp, row["error"], ValueError)
        with pytest.raises(kind, match=row.get("says")):
            until_gone(made, operation, **row["parameters"])
        calls = {bwp.WaiterFailedError: [1], ValueError: [0]}.get(kind, range(2, 1000))
        assert len(made.answers.operations) in calls
    else:
        outcome = until_gone(made, operation, **row["parameters"])
        assert outcome.attempts == len(made.answers.operations) == len(row["replies"])
        is_error = isinstance(row["replies"][-1], list)
        assert type(outcome) is (bwp.ExceptionOutcome if is_error else bwp.ResponseOutcome)
        assert outcome.waiter.endswith("UntilGone")


def test_gone_is_one_of_several_states(until_gone, client):
    options = {"until_state": ["gone", "ACTIVE"], "TableName": "table"}
    for reply in ({"Table": {"TableStatus": "ACTIVE"}}, ["ResourceNotFoundException", ""]):
        made = client("dynamodb", {"Table": {"TableStatus": "CREATING"}}, reply)
        assert until_gone(made, "describe_table", **options).attempts == 2


def test_the_end_comes_before_what_may_appear(client, virtual_time):
    made = client("dynamodb", ["ResourceNotFoundException", ""])
    options = {"until_state": "gone", "max_wait": 60, "missing_ok_for": 30}
    assert bwp.wait_until(made, "DescribeTable", TableName="table", **options).attempts == 1


def test_waits_until_gone_share_calls(client, virtual_time):
    made = client("ec2", {"Vpcs": [VPC]}, {"Vpcs": []})
    waits = [
        bwp.Wait(made, "DescribeVpcs", {"VpcIds": [each]}, until_state="gone")
        for each in ("vpc-1", "vpc-2")
    ]
    assert [each.attempts for each in bwp.wait_all(waits, max_wait=600)] == [2, 1]


@pytest.mark.models
@pytest.mark.parametrize("name", GONE["reads"])
def test_errors_of_reads_tell_the_end(name):
    service, operation = name.split()
    parameters = GONE["named"].get(name, {})
    wait = bwp.Wait(boto3.client(service), operation, parameters, until_state="gone")
    matchers = [each.to_json()["matcher"] for each in wait.definition.acceptors]
    errors = {each["errorType"] for each in matchers if "errorType" in each}
    assert errors >= {*GONE["reads"][name]}
    assert bool(errors) == bool(GONE["reads"][name])

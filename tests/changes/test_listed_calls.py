"""Which errors are repeated, and whose a resource is that exists: `cases/call-once.json`."""

import json
from operator import attrgetter
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency

CASES = json.loads((Path(__file__).parents[1] / "cases/call-once.json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("stock_botocore", "virtual_time")


@pytest.mark.parametrize("row", CASES["first errors"], ids=lambda row: " ".join(row[:2]))
def test_first_error_is_repeated_or_ends_the_call(answers, error_answer, row):
    name, code, message, status, end = row
    service, _, method = name.partition(".")
    client = boto3.client(service, config=Config(parameter_validation=False))
    made = answers(client, error_answer(code, message, status), {})
    call = getattr(client, method)
    if end == "repeated":
        assert idempotency.call_once(call, max_wait=60, allow_repeat=True).attempts == 2
        return
    with pytest.raises(idempotency.CallRefusedError) as caught:
        idempotency.call_once(call, max_wait=60, allow_repeat=True)
    error = caught.value
    assert type(error) is getattr(idempotency, end)
    assert len(made.requests) == error.attempts == 1
    assert not error.outcome_unknown
    assert error.last_response["Error"]["Code"] == code == error.__cause__.response["Error"]["Code"]


@pytest.mark.parametrize("row", CASES["calls"], ids=lambda row: row["name"])
def test_call_ends_as_listed(call_once, answers, lost, row):
    service, _, method = row["call"].partition(".")
    client = boto3.client(service)
    made = answers(client, *[lost if each == "lost" else each for each in row["answers"]])
    options = {"max_wait": 60, **row.get("options", {}), **row.get("parameters", {})}
    try:
        end = call_once(getattr(client, method), **options)
    except bwp.WaiterError as error:
        end = error
    assert type(end).__name__ == row["ends"]
    assert made.operations == row.get("operations", made.operations)
    for name, expected in row.get("facts", {}).items():
        found = attrgetter(name)(end)
        if name.endswith("response"):
            found = {member: found[member] for member in expected}
        assert (list(found) if isinstance(found, tuple) else found) == expected

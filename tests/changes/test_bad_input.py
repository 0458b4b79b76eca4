"""Bad input is refused before the first request, and the argument named."""

import builtins
import io
import json
from pathlib import Path

import boto3
import pytest

CASES = json.loads((Path(__file__).parents[1] / "cases/call-once.json").read_text("utf-8"))


@pytest.mark.parametrize(("name", "parameters", "options", "error", "match"), [
    *CASES["refused arguments"],
    ("ec2.run_instances", {}, {"then_wait": ("X", 7)}, "TypeError", "function"),
    ("ec2.run_instances", {"UserData": io.BytesIO()}, {}, "TypeError", "UserData"),
])  # fmt: skip
def test_arguments_are_refused(
    call_once, stock_botocore, answers, name, parameters, options, error, match
):
    service, _, method = name.partition(".")
    client = boto3.client(service)
    made = answers(client, AssertionError("a request was made"))
    with pytest.raises(getattr(builtins, error), match=match):
        call_once(getattr(client, method), **{"max_wait": 60, **options}, **parameters)
    assert made.requests == []


def test_a_parameter_may_have_the_name_of_an_option(call_once, answers):
    client = boto3.client("batch")
    made = answers(client, {})
    job = {"jobName": "j", "jobQueue": "q", "jobDefinition": "d"}
    timeout = {"attemptDurationSeconds": 60}
    call_once(client.submit_job, max_wait=9, allow_repeat=True, timeout=timeout, **job)
    assert len(made.requests) == 1

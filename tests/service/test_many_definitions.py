"""Three thousand definitions take ten times as long as three hundred."""

import time
from statistics import median

import boto3
import pytest

import boto_waiters_plus as bwp

pytestmark = pytest.mark.nightly(subject="catalog")

MOST = 50
"""Quadratic time would be a ratio of 100."""

OPERATIONS = ("DescribeStream", "DescribeStreamSummary", "ListShards", "ListStreams")


def document(count):
    """Return a document of a quarter of the waiters for each of the operations."""
    any_response = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
    names = [f"Thing{number}Ready" for number in range(count)]
    traits = [
        {"smithy.waiters#waitable": dict.fromkeys(names[first::4], any_response)}
        for first in range(4)
    ]
    ids = [f"com.amazonaws.kinesis#{operation}" for operation in OPERATIONS]
    shapes = {i: {"type": "apply", "traits": trait} for i, trait in zip(ids, traits, strict=True)}
    return {"smithy": "2.0", "shapes": shapes}


@pytest.mark.parametrize("use", ["wait", "list"])
def test_the_first_use_takes_linear_time(answers, use):
    def seconds(count):
        definitions, client = document(count), boto3.client("kinesis")
        answers(client, {})
        began = time.process_time()
        bwp.enable(client, definitions=definitions)
        if use == "list":
            dir(client)
        else:
            bwp.wait_until(client, f"Thing{count - 4}Ready", max_wait=9)
        return time.process_time() - began

    few, many = (median(seconds(count) for _ in range(5)) for count in (300, 3_000))
    assert many < MOST * few

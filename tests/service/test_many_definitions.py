"""Three thousand definitions take ten times as long as three hundred."""

import gc
import time

import boto3
import pytest

import boto_waiters_plus as bwp

MOST = 30
"""Quadratic time would be a ratio of 100; other tests on the machine make 10 a 16."""

OPERATIONS = ("DescribeStream", "DescribeStreamSummary", "ListShards", "ListStreams")


def document(count):
    shapes = {}
    for number in range(count):
        operation = OPERATIONS[number % len(OPERATIONS)]
        shape_id = f"com.amazonaws.kinesis#{operation}"
        shape = shapes.setdefault(
            shape_id, {"type": "apply", "traits": {"smithy.waiters#waitable": {}}}
        )
        shape["traits"]["smithy.waiters#waitable"][f"Thing{number}Ready"] = {
            "acceptors": [{"state": "success", "matcher": {"success": True}}]
        }
    return {"smithy": "2.0", "shapes": shapes}


def seconds(action):
    gc.disable()
    began = time.process_time()
    action()
    took = time.process_time() - began
    gc.enable()
    return took


def ratio(make):
    """The time of three thousand over that of three hundred; the best of three of each."""
    few, many = (min(seconds(make(count)) for _ in range(3)) for count in (300, 3_000))
    return many / few


def test_loading_takes_linear_time():
    assert ratio(lambda count: lambda: bwp.load_definitions(document(count))) < MOST


@pytest.mark.parametrize("place", ["client", "session", "install"])
def test_the_first_wait_takes_linear_time(answers, place):
    def make(count):
        bwp.uninstall()
        session = boto3.Session(region_name="us-east-1")
        definitions = document(count)

        def wait():
            if place == "install":
                bwp.install(definitions=definitions)
            if place == "session":
                bwp.enable(session, definitions=definitions)
            client = session.client("kinesis")
            if place == "client":
                bwp.enable(client, definitions=definitions)
            answers(client, {})
            bwp.wait_until(client, f"Thing{count - 3}Ready", max_wait=1)

        return wait

    assert ratio(make) < MOST


def test_listing_takes_linear_time():
    def make(count):
        client = bwp.enable(boto3.client("kinesis"), definitions=document(count))
        return lambda: dir(client)

    assert ratio(make) < MOST

"""Waiters whose own polled operation has a token."""

import pytest
from botocore.waiter import WaiterModel, create_waiter_with_client

import boto_waiters_plus as bwp

READY = {"state": "success", "matcher": "path", "argument": "Ready", "expected": True}
STARTED = {"operation": "RunInstances", "delay": 1, "maxAttempts": 5, "acceptors": [READY]}


@pytest.mark.parametrize(("hooked", "number"), [(True, 1), (False, 3)])
def test_polled_operation_with_a_token_has_one_for_all_polls(ec2, answers, image, hooked, number):
    if hooked:
        bwp.install()
    service = answers(ec2, {"Ready": False}, {"Ready": False}, {"Ready": True})
    model = WaiterModel({"version": 2, "waiters": {"Started": STARTED}})
    create_waiter_with_client("Started", model, ec2).wait(**image)
    tokens = [request["body"]["ClientToken"] for request in service.requests]
    assert (len(tokens), len({*tokens})) == (3, number)

"""Waiters whose own polled operation has a token."""

import pytest
from botocore.waiter import WaiterModel, create_waiter_with_client

import boto_waiters_plus as bwp


@pytest.mark.parametrize("hooked", [True, False])
def test_polled_operation_with_a_token_has_one_for_all_polls(ec2, answers, hooked):
    model = WaiterModel(
        {
            "version": 2,
            "waiters": {
                "Started": {
                    "operation": "RunInstances",
                    "delay": 1,
                    "maxAttempts": 5,
                    "acceptors": [
                        {
                            "state": "success",
                            "matcher": "path",
                            "argument": "Ready",
                            "expected": True,
                        }
                    ],
                }
            },
        }
    )
    if hooked:
        bwp.install()
    service = answers(ec2, {"Ready": False}, {"Ready": False}, {"Ready": True})
    waiter = create_waiter_with_client("Started", model, ec2)
    waiter.wait(ImageId="ami-1", MinCount=1, MaxCount=1)
    tokens = {request["body"]["ClientToken"] for request in service.requests}
    assert len(service.requests) == 3
    assert len(tokens) == (1 if hooked else 3)

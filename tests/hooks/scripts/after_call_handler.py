"""A waiter that an event handler starts, inside another call of the same client."""

import boto3
from botocore.waiter import WaiterModel, create_waiter_with_client

MODEL = WaiterModel(
    {
        "version": 2,
        "waiters": {
            "StreamActive": {
                "operation": "DescribeStream",
                "delay": 3,
                "maxAttempts": 4,
                "acceptors": [
                    {
                        "state": "success",
                        "matcher": "path",
                        "argument": "StreamDescription.StreamStatus",
                        "expected": "ACTIVE",
                    }
                ],
            }
        },
    }
)

kinesis = boto3.client("kinesis")
waiter = create_waiter_with_client("StreamActive", MODEL, kinesis)


def wait_for_it(parsed, **_):
    if parsed["ResponseMetadata"]["HTTPStatusCode"] == 200:
        waiter.wait(StreamName="clicks")
        print("active before the call returns")


kinesis.meta.events.register("after-call.kinesis.CreateStream", wait_for_it)
kinesis.create_stream(StreamName="clicks", ShardCount=1)
print("created")

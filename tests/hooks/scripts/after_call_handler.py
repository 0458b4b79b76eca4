"""A waiter that an event handler starts, inside another call of the same client."""

import boto3

kinesis = boto3.client("kinesis")
waiter = kinesis.get_waiter("stream_exists")


def wait_for_it(parsed, **_):
    if parsed["ResponseMetadata"]["HTTPStatusCode"] == 200:
        waiter.wait(StreamName="clicks", WaiterConfig={"Delay": 3, "MaxAttempts": 4})
        print("active before the call returns")


kinesis.meta.events.register("after-call.kinesis.CreateStream", wait_for_it)
kinesis.create_stream(StreamName="clicks", ShardCount=1)
print("created")

"""Subclasses of botocore's Waiter."""

import boto3
from botocore.exceptions import WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter


class Verbose(Waiter):
    """Says what it does."""

    def wait(self, **keywords):
        print("waiting for", keywords["Bucket"])
        try:
            return super().wait(**keywords) is None or "something"
        finally:
            print("waited")


config = SingleWaiterConfig(
    {
        "operation": "HeadBucket",
        "delay": 2,
        "maxAttempts": 10,
        "acceptors": [
            {"state": "success", "matcher": "status", "expected": 200},
            {"state": "retry", "matcher": "error", "expected": "404"},
        ],
    }
)
s3 = boto3.client("s3")
waiter = Verbose("BucketThere", config, NormalizedOperationMethod(s3.head_bucket))
waiter.wait(Bucket="photos", WaiterConfig={"Delay": 2})
try:
    waiter.wait(Bucket="never", WaiterConfig={"Delay": 2, "MaxAttempts": 2})
except WaiterError as error:
    print(error)

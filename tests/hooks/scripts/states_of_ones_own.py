"""A state that is neither success nor failure is a retry, whatever it is called."""

import boto3
from botocore.exceptions import WaiterError
from botocore.waiter import WaiterModel, create_waiter_with_client

MODEL = WaiterModel(
    {
        "version": 2,
        "waiters": {
            "BucketThere": {
                "operation": "HeadBucket",
                "delay": 1,
                "maxAttempts": 5,
                "acceptors": [
                    {"state": "success", "matcher": "status", "expected": 200},
                    {"state": "pending", "matcher": "status", "expected": 404},
                ],
            }
        },
    }
)

waiter = create_waiter_with_client("BucketThere", MODEL, boto3.client("s3"))
waiter.wait(Bucket="photos", WaiterConfig={"Delay": 4})
print("there")
try:
    waiter.wait(Bucket="never", WaiterConfig={"Delay": 4})
except WaiterError as error:
    print(error)

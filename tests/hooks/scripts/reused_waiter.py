"""One waiter object for many waits, in a row and after a failure."""

import boto3
from botocore.exceptions import WaiterError

s3 = boto3.client("s3")
waiter = s3.get_waiter("object_exists")
for key in ("a", "b", "c"):
    waiter.wait(Bucket="photos", Key=key, WaiterConfig={"Delay": 2, "MaxAttempts": 10})
    print(key, "is there")
try:
    waiter.wait(Bucket="photos", Key="never", WaiterConfig={"Delay": 2, "MaxAttempts": 3})
except WaiterError as error:
    print(error)
print(waiter.config.delay, waiter.config.max_attempts)
waiter.wait(Bucket="photos", Key="a")
print("a again")

"""The except clauses people write around waiters."""

import boto3
import botocore
import botocore.exceptions
import botocore.waiter
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

s3 = boto3.client("s3")
SHORT = {"Delay": 1, "MaxAttempts": 2}


def fail():
    s3.get_waiter("bucket_exists").wait(Bucket="never", WaiterConfig=SHORT)


try:
    fail()
except (ClientError, WaiterError) as error:
    print("pair", error)

for kind in (botocore.waiter.WaiterError, botocore.exceptions.WaiterError, Exception):
    try:
        fail()
    except kind as error:
        print(error, error.last_response["Error"]["Code"])

try:
    fail()
except ClientError:
    print("wrong clause")
except BotoCoreError as error:
    print("root of botocore", error.fmt, error.kwargs, isinstance(error, WaiterError))

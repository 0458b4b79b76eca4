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

try:
    fail()
except botocore.waiter.WaiterError as error:
    print("through the module", error)

try:
    fail()
except ClientError:
    print("wrong clause")
except BotoCoreError as error:
    print("root of botocore", error.fmt)

try:
    fail()
except botocore.exceptions.WaiterError as error:
    print(error.kwargs)

try:
    fail()
except Exception as error:
    print(isinstance(error, WaiterError), error.last_response["Error"]["Code"])

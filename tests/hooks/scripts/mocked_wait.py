"""The tests of a program that mock what waits."""

from unittest import mock

import boto3
import botocore.waiter
from botocore.exceptions import WaiterError

s3 = boto3.client("s3")

with mock.patch("botocore.waiter.Waiter.wait") as wait:
    s3.get_waiter("bucket_exists").wait(Bucket="never")
    boto3.resource("s3").Bucket("never").wait_until_exists()
    print(wait.call_count, "calls")

with mock.patch.object(botocore.waiter.Waiter, "wait", autospec=True) as wait:
    s3.get_waiter("bucket_exists").wait(Bucket="never", WaiterConfig={"Delay": 1})
    print(wait.call_args.kwargs, wait.call_args.args[0].name)

failure = WaiterError(name="BucketExists", reason="Max attempts exceeded", last_response={})
with mock.patch("botocore.waiter.Waiter.wait", side_effect=failure):
    try:
        s3.get_waiter("bucket_exists").wait(Bucket="never")
    except WaiterError as error:
        print(error, error is failure)

with mock.patch.object(s3, "get_waiter") as get_waiter:
    s3.get_waiter("bucket_exists").wait(Bucket="never")
    print(get_waiter.mock_calls)

waiter = s3.get_waiter("bucket_exists")
with mock.patch.object(waiter, "wait", return_value="mine"):
    print(waiter.wait(Bucket="never"))

with mock.patch.object(s3, "head_bucket") as head_bucket:
    head_bucket.return_value = {"ResponseMetadata": {"HTTPStatusCode": 200}}
    s3.get_waiter("bucket_exists").wait(Bucket="never")
    print(head_bucket.mock_calls)

waiter = s3.get_waiter("bucket_exists")
answers = [{"ResponseMetadata": {"HTTPStatusCode": status}} for status in (404, 404, 200)]
waiter._operation_method = mock.Mock(side_effect=answers)
waiter.wait(Bucket="never", WaiterConfig={"Delay": 1})
print(waiter._operation_method.call_count)

with mock.patch("time.sleep") as sleep:
    try:
        s3.get_waiter("bucket_exists").wait(
            Bucket="never", WaiterConfig={"Delay": 11, "MaxAttempts": 3}
        )
    except WaiterError as error:
        print(error, sleep.mock_calls)

with mock.patch("botocore.waiter.time.sleep", side_effect=KeyboardInterrupt):
    try:
        s3.get_waiter("bucket_exists").wait(Bucket="never")
    except KeyboardInterrupt:
        print("interrupted")

with mock.patch("botocore.waiter.time") as whole:
    try:
        s3.get_waiter("bucket_exists").wait(
            Bucket="never", WaiterConfig={"Delay": 11, "MaxAttempts": 3}
        )
    except WaiterError as error:
        print(error, whole.mock_calls)

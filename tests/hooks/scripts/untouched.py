"""The plainest use: no settings at all, and the program only goes on."""

import boto3
from botocore.exceptions import WaiterError

s3 = boto3.client("s3")
for bucket in ("photos", "late"):
    s3.get_waiter("bucket_exists").wait(Bucket=bucket)
    print(bucket, "exists")
s3.get_waiter("bucket_not_exists").wait(Bucket="archive")
print("archive is gone")
boto3.client("iam").get_waiter("role_exists").wait(RoleName="worker")
print("worker exists")
try:
    s3.get_waiter("bucket_exists").wait(Bucket="never")
except WaiterError as error:
    print(error, error.last_response["Error"]["Code"])
boto3.client("dynamodb").get_waiter("table_exists").wait(TableName="orders")
print("orders exists")

"""Schedules set on `waiter.config` before the wait."""

import sys

import boto3
from botocore.exceptions import WaiterError

s3 = boto3.client("s3")


def wait(bucket, **settings):
    waiter = s3.get_waiter("bucket_exists")
    for name, value in settings.items():
        setattr(waiter.config, name, value)
    try:
        waiter.wait(Bucket=bucket)
        print(bucket, "exists")
    except WaiterError as error:
        print(error)


wait("never", delay=2, max_attempts=4)
wait("never", delay=5, max_attempts=20)  # the values that it has
wait("never", delay=1)
wait("never", max_attempts=2)
wait("never", max_attempts=2.5)
wait("photos", max_attempts=sys.maxsize)
wait("never", max_attempts=2, timeout=30, comment="unknown to botocore")

waiter = s3.get_waiter("bucket_exists")
waiter.config.delay /= 10
waiter.config.max_attempts *= 2
print(waiter.config.delay, waiter.config.max_attempts)
try:
    waiter.wait(Bucket="never", WaiterConfig={"MaxAttempts": 3})
except WaiterError as error:
    print(error)
waiter.config.delay = 4
waiter.wait(Bucket="late")
print("late exists")

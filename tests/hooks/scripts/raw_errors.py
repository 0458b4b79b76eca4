"""Errors that come out of a wait as the call raised them."""

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    EndpointConnectionError,
    ParamValidationError,
    WaiterError,
)

s3 = boto3.client("s3")
waiter = s3.get_waiter("bucket_exists")
for parameters in ({}, {"Buckt": "photos"}, {"Bucket": "photos", "timeout": 3}):
    try:
        waiter.wait(**parameters)
    except ParamValidationError as error:
        print(type(error).__name__, error)

try:
    waiter.wait("photos")
except TypeError as error:
    print(type(error).__name__)

broken = boto3.client(
    "s3", endpoint_url="http://127.0.0.1:1", config=Config(retries={"max_attempts": 0})
)
try:
    broken.get_waiter("bucket_exists").wait(Bucket="photos")
except WaiterError:
    print("wrong clause")
except EndpointConnectionError as error:
    print(type(error).__name__, error, isinstance(error, BotoCoreError))


class Veto(Exception):  # noqa: N818 - its author's choice
    """Of a handler."""


def forbid(**_):
    raise Veto("not today")


s3.meta.events.register("before-call.s3.HeadBucket", forbid)
try:
    waiter.wait(Bucket="photos")
except Veto as error:
    print(type(error).__name__, error, error.__cause__)

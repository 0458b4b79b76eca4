"""Every way to write a WaiterConfig."""

import boto3
from botocore.exceptions import WaiterError

DELAY = 15
TIMEOUT = 100

s3 = boto3.client("s3")
waiter = s3.get_waiter("bucket_exists")
for config in (
    {"Delay": 5, "MaxAttempts": 4},
    dict(Delay=7, MaxAttempts=2),  # noqa: C408 - many write it so
    {"Delay": 3},
    {"MaxAttempts": 6},
    {"Delay": DELAY, "MaxAttempts": TIMEOUT // DELAY},
    {"Delay": DELAY, "MaxAttempts": TIMEOUT / DELAY},
    {"Delay": 0.25, "MaxAttempts": 3},
    {"Delay": 0, "MaxAttempts": 5},
    {"Delay": 5, "MaxAttempts": 1},
    {"Delay": 5, "MaxAttempts": 0},
    {"Delay": 5, "MaxAttempts": -1},
    {"Delay": 7200, "MaxAttempts": 2},
):
    before = dict(config)
    try:
        waiter.wait(Bucket="never", WaiterConfig=config)
    except WaiterError as error:
        print(config, error)
    assert config == before

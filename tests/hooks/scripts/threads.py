"""Waits in a pool of threads that share one client."""

from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.exceptions import WaiterError

s3 = boto3.client("s3")


def wait(bucket):
    try:
        s3.get_waiter("bucket_exists").wait(
            Bucket=bucket, WaiterConfig={"Delay": 1, "MaxAttempts": 2}
        )
    except WaiterError as error:
        return f"{bucket}: {error}"
    return f"{bucket}: there"


with ThreadPoolExecutor(8) as pool:
    for line in pool.map(wait, ["stable", "never"] * 8):
        print(line)

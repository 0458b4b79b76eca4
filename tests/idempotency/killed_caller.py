"""A process that makes a stored call, and kills itself at a point of it.

Arguments: the URL of the service, the file of the store, the point (`none`: nowhere).
"""

import os
import signal
import sys

import boto3
from botocore.config import Config

from boto_waiters_plus.idempotency import call_once, resume_call
from boto_waiters_plus.operations import Store

url, path, point = sys.argv[1:]


def dies(here):
    if here == point:
        os.kill(os.getpid(), signal.SIGKILL)


class DyingStore(Store):
    def save_call(self, record):
        dies("before save")
        return super().save_call(record)

    def finish_call(self, path, result):
        dies("before finish")
        super().finish_call(path, result)
        dies("after finish")


retries = {"total_max_attempts": 1}
client = boto3.client("ec2", endpoint_url=url, config=Config(retries=retries))
client.meta.events.register("before-send.ec2", lambda **_: dies("before request"))
store = DyingStore(path)
kept = store.open_calls()
if not kept:
    call = call_once(
        client.run_instances, max_wait=30, in_store=store, ImageId="ami-1", MinCount=1, MaxCount=1
    )
for each in kept:
    call = resume_call(client, each["record"], in_store=store, path=each["path"])
sys.stdout.write(call.response["Instances"][0]["InstanceId"] + "\n")

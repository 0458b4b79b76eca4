"""A process that makes a stored call and waits, and kills itself at a point of it.

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

    def note_call(self, path, phase, answer):
        dies(f"before {phase}")
        super().note_call(path, phase, answer)
        dies(f"after {phase}")

    def finish_call(self, path, result):
        dies("before finish")
        super().finish_call(path, result)
        dies("after finish")


def before_send(request, **_):
    dies("in the wait" if "DescribeInstances" in str(request.body) else "before request")


retries = {"total_max_attempts": 1}
client = boto3.client("ec2", endpoint_url=url, config=Config(retries=retries))
client.meta.events.register("before-send.ec2", before_send)
store = DyingStore(path)
kept = store.open_calls()
if not kept:
    call = call_once(
        client.run_instances,
        max_wait=30,
        then_wait="InstanceExists",
        in_store=store,
        ImageId="ami-1",
        MinCount=1,
        MaxCount=1,
    )
for each in kept:
    call = resume_call(client, each["record"], in_store=store, path=each["path"])
name = call.response["Instances"][0]["InstanceId"]
sys.stdout.write(f"{name} {call.outcome.waiter}\n")

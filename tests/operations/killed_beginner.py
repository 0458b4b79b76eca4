"""A process that begins a change in a store, drives its wait, and kills itself at a point of it.

Arguments: the URL of the service, the file of the store, the method, the point (`none`: nowhere).
"""

import os
import signal
import sys

import boto3
from botocore.config import Config

import boto_waiters_plus as bwp
from boto_waiters_plus.operations import Store, begun

url, path, method, point = sys.argv[1:]
begun.CALLER_LEASE = 1.0


def dies(here):
    if here == point:
        os.kill(os.getpid(), signal.SIGKILL)


def before_send(request, **_):
    dies("in the wait" if "DescribeInstances" in str(request.body) else "before the request")


def after_call(model, **_):
    if not model.name.startswith("Describe"):
        dies("before the answer is kept")


client = boto3.client("ec2", endpoint_url=url, config=Config(retries={"total_max_attempts": 1}))
client.meta.events.register("before-send.ec2", before_send)
client.meta.events.register("after-call.ec2", after_call)
store = Store(path)
parameters = {"InstanceIds": ["i-1"]}
options = {"max_wait": 60, "min_delay": 0.05, "max_delay": 0.1, "settle_for": 0.2}
if method == "run_instances":
    parameters = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}
    options["then_wait"] = "InstanceExists"
dies("before the row")
if point != "none":
    bwp.begin(getattr(client, method), in_store=store, **options, **parameters)
    dies("after the answer is kept")
store.work(until_idle=True, lease=1, make_client=lambda _: client)
for body in store.list().operations:
    end = body.get("error", body.get("response", {}))
    sys.stdout.write(f"{end.get('code', end.get('basis'))}\n")

"""Waiter objects around calls that are no client's: functions, methods, retrying wrappers."""

import functools

import boto3
from botocore.exceptions import WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter

CONFIG = SingleWaiterConfig(
    {
        "operation": "Look",
        "delay": 2,
        "maxAttempts": 5,
        "acceptors": [
            {"state": "success", "matcher": "path", "argument": "state", "expected": "up"},
            {"state": "failure", "matcher": "path", "argument": "state", "expected": "dead"},
        ],
    }
)


class Server:
    """Anything with a method that returns a dict."""

    def __init__(self, *states):
        self.states = list(states)

    def look(self, **_):
        return {"state": self.states.pop(0)}


class Retrying:
    """A client in a wrapper that passes its methods on."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        method = getattr(self.client, name)

        @functools.wraps(method)
        def call(*args, **keywords):
            return method(*args, **keywords)

        return call


server = Server("down", "down", "up")
Waiter("plain", CONFIG, server.look).wait(WaiterConfig={"Delay": 3})
print("plain method is up")

server = Server("down", "up")
Waiter("wrapped", CONFIG, NormalizedOperationMethod(server.look)).wait(WaiterConfig={"Delay": 3})
print("normalized method is up")

states = [{"state": "up"}, {"state": "down"}]
Waiter("builtin", CONFIG, NormalizedOperationMethod(lambda **_: states.pop())).wait(
    WaiterConfig={"Delay": 1}
)
print("function is up")

try:
    Waiter("dead", CONFIG, NormalizedOperationMethod(Server("down", "dead").look)).wait(
        WaiterConfig={"Delay": 3}
    )
except WaiterError as error:
    print(error, error.last_response)

BUCKET = SingleWaiterConfig(
    {
        "operation": "HeadBucket",
        "delay": 2,
        "maxAttempts": 30,
        "acceptors": [
            {"state": "success", "matcher": "status", "expected": 200},
            {"state": "retry", "matcher": "error", "expected": "404"},
        ],
    }
)
s3 = Retrying(boto3.client("s3"))
Waiter("retrying", BUCKET, NormalizedOperationMethod(s3.head_bucket)).wait(
    Bucket="photos", WaiterConfig={"Delay": 2}
)
print("photos exists")

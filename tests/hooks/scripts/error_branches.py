"""Branching on what a WaiterError says and carries."""

import boto3
from botocore.exceptions import WaiterError

ec2 = boto3.client("ec2")
s3 = boto3.client("s3")
kinesis = boto3.client("kinesis")
SHORT = {"Delay": 1, "MaxAttempts": 3}


def report(what, call, **parameters):
    try:
        call(**parameters)
    except WaiterError as error:
        text = str(error)
        for words in (
            "Max attempts exceeded",
            "Waiter BucketExists failed: Max attempts exceeded",
            "Previously accepted state",
            "terminal failure",
            "An error occurred",
            "does not exist",
            "code: 404",  # a request id may have 404 in it
        ):
            if words in text:
                print(what, "says", words)
        print(what, sorted(error.kwargs), error.kwargs["name"], isinstance(error, Exception))
        if error.last_response:
            metadata = error.last_response["ResponseMetadata"]
            print(what, metadata["HTTPStatusCode"], error.last_response.get("Error", {}))
            for reservation in error.last_response.get("Reservations", []):
                print(what, reservation["Instances"][0]["State"]["Name"])
    else:
        print(what, "done")


[instance] = ec2.describe_instances()["Reservations"][0]["Instances"]
ids = [instance["InstanceId"]]
running = ec2.get_waiter("instance_running")
stopped = ec2.get_waiter("instance_stopped")
report("stopped", stopped.wait, InstanceIds=ids, WaiterConfig=SHORT)
report("dry run", running.wait, InstanceIds=ids, DryRun=True, WaiterConfig=SHORT)
ec2.terminate_instances(InstanceIds=ids)
report("running", running.wait, InstanceIds=ids, WaiterConfig=SHORT)
report("bucket", s3.get_waiter("bucket_exists").wait, Bucket="never", WaiterConfig=SHORT)
report("stream", kinesis.get_waiter("stream_exists").wait, StreamName="never")
report("gone", kinesis.get_waiter("stream_not_exists").wait, StreamName="never")

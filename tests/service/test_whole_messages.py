"""Five whole messages, because they are the product; other tests match classes and names."""

import boto3
import pytest

import boto_waiters_plus as bwp

CONTAINER = {"name": "web", "reason": "OutOfMemoryError", "exitCode": 137}
TASK = {"lastStatus": "STOPPED", "stoppedReason": "Essential container in task exited"}
INSTANCE = {"InstanceId": "i-0b2", "State": {"Name": "terminated"}}
NOT_FOUND = {"Error": {"Code": "404", "Message": "Not Found"}}
DENIED = {"Error": {"Code": "AccessDenied", "Message": "not you"}}


@pytest.mark.parametrize(("service", "waiter", "parameters", "answer", "message"), [
    ("s3", "bucket_exists", {"Bucket": "b", "delay_pace": "fixed"}, NOT_FOUND,
     ("Waiter BucketExists timed out after 30 s for s3 Bucket=b: last state seen: 404 Not "
     "Found (16 attempts of HeadBucket).")),
    ("ecs", "tasks_running", {"tasks": ["t"]}, {"tasks": [{**TASK, "containers": [CONTAINER]}]},
     ("Waiter TasksRunning failed for ecs tasks=[t]: any lastStatus is 'STOPPED': Essential "
     "container in task exited; web: OutOfMemoryError; web: exit code 137 (1 attempt of "
     "DescribeTasks in 0.0 s).")),
    ("ec2", "instance_running", {"InstanceIds": ["i-0a1", "i-0b2"]},
     {"Reservations": [{"Instances": [INSTANCE]}]},
     ("Waiter InstanceRunning failed for ec2 InstanceIds=[i-0a1, i-0b2]: any State.Name is "
     "'terminated' (i-0b2) (1 attempt of DescribeInstances in 0.0 s).")),
    ("s3", "bucket_exists", {"Bucket": "b"},
     {**DENIED, "ResponseMetadata": {"HTTPStatusCode": 403}},
     ("Waiter BucketExists failed for s3 Bucket=b: HeadBucket failed with AccessDenied (HTTP "
     "403, request id request-1): not you (1 attempt of HeadBucket in 0.0 s).")),
], ids=["timed out", "reason", "acceptor", "error"])  # fmt: skip
def test_message_is(installed, answers, virtual_time, service, waiter, parameters, answer, message):
    client = boto3.client(service)
    answers(client, answer)
    with pytest.raises(bwp.WaiterError) as caught:
        bwp.wait_until(client, waiter, max_wait=30, **parameters)
    assert str(caught.value) == message


def test_message_of_a_bad_argument_is(s3):
    with pytest.raises(TypeError) as caught:
        s3.wait_until_bucket_exists(Bucket="b", max_wait=30, retry_transiant=True)
    assert str(caught.value) == "unknown option 'retry_transiant'; did you mean 'retry_transient'?"

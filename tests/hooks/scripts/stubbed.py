"""Stubber with the exact number of polls queued."""

import boto3
from botocore.exceptions import UnStubbedResponseError, WaiterError
from botocore.stub import Stubber

kinesis = boto3.client("kinesis")


def described(status):
    return {
        "StreamDescription": {
            "StreamName": "clicks",
            "StreamARN": "arn:aws:kinesis:us-east-1:123456789012:stream/clicks",
            "StreamStatus": status,
            "Shards": [],
            "HasMoreShards": False,
            "RetentionPeriodHours": 24,
            "StreamCreationTimestamp": 1,
            "EnhancedMonitoring": [],
        }
    }


with Stubber(kinesis) as stubber:
    expected = {"StreamName": "clicks"}
    for status in ("CREATING", "CREATING", "ACTIVE"):
        stubber.add_response("describe_stream", described(status), expected)
    kinesis.get_waiter("stream_exists").wait(StreamName="clicks")
    stubber.assert_no_pending_responses()
    print("three polls")

    for _ in range(4):
        stubber.add_response("describe_stream", described("CREATING"), expected)
    waiter = kinesis.get_waiter("stream_exists")
    try:
        waiter.wait(StreamName="clicks", WaiterConfig={"Delay": 1, "MaxAttempts": 4})
    except WaiterError as error:
        print(error, error.last_response["StreamDescription"]["StreamStatus"])
    stubber.assert_no_pending_responses()
    print("four polls")

    stubber.add_client_error("describe_stream", "LimitExceededException", "Rate exceeded.", 400)
    try:
        kinesis.get_waiter("stream_exists").wait(StreamName="clicks")
    except WaiterError as error:
        print(error, error.last_response["Error"])
    stubber.assert_no_pending_responses()

    stubber.add_client_error("describe_stream", "ResourceNotFoundException", "gone", 400)
    kinesis.get_waiter("stream_not_exists").wait(StreamName="clicks")
    stubber.assert_no_pending_responses()
    print("one poll")

    stubber.add_response("describe_stream", described("CREATING"), expected)
    try:
        kinesis.get_waiter("stream_exists").wait(StreamName="clicks")
    except UnStubbedResponseError as error:
        print(type(error).__name__, error)

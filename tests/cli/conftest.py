"""Files on botocore's search path, and clients of the command that are answered."""

import copy
import json

import boto3
import botocore
import pytest
from batch.calls import parsed
from moto import mock_aws


@pytest.fixture
def on_search_path(tmp_path, monkeypatch):
    """`on_search_path(text, name)`: a file with this text; by default, of definitions of sqs."""

    def put(text, name="sqs/2012-11-05/smithy-waiters-1.json"):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
        monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))

    return put


@pytest.fixture
def queue_ready(waitable):
    """`queue_ready(**members)`: a document with a waiter of sqs, with a delay of five seconds."""
    success = {"state": "success", "matcher": {"success": True}}

    def make(**members):
        members = {"minDelay": 5, "maxDelay": 5, **members}
        members["namespace"] = "com.amazonaws.sqs"
        return json.dumps(waitable("QueueReady", "GetQueueUrl", success, **members))

    return make


@pytest.fixture
def aws():
    """Moto, with `my-bucket`, whose versioning is suspended."""
    with mock_aws():
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="my-bucket")
        configuration = {"Status": "Suspended"}
        s3.put_bucket_versioning(Bucket="my-bucket", VersioningConfiguration=configuration)
        yield


@pytest.fixture
def facts_of(command):
    """`facts_of(line, *words)`: the exit code, the JSON and stderr."""

    def run(line, *words):
        code, out, err = command(line, *words, "--output", "json")
        return code, json.loads(out), err

    return run


@pytest.fixture
def called():
    """`called(function)`: each call of a client is `function(operation, parameters)`.

    Of clients that the command makes from now on; with None, calls are made again.
    """
    functions = [None]

    def keep(params, context, **_):
        context["parameters"] = copy.deepcopy(params)

    def answer(model, context, **_):
        if functions[-1] is None:
            return None
        return parsed(functions[-1](model.name, context["parameters"]), 200)

    def hook(session):
        session.register("provide-client-params", keep)
        session.register("before-call", answer)

    botocore.register_initializer(hook)
    yield functions.append
    botocore.unregister_initializer(hook)

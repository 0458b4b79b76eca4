"""`boto-wait once SERVICE OPERATION`."""

import json

import boto3
import pytest
from moto import mock_aws

RUN = ["once", "ec2", "run-instances", "--image-id", "ami-1", "--min-count", "1", "--max-count"]


@pytest.fixture(autouse=True)
def _aws():
    with mock_aws():
        yield


def test_call_and_wait_are_one_line(wait):
    code, out, err = wait(*RUN, "1", "--then", "instance-running", "--max-wait", "10m")
    assert code == 0
    assert err.startswith("boto-wait once: to repeat this call: --client-token ")
    assert out.startswith("ec2 RunInstances: 1 attempt, then InstanceRunning after ")
    assert len(boto3.client("ec2").describe_instances()["Reservations"]) == 1


def test_json_has_the_token_and_the_response(wait):
    words = ["--client-token", "t-1", "--output", "json", "--include-response", "--max-wait", "9"]
    code, out, _ = wait(*RUN, "1", *words)
    facts = json.loads(out)
    assert code == 0
    assert facts["response"]["Instances"][0]["ImageId"] == "ami-1"
    assert {name: facts[name] for name in ("outcome", "operation", "token", "attempts")} == {
        "outcome": "succeeded",
        "operation": "RunInstances",
        "token": "t-1",
        "attempts": 1,
    }


def test_required_token_need_not_be_given(wait):
    words = ["--name", "example.com", "--max-wait", "9", "--output", "json"]
    code, out, _ = wait("once", "route53", "create-hosted-zone", *words)
    assert code == 0
    assert len(json.loads(out)["token"]) == 36


def test_refused_call_is_an_error(wait):
    words = ["--bucket", "b", "--max-wait", "9", "--output", "json"]
    code, out, err = wait("once", "s3", "delete-bucket", "--allow-repeat", *words)
    assert code == 254
    assert err.startswith("boto-wait once: DeleteBucket failed for s3 Bucket=b: ")
    facts = json.loads(out)
    assert (facts["error"]["type"], facts["outcome_unknown"]) == ("CallRefusedError", False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["s3", "delete-bucket", "--bucket", "b"], "--max-wait is missing"),
        (["s3", "delete-bucket", "--bucket", "b", "--max-wait", "9"], "Pass --allow-repeat"),
        (["s3", "head-bucket", "--bucket", "b", "--max-wait", "9"], "only reads"),
        (["s3", "delete-bucket", "--max-wait", "9"], "DeleteBucket needs --bucket"),
        (["s3", "deletebukket", "--max-wait", "9"], "delete-bucket"),
        (["ec3", "run-instances"], "did you mean 'ecs'"),
        (["--max-wait", "9", "s3"], "SERVICE and OPERATION come first"),
        ([*RUN[1:], "1", "--max-wait", "9", "--then", "vpc-exists"], "--then: it is not known"),
        ([*RUN[1:], "1", "--max-wait", "9", "--then", "bucket-exists"], "Waiter does not exist"),
    ],
)
def test_wrong_arguments_are_one_line(wait, words, message):
    code, out, err = wait("once", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_interrupted_call_has_its_token(wait, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", interrupt)
    code, out, err = wait(*RUN, "1", "--max-wait", "9", "--output", "json")
    facts = json.loads(out)
    assert (code, facts["outcome"], facts["outcome_unknown"]) == (130, "failed", True)
    assert f"--client-token {facts['token']}" in err


def test_nested_token_is_named_by_its_members(wait):
    batch = json.dumps({"Paths": {"Quantity": 1, "Items": ["/"]}})
    words = ["--distribution-id", "d", "--invalidation-batch", batch, "--max-wait", "9"]
    code, _, err = wait("once", "cloudfront", "create-invalidation", *words)
    assert code == 254
    assert err.startswith("boto-wait once: to repeat this call: InvalidationBatch.CallerReference ")


def test_stored_call_is_resumed(wait, monkeypatch, tmp_path):
    pytest.importorskip("sqlalchemy")
    store = str(tmp_path / "calls.db")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("botocore.client.BaseClient._make_api_call", interrupt)
        words = ["--max-wait", "9", "--store", store, "--output", "json"]
        code, out, err = wait(*RUN, "1", *words)
    assert code == 130
    [command] = [line for line in err.splitlines() if "to go on" in line]
    words = command.partition("to go on: boto-wait ")[2].split()
    code, resumed, _ = wait(*words, "--output", "json")
    assert code == 0
    assert json.loads(resumed)["token"] == json.loads(out)["token"]
    code, _, err = wait(*words)
    assert code == 2
    assert "has ended" in err


def test_unknown_path_cannot_be_resumed(wait, tmp_path):
    pytest.importorskip("sqlalchemy")
    code, _, err = wait("once", "--resume", "calls/1", "--store", str(tmp_path / "calls.db"))
    assert (code, err) == (2, "boto-wait once: there is no call calls/1\n")

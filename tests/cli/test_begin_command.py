"""`boto-wait begin SERVICE OPERATION`."""

import json
from unittest import mock

import boto3
import pytest
from moto import mock_aws

RUN = ["begin", "ec2", "run-instances", "--image-id", "ami-1", "--min-count", "1", "--max-count"]
STOP = "--stop-on-timeout"


@pytest.fixture(autouse=True)
def _aws():
    with mock_aws():
        yield


def test_call_and_wait_are_one_line(wait):
    code, out, err = wait(*RUN, "1", "--then", "instance-running", "--max-wait", "10m")
    assert code == 0
    assert err.startswith("boto-wait begin: to repeat this call: --client-token ")
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
    code, out, _ = wait("begin", "route53", "create-hosted-zone", *words)
    assert code == 0
    assert len(json.loads(out)["token"]) == 36


def test_refused_call_is_an_error(wait):
    words = ["--bucket", "b", "--max-wait", "9", "--output", "json"]
    code, out, err = wait("begin", "s3", "delete-bucket", *words)
    assert code == 254
    assert err.startswith("boto-wait begin: DeleteBucket failed for s3 Bucket=b: ")
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
        (
            [*RUN[1:], "1", "--max-wait", "9", "--then", "vpc-exists"],
            "--then: run_instances has no effect",
        ),
        (
            [*RUN[1:], "1", "--max-wait", "9", "--then", "instance-runing"],
            "did you mean 'InstanceRunning'?",
        ),
    ],
)
def test_wrong_arguments_are_one_line(wait, words, message):
    code, out, err = wait("begin", *words, "--once")
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


def test_interrupted_wait_says_how_to_stop_what_was_begun(wait, monkeypatch):
    def answer(_, operation, parameters):
        if operation == "GetJobRun":
            raise KeyboardInterrupt
        return {"JobRunId": "jr 1", "ResponseMetadata": {}}

    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", answer)
    words = ["--job-name", "nightly", "--max-wait", "9", "--output", "json"]
    code, out, err = wait("begin", "glue", "start-job-run", *words)
    facts = json.loads(out)
    assert (code, facts["outcome_unknown"], facts["response"]["JobRunId"]) == (130, False, "jr 1")
    stop = "boto-wait begin glue batch-stop-job-run --job-name nightly --job-run-ids 'jr 1'"
    assert f"boto-wait begin: to stop it: {stop} --no-wait --max-wait 1m\n" in err


def test_nested_token_is_named_by_its_members(wait):
    batch = json.dumps({"Paths": {"Quantity": 1, "Items": ["/"]}})
    words = ["--distribution-id", "d", "--invalidation-batch", batch, "--max-wait", "9"]
    code, _, err = wait("begin", "cloudfront", "create-invalidation", *words)
    assert code == 254
    assert err.startswith(
        "boto-wait begin: to repeat this call: InvalidationBatch.CallerReference "
    )


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


def test_call_that_was_kept_without_its_target_is_resumed(wait, monkeypatch, tmp_path):
    pytest.importorskip("sqlalchemy")
    store = str(tmp_path / "calls.db")
    with monkeypatch.context() as patched:
        patched.setattr("boto_waiters_plus.changes.prepared_call.target_of", lambda _: {})
        patched.setattr(
            "botocore.client.BaseClient._make_api_call", mock.Mock(side_effect=KeyboardInterrupt)
        )
        _, _, err = wait(*RUN, "1", "--max-wait", "9", "--store", store)
    [command] = [line for line in err.splitlines() if "to go on" in line]
    code, _, err = wait(*command.partition("to go on: boto-wait ")[2].split())
    assert (code, err) == (0, "")


def test_unknown_path_cannot_be_resumed(wait, tmp_path):
    pytest.importorskip("sqlalchemy")
    code, _, err = wait("begin", "--resume", "calls/1", "--store", str(tmp_path / "calls.db"))
    assert (code, err) == (2, "boto-wait begin: there is no call calls/1\n")


def test_what_a_call_has_done_is_waited_for(wait):
    words = ["--bucket", "new-bucket", "--max-wait", "9", "--output", "json"]
    code, out, _ = wait("begin", "s3", "create-bucket", *words)
    facts = json.loads(out)
    assert code == 0
    assert (facts["waiter"], facts["basis"], facts["token"]) == ("BucketExists", "identity", None)


def test_a_call_without_an_effect_needs_a_waiter_or_no_wait(wait):
    wait("begin", "s3", "create-bucket", "--bucket", "new-bucket", "--max-wait", "9")
    words = [
        "s3",
        "put-bucket-acl",
        "--bucket",
        "new-bucket",
        "--acl",
        "private",
        "--max-wait",
        "9",
    ]
    code, _, err = wait("begin", *words)
    assert code == 2
    assert "it is not known what tells that put_bucket_acl has ended" in err
    assert wait("begin", *words, "--no-wait")[0] == 0


def test_stop_on_timeout_needs_what_stops(wait):
    code, _, err = wait(
        "begin", "s3", "create-bucket", "--bucket", "new-bucket", "--max-wait", "9", STOP
    )
    assert code == 2
    assert "--stop-on-timeout: nothing is known that stops CreateBucket" in err


def test_stop_on_timeout_stops_what_was_begun(wait, monkeypatch):
    made = []
    run = {"JobRunId": "jr"}, {"JobRun": {"JobRunState": "RUNNING"}}

    def called(client, name, parameters):
        made.append((name, parameters))
        return {**run[name == "GetJobRun"], "ResponseMetadata": {"HTTPStatusCode": 200}}

    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", called)
    words = ["glue", "start-job-run", "--job-name", "j", "--max-wait", "1s"]
    assert wait("begin", *words, STOP)[0] == 124
    assert made[-1] == ("BatchStopJobRun", {"JobName": "j", "JobRunIds": ["jr"]})

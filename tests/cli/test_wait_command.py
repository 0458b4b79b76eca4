"""`boto-wait SERVICE WAITER`: what it prints and its exit codes."""

import io
import json
import re
import sys

import boto3
import pytest
from moto import mock_aws

from boto_waiters_plus.cli import main

BUCKET = ["s3", "bucket-exists", "--bucket", "my-bucket", "--max-wait"]


pytestmark = pytest.mark.usefixtures("aws")


@pytest.fixture(scope="module")
def aws():
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="my-bucket")
        yield


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("words", [["s3"], ["wait", "s3"], ["--region", "eu-west-1", "s3"]])
@pytest.mark.parametrize("waiter", ["bucket-exists", "bucket_exists", "BucketExists"])
def test_success_is_one_line_on_stdout(wait, words, waiter):
    code, out, err = wait(*words, waiter, "--bucket", "my-bucket", "--max-wait", "5m")
    assert code == 0
    assert re.fullmatch(r"s3 Bucket=my-bucket: BucketExists after \d\.\d s \(1 attempt\)\n", out)
    assert err == ""


def test_json_has_the_outcome(wait):
    code, out, _ = wait(*BUCKET, "90", "--output", "json", "--include-response")
    [facts] = lines(out)
    assert code == 0
    elapsed = facts.pop("elapsed")
    assert elapsed < 90
    assert facts == {
        "outcome": "succeeded",
        "service": "s3",
        "waiter": "BucketExists",
        "label": "s3 Bucket=my-bucket",
        "parameters": {"Bucket": "my-bucket"},
        "attempts": 1,
        "acceptor": "success when the call succeeds",
        "observed": None,
        "timeline": [{"attempt": 1, "elapsed": elapsed, "state": None}],
        "response": {"BucketRegion": "us-east-1"},
    }


def test_expected_error_is_in_the_json(wait):
    words = ["s3", "bucket-not-exists", "--bucket", "none", "--max-wait", "9", "--output", "json"]
    code, out, _ = wait(*words)
    assert (code, lines(out)[0]["exception"]["code"]) == (0, "404")


def test_time_that_is_over_is_a_timeout_without_a_request(wait):
    code, out, err = wait("s3", "bucket-exists", "--bucket", "first", "--max-wait", "0")
    assert (code, out) == (124, "")
    assert "timed out before its first attempt" in err


def test_timeout_exits_with_124_and_says_why(wait):
    words = ["s3", "bucket-exists", "--bucket", "none", "--max-wait", "1m30s"]
    code, out, err = wait(*words, "--output", "json")
    [facts] = lines(out)
    assert code == 124
    assert facts["outcome"] == "timed out"
    assert facts["timeline"][-1]["state"] == "404"
    assert facts["error"]["type"] == "WaiterTimeoutError"
    assert facts["attempts"] > 2
    *progress, message = err.splitlines()
    assert re.match(r"s3 Bucket=none: 404, attempt 1 after 0.\d s, next in \d.\d s, ", progress[0])
    assert message.startswith(
        "boto-wait: Waiter BucketExists timed out after 90 s for s3 Bucket=none: last state seen: "
    )


def test_quiet_prints_errors_only(wait):
    assert wait(*BUCKET, "90", "--quiet") == (0, "", "")
    words = ["s3", "bucket-exists", "--bucket", "none", "--max-wait", "9", "--quiet"]
    code, out, err = wait(*words)
    assert (code, out, len(err.splitlines())) == (124, "", 1)


def test_each_value_is_a_wait_of_its_own(wait):
    words = ["s3", "bucket-exists", "--max-wait", "9", "--output", "json"]
    code, out, _ = wait(*words, "--each", "bucket", "my-bucket", "none")
    assert code == 124
    assert {facts["label"]: facts["outcome"] for facts in lines(out)} == {
        "s3 Bucket=my-bucket": "succeeded",
        "s3 Bucket=none": "timed out",
    }


@pytest.mark.parametrize("option", ["--stdin", "-"])
def test_each_line_of_stdin_is_a_wait(wait, monkeypatch, option):
    boto3.client("s3").create_bucket(Bucket="other")
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"Bucket": "my-bucket"}\n\n{"Bucket": "other"}'))
    code, out, _ = wait("s3", "bucket-exists", option, "--max-wait", "9", "--output", "json")
    assert code == 0
    labels = {facts["label"] for facts in lines(out)}
    assert labels == {"s3 Bucket=my-bucket", "s3 Bucket=other"}


def test_options_of_the_wait_are_passed_on(wait):
    words = ["s3", "bucket-exists", "--bucket", "none", "--max-wait", "9m", "--output", "json"]
    code, out, _ = wait(*words, "--max-attempts", "3", "--min-delay", "1m", "--max-delay", "1m")
    [facts] = lines(out)
    assert (code, facts["outcome"], facts["attempts"]) == (124, "attempts used up", 3)
    assert facts["elapsed"] >= 120
    words = ["s3", "object-exists", "--bucket", "my-bucket", "--key", "k", "--max-wait", "9"]
    words += ["--success-count", "2", "--initial-delay", "1", "--retry-transient", "always"]
    code, _, err = wait(*words)
    assert code == 124, err


@pytest.mark.parametrize(
    ("word", "attempts"), [("answered", 1), ("always", 3), ("never", 1), (None, 1)]
)
def test_retry_transient_decides_whether_a_closed_port_ends_the_wait(wait, word, attempts):
    words = ["s3", "bucket-exists", "--bucket", "b", "--max-wait", "9m", "--output", "json"]
    words += ["--max-attempts", "3", "--endpoint-url", "http://127.0.0.1:1"]
    _, out, error = wait(*words, *([] if word is None else ["--retry-transient", word]))
    [facts] = lines(out)
    assert facts["attempts"] == attempts
    assert ("--retry-transient always retries such errors" in error) is (attempts == 1)


def test_success_for_is_passed_on(wait):
    boto3.client("s3").create_bucket(Bucket="steady")
    words = ["s3", "bucket-exists", "--bucket", "steady", "--output", "json", "--success-for", "1m"]
    code, out, _ = wait(*words, "--max-wait", "9m")
    [facts] = lines(out)
    assert (code, facts["outcome"]) == (0, "succeeded")
    assert facts["elapsed"] == pytest.approx(60, abs=1)
    code, _, error = wait(*words, "--max-wait", "1m")
    assert code == 2
    assert "--success-for (60 s) must be less than --max-wait (60 s)" in error


def test_definitions_can_be_given(wait, waitable, tmp_path):
    success = {"state": "success", "matcher": {"success": True}}
    document = waitable("QueueReady", "GetQueueUrl", success, namespace="com.amazonaws.sqs")
    (tmp_path / "waiters.json").write_text(json.dumps(document))
    boto3.client("sqs").create_queue(QueueName="q")
    words = ["sqs", "queue-ready", "--queue-name", "q", "--max-wait", "9"]
    code, out, _ = wait(*words, "--definitions", str(tmp_path / "waiters.json"))
    assert (code, "QueueReady after" in out) == (0, True)


@pytest.fixture
def suspended():
    """Versioning of the bucket is suspended."""
    configuration = {"Status": "Suspended"}
    s3 = boto3.client("s3")
    s3.put_bucket_versioning(Bucket="my-bucket", VersioningConfiguration=configuration)


@pytest.mark.usefixtures("suspended")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--until", "Suspended"], 0),
        (["--until", "Enabled"], 124),
        (["--until", "Enabled", "Suspended"], 0),
        (["--until", "Enabled", "--failure", "Suspended"], 255),
        (["--until", "Suspended", "--state-path", "Status"], 0),
        (["--until", "Enabled", "--success-on-error", "NoSuchBucket", "--bucket", "none"], 0),
    ],
)
def test_until_waits_for_a_state_of_an_operation(wait, words, code):
    given = ["s3", "get-bucket-versioning", "--bucket", "my-bucket", *words, "--max-wait", "9"]
    assert wait(*given)[0] == code


@pytest.mark.usefixtures("suspended")
def test_help_of_an_operation_lists_its_states(capsys):
    with pytest.raises(SystemExit):
        main(["s3", "get-bucket-versioning", "--until", "Enabled", "--help"])
    text = capsys.readouterr().out
    assert "States of Status: Enabled, Suspended." in text
    assert "--expected-bucket-owner" in text
    assert "--success STATE" not in text
    assert "--operation" not in text


# Hidden since `--until`; they go away with the next version.
@pytest.mark.usefixtures("suspended")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--success", "ENABLED"], 124),
        (["--success", "ENABLED", "--failure", "Disabled", "Suspended"], 255),
        (["--success", "Suspended", "--failure", "Enabled"], 0),
        (["--success-on-error", "NoSuchBucket", "--bucket", "none"], 0),
    ],
)
def test_deprecated_options_still_define_a_waiter(wait, words, code):
    words = ["--path", "Status", *words, "--max-wait", "9"]
    given = ["s3", "--operation", "get-bucket-versioning", "--bucket", "my-bucket", *words]
    found, _, err = wait(*given)
    assert found == code
    assert err.startswith(
        "boto-wait: warning: --operation, --path and --success are deprecated: write "
        "`boto-wait SERVICE get-bucket-versioning --until STATE`\n"
    )
    assert "deprecated" not in wait(*given, "--quiet")[2]

"""`boto-wait SERVICE WAITER`: what it prints and its exit codes."""

import io
import json
import re
import sys

import boto3
import pytest

from boto_waiters_plus.cli import main

BUCKET = "s3 bucket-exists --bucket my-bucket --max-wait"
NONE = "s3 bucket-exists --bucket none --max-wait"

pytestmark = pytest.mark.usefixtures("aws")


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("words", ["s3", "wait s3", "--region eu-west-1 s3"])
@pytest.mark.parametrize("waiter", ["bucket-exists", "bucket_exists", "BucketExists"])
def test_success_is_one_line_on_stdout(command, words, waiter):
    code, out, err = command(f"{words} {waiter} --bucket my-bucket --max-wait 5m")
    assert re.fullmatch(r"s3 Bucket=my-bucket: BucketExists after \d\.\d s \(1 attempt\)\n", out)
    assert (code, err) == (0, "")


def test_json_has_the_outcome(facts_of):
    code, facts, _ = facts_of(f"{BUCKET} 90 --include-response")
    elapsed = facts.pop("elapsed")
    assert (code, elapsed < 90) == (0, True)
    of_waiter = {"service": "s3", "waiter": "BucketExists", "label": "s3 Bucket=my-bucket"}
    attempts = [{"attempt": 1, "elapsed": elapsed, "state": None}]
    end = {"outcome": "succeeded", "acceptor": "success when the call succeeds", "observed": None}
    responses = {"parameters": {"Bucket": "my-bucket"}, "response": {"BucketRegion": "us-east-1"}}
    assert facts == {**of_waiter, **end, **responses, "attempts": 1, "timeline": attempts}


def test_time_that_is_over_is_a_timeout_without_a_request(facts_of):
    code, facts, _ = facts_of(f"{NONE} 0")
    assert (code, facts["attempts"]) == (124, 0)


def test_timeout_says_why(facts_of):
    code, facts, err = facts_of(f"{NONE} 1m30s")
    assert (code, facts["outcome"]) == (124, "timed out")
    assert facts["timeline"][-1]["state"] == "404"
    assert facts["error"]["type"] == "WaiterTimeoutError"
    assert facts["attempts"] > 2
    first, *_, message = err.splitlines()
    assert re.match(r"s3 Bucket=none: 404, attempt 1 after 0.\d s, next in \d.\d s, ", first)
    assert message.startswith("boto-wait: Waiter BucketExists timed out after 90 s for s3 ")


def test_quiet_prints_errors_only(command):
    assert command(f"{BUCKET} 90 --quiet") == (0, "", "")
    code, out, err = command(f"{NONE} 9 --quiet")
    assert (code, out, err.count("\n")) == (124, "", 1)


def test_ctrl_c_tells_how_far_the_wait_came(facts_of, virtual_time):
    def interrupt():
        raise KeyboardInterrupt

    virtual_time.call_at(virtual_time.now + 3, interrupt)
    code, facts, err = facts_of(f"{NONE} 5m")
    assert (code, facts["outcome"], facts["observed"]) == (130, "interrupted", "404")
    assert re.search(r"s3 Bucket=none: interrupted after \d.\d s, last state seen: 404", err)


def test_each_arn_of_one_name_has_a_label_of_its_own(command, called):
    ids = [f"arn:aws:ecs:us-east-1:{account}:task/c/1" for account in (1, 2)]
    called(lambda _, asked: {"tasks": [{"taskArn": asked["tasks"][0], "lastStatus": "RUNNING"}]})
    _, out, _ = command("ecs tasks-running --max-wait 9 --output json --each tasks", *ids)
    assert {facts["label"] for facts in lines(out)} == {f"ecs tasks=[{each}]" for each in ids}


@pytest.mark.parametrize(("option", "data", "keys"), [
    ("--stdin", b'{"Key": "a"}\n\n{"Key": "b"}', {"a", "b"}),
    ("-", '{"Key": "É"}'.encode(), {"É"}), ("-", '{"Key": "É"}\r\n'.encode("utf-16"), {"É"}),
    ("-", '\ufeff{"Key": "É"}\r\n\r\n'.encode(), {"É"}),
])  # fmt: skip
def test_each_line_of_stdin_is_a_wait(command, monkeypatch, option, data, keys):
    for key in keys:
        boto3.client("s3").put_object(Bucket="my-bucket", Key=key)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))
    words = f"s3 object-exists --bucket my-bucket {option} --max-wait 9 --output json"
    code, out, err = command(words)
    assert (code, err) == (0, "")
    assert {facts["parameters"]["Key"] for facts in lines(out)} == keys


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "utf-16"])
@pytest.mark.parametrize("more", [[], ["--query", "label"]])
def test_json_is_json_in_every_encoding(monkeypatch, virtual_time, encoding, more):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stdout)
    words = ["s3", "object-exists", "--bucket", "my-bucket", "--key", "É\U0001f600"]
    assert main([*words, "--max-wait", "2", "--output", "json", *more]) == 124
    facts = json.loads(stdout.buffer.getvalue().decode(encoding))
    assert (facts if more else facts["label"]).endswith("Key=É\U0001f600")


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_puts_no_text_on_the_other(command, monkeypatch, closed):
    monkeypatch.setattr(sys, closed, None)
    code, out, err = command("s3 bucket-exist --bucket my-bucket --max-wait 2")
    assert (code, out, err == "") == (2, "", closed == "stderr")
    code, out, err = command(f"{NONE} 2 --quiet --output json")
    assert (code, out == "", err == "") == (124, closed == "stdout", closed == "stderr")


def test_a_stdin_without_a_line_is_refused(command, monkeypatch):
    for stdin in (io.TextIOWrapper(io.BytesIO("\ufeff\n".encode())), None):
        monkeypatch.setattr(sys, "stdin", stdin)
        code, _, err = command("s3 object-exists --bucket my-bucket - --max-wait 9")
        assert (code, "stdin has no line" in err) == (2, True)


def test_options_of_the_wait_are_passed_on(facts_of):
    code, facts, _ = facts_of(f"{NONE} 9m --max-attempts 3 --min-delay 1m --max-delay 1m")
    assert (code, facts["outcome"], facts["attempts"]) == (124, "attempts used up", 3)
    assert facts["elapsed"] >= 120
    words = "--success-count 2 --initial-delay 5 --success-for 1m"
    code, facts, _ = facts_of(f"{BUCKET} 9m {words}")
    assert (code, facts["timeline"][0]["elapsed"]) == (0, pytest.approx(5, abs=0.5))
    assert facts["elapsed"] == pytest.approx(65, abs=1)


def test_errors_are_retried_for_as_long_as_the_line_says(facts_of):
    words = "lambda function-active --function-name none --max-wait 9m"
    codes = "ResourceNotFoundException=30 AccessDenied=1m"
    code, facts, _ = facts_of(f"{words} --retry-errors-for {codes} --retry-errors-for 403=5")
    assert (code, facts["attempts"] > 1) == (254, True)
    assert 30 <= facts["elapsed"] < 60


@pytest.mark.parametrize(("words", "attempts"), [
    ("--retry-transient answered", 1), ("--retry-transient always", 3),
    ("--retry-transient never", 1), ("", 1),
])  # fmt: skip
def test_retry_transient_decides_whether_a_closed_port_ends_the_wait(facts_of, words, attempts):
    words += " --max-attempts 3 --endpoint-url http://127.0.0.1:1"
    code, facts, err = facts_of(f"{NONE} 9m {words}")
    assert facts["attempts"] == attempts
    assert ("--retry-transient always" in err, code == 255) == (attempts == 1, attempts == 1)

"""`boto-wait SERVICE WAITER` with wrong arguments: one line on stderr, and the exit code."""

import io
import re
import sys

import pytest

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.client_options import add_client_options, client_of, duration
from boto_waiters_plus.cli.parser import Parser
from boto_waiters_plus.cli.text import as_flags


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("s33 bucket-exists", "no command or service 's33'; did you mean 's3'?"),
        ("lst", "no command or service 'lst'; did you mean 'list'?"),
        ("s3 bucket-exist", "no s3 waiter 'bucket-exist'; did you mean 'bucket-exists'?"),
        ("s3 bucket-exists --bukket b --max-wait 9", "unknown option --bukket; did you mean"),
        ("s3 bucket-exists --parameter b --max-wait 9", "unknown option --parameter\n"),
        ("s3 bucket-exists b --max-wait 9", "unexpected argument 'b'"),
        ("--bucket b s3 bucket-exists", "SERVICE and WAITER come before --bucket"),
        ("s3 bucket-exists --bucket b", "--max-wait is missing: the time to wait at most"),
        ("s3 bucket-exists --max-wait 9", "HeadBucket needs --bucket"),
        (
            "s3 bucket-exists --bucket b --max-wait 9 --min-delay 3 --max-delay 2",
            "--min-delay (3.0) is more than --max-delay (2.0)",
        ),
        (
            "s3 bucket-exists --max-wait 9 --each buckt a",
            "no HeadBucket parameter 'buckt'; did you mean 'bucket'?",
        ),
        ("s3 bucket-exists --max-wait 9 --each bucket", "--each bucket needs at least one value"),
        ("s3 bucket-exists --max-wait 9 - --each bucket a", "--each and --stdin cannot be given"),
        ("s3 bucket-exists --definitions /nonexistent", "/nonexistent: cannot be read: No such"),
        ("s3 bucket-exists --max-wait 9 --bucket b --endpoint-url x", "Invalid endpoint: x"),
        (
            "s3 get-bucket-versioning --bucket b",
            "get-bucket-versioning is an operation, not a waiter: give --until, the state",
        ),
        (
            "s3 bucket-exists --until Enabled --bucket b --max-wait 9",
            "--until goes with an operation, such as head-bucket: bucket-exists is a waiter",
        ),
        (
            "s3 bucket-exists --failure X --bucket b --max-wait 9",
            "--failure goes with an operation, such as head-bucket: bucket-exists is a waiter",
        ),
        (
            "s3 get-bucket-versionin --until Enabled",
            "no s3 operation 'get-bucket-versionin'; did you mean 'get-bucket-versioning'?",
        ),
        (
            "s3 get-bucket-versioning --bucket b --max-wait 9 --until enabled",
            "unknown state 'enabled' of Status in GetBucketVersioning; did you mean 'Enabled'?",
        ),
        (
            "s3 get-bucket-versioning --bucket b --max-wait 9 --until",
            "--until is empty: give the state to wait for",
        ),
        (
            "s3 get-bucket-versioning --bucket b --max-wait 9 --until Enabled --path Status",
            "--until takes the place of --path",
        ),
        (
            "ecs describe-tasks --tasks a --max-wait 9 --until RUNNING",
            "DescribeTasks has several states: give --state-path: one of 'tasks[].healthStatus'",
        ),
        ("ecs --operation describe-service", "no ecs operation 'describe-service'; did you mean"),
        ("ecs --operation describe-services --success A", "--operation needs --path"),
        (
            "ecs --operation describe-services --path a[ --success A",
            "path 'a[' is not a JMESPath",
        ),
    ],
)
def test_wrong_arguments_exit_with_2_and_one_line(words, message, wait):
    code, out, err = wait(*words.split())
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"boto-wait: {message}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("s3", "the following arguments are required: WAITER"),
        ("s3 bucket-exists --max-wait soon", "argument --max-wait: 'soon' is no duration, such as"),
    ],
)
def test_unreadable_arguments_exit_with_2_and_one_line(words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words.split())
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith(f"boto-wait: {message}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("text", ["", '"b"', "{"])
def test_malformed_stdin_is_refused(text, wait, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    code, _, err = wait("s3", "bucket-exists", "--stdin", "--max-wait", "9")
    assert code == 2
    assert re.match(r"boto-wait: (line 1 of )?stdin", err)


@pytest.mark.parametrize("words", [["--help"], ["queue-ready"], ["get-queue-url", "--until", "X"]])
def test_a_malformed_file_on_the_search_path_is_named(words, on_search_path, capsys):
    on_search_path("{")
    assert main(["sqs", *words]) == 2
    assert "sqs/2012-11-05/smithy-waiters-1.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "words", "message"),
    [
        ({"AWS_DEFAULT_REGION": None}, ["ec2", "instance-running"], "You must specify a region"),
        ({}, ["s3", "bucket-exists", "--bucket", "b", "--profile", "x"], "The config profile (x)"),
    ],
)
def test_missing_configuration_exits_with_253(changes, words, message, wait, monkeypatch):
    for name in changes:
        monkeypatch.delenv(name)
    code, out, err = wait(*words, "--max-wait", "9")
    assert (code, out, len(err.splitlines())) == (253, "", 1)
    assert message in err


def test_missing_credentials_exit_with_253(monkeypatch, capsys):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert main(["s3", "bucket-exists", "--bucket", "b", "--max-wait", "9"]) == 253
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("Unable to locate credentials")


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("", {"region_name": None, "endpoint_url": None, "verify": None}),
        ("--region eu-west-1", {"region_name": "eu-west-1"}),
        ("--endpoint-url http://x --no-verify-ssl", {"endpoint_url": "http://x", "verify": False}),
        ("--ca-bundle /x.pem", {"verify": "/x.pem"}),
        ("--ca-bundle /x.pem --no-verify-ssl", {"verify": False}),
    ],
)
def test_connection_options_reach_the_client(words, given):
    class Session:
        def create_client(self, service, **keywords):
            return {"service": service, **keywords}

    parser = Parser()
    add_client_options(parser)
    client = client_of(Session(), "s3", parser.parse_args(words.split()))
    assert {"service": "s3", **given}.items() <= client.items()


@pytest.mark.parametrize(
    ("message", "spelled"),
    [
        ("missing_ok_for=60 retries", "--missing-ok-for 60 retries"),
        ("pass retry_transient=True", "pass --retry-transient always"),
        ('pass retry_transient="answered".', "pass --retry-transient answered."),
        ("pass success_for=30", "pass --success-for 30"),
        ("max_wait must be", "--max-wait must be"),
        ("the_max_waits", "the_max_waits"),
    ],
)
def test_messages_spell_options_as_the_line_does(message, spelled):
    assert as_flags(message) == spelled


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5", 1.5), ("45m", 2700), ("1h30m", 5400), ("1d2h3m4.5s", 93784.5), ("0", 0)],
)
def test_durations(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", " ", "m", "30m1h", "-5", "inf", "1e3", "5 min"])
def test_other_durations_are_refused(text):
    with pytest.raises(Exception, match="is no duration"):
        duration(text)


@pytest.mark.filterwarnings("always:the model of")
def test_a_state_that_no_model_lists_is_warned_of(wait):
    words = "forecast describe-dataset-group --dataset-group-arn a --until CREATE.FAILED"
    code, _, err = wait(*words.split())
    warning, error = err.splitlines()
    assert warning.startswith(
        "boto-wait: warning: the model of DescribeDatasetGroup lists no states"
    )
    assert (code, "--max-wait is missing" in error) == (2, True)

"""`boto-wait` with wrong arguments: one line on stderr, the exit code, and no request."""

import io
import json
import sys
from pathlib import Path

import pytest
from botocore.exceptions import NoRegionError

CASES = json.loads((Path(__file__).parents[1] / "cases/command_lines.json").read_text("utf-8"))


@pytest.fixture
def _no_requests(monkeypatch):
    monkeypatch.setattr("botocore.httpsession.URLLib3Session.send", lambda *_: 1 / 0)


@pytest.mark.usefixtures("_no_requests")
@pytest.mark.parametrize(("words", "message"), CASES["wrong"])
def test_wrong_arguments_exit_with_2_and_one_line(words, message, command):
    code, out, err = command(words)
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)
    assert err.startswith("boto-wait")


@pytest.mark.usefixtures("_no_requests")
@pytest.mark.parametrize(("line", "message"), CASES["stdin"])
def test_a_wrong_line_of_stdin_is_named(line, message, command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f'{{"Bucket": "b"}}\n\n{line}\n'))
    code, out, err = command("s3 bucket-exists --stdin --max-wait 9")
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)
    assert err.startswith("boto-wait: line 3 of stdin")


@pytest.mark.parametrize(
    "words", ["sqs --help", "sqs queue-ready", "sqs get-queue-url --until X", "list sqs"]
)
def test_a_malformed_file_on_the_search_path_is_named(words, on_search_path, command):
    on_search_path("{")
    code, _, err = command(words)
    assert (code, "sqs/2012-11-05/smithy-waiters-1.json" in err) == (2, True)


@pytest.mark.parametrize(("missing", "words", "message"), [
    ("AWS_DEFAULT_REGION", "ec2 instance-running", "region"),
    ("none", "s3 bucket-exists --bucket b --profile x", "profile (x)"),
    ("AWS_ACCESS_KEY_ID", "s3 bucket-exists --bucket b --quiet", "credentials"),
])  # fmt: skip
def test_missing_configuration_exits_with_253(missing, words, message, command, monkeypatch):
    monkeypatch.delenv(missing, raising=False)
    code, out, err = command(f"{words} --max-wait 9")
    assert (code, out, err.count("\n"), message in err) == (253, "", 1, True)


@pytest.mark.parametrize(("words", "given"), [
    ("", {"region_name": None, "endpoint_url": None, "verify": None}),
    ("--region eu-west-1", {"region_name": "eu-west-1"}),
    ("--endpoint-url http://x --no-verify-ssl", {"endpoint_url": "http://x", "verify": False}),
    ("--ca-bundle /x.pem", {"verify": "/x.pem"}),
    ("--ca-bundle /x.pem --no-verify-ssl", {"verify": False}),
])  # fmt: skip
def test_connection_options_reach_the_client(words, given, command, monkeypatch):
    asked = {}

    def create_client(_, service, **keywords):
        asked.update(keywords, service=service)
        raise NoRegionError

    monkeypatch.setattr("botocore.session.Session.create_client", create_client)
    assert command(f"s3 bucket-exists --bucket b --max-wait 9 {words}")[0] == 253
    assert {"service": "s3", **given}.items() <= asked.items()


@pytest.mark.parametrize(("text", "said"), [
    ("90", "1m30s"), ("1.5", "1.5 s"), ("45m", "45m00s"), ("1h30m", "1h30m"), ("1d2h3m", "26h03m"),
])  # fmt: skip
def test_durations(text, said, command):
    words = "schedule s3 bucket-exists --min-delay 1h --max-delay 9h --max-wait"
    assert command(words, text)[1].startswith(f"s3 bucket-exists, {said}\n")


@pytest.mark.filterwarnings("always:the model of")
def test_a_state_that_no_model_lists_is_warned_of(command):
    words = "forecast describe-dataset-group --dataset-group-arn a --until CREATE.FAILED"
    code, _, err = command(words)
    warning, error = err.splitlines()
    assert (code, "--max-wait" in error) == (2, True)
    assert warning.startswith("boto-wait: warning: the model of DescribeDatasetGroup")

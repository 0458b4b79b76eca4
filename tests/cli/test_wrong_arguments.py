"""`boto-wait SERVICE WAITER` with wrong arguments: one line on stderr, and the exit code."""

import io
import sys

import pytest
from botocore.exceptions import NoRegionError
from case_tables import tabled


@tabled("wrong arguments are one line", "words", "message")
def test_wrong_arguments_exit_with_2_and_one_line(words, message, command):
    code, out, err = command(words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"boto-wait: {message}")


@pytest.mark.parametrize("text", ["", '"b"', "{"])
def test_malformed_stdin_is_refused(text, command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    code, _, err = command("s3 bucket-exists --stdin --max-wait 9")
    assert (code, "stdin" in err) == (2, True)


@pytest.mark.parametrize(
    "words", ["sqs --help", "sqs queue-ready", "sqs get-queue-url --until X", "list sqs"]
)
def test_a_malformed_file_on_the_search_path_is_named(words, on_search_path, command):
    on_search_path("{")
    code, _, err = command(words)
    assert (code, "sqs/2012-11-05/smithy-waiters-1.json" in err) == (2, True)


@tabled("missing configuration exits with 253", "missing", "words", "message")
def test_missing_configuration_exits_with_253(missing, words, message, command, monkeypatch):
    for name in missing:
        monkeypatch.delenv(name)
    code, out, err = command(f"{words} --max-wait 9")
    assert (code, out, err.count("\n")) == (253, "", 1)
    assert message in err


@tabled("wrong arguments: connection options reach the client", "words", "given")
def test_connection_options_reach_the_client(words, given, command, monkeypatch):
    asked = {}

    def create_client(_, service, **keywords):
        asked.update(keywords, service=service)
        raise NoRegionError

    monkeypatch.setattr("botocore.session.Session.create_client", create_client)
    assert command(f"s3 bucket-exists --bucket b --max-wait 9 {words}")[0] == 253
    assert {"service": "s3", **given}.items() <= asked.items()


@tabled("wrong arguments: durations", "text", "said")
def test_durations(text, said, command):
    _, out, _ = command(
        f"schedule s3 bucket-exists --min-delay 1h --max-delay 9h --max-wait {text}"
    )
    assert out.startswith(f"s3 bucket-exists, {said}\n")


@pytest.mark.parametrize("text", ["", " ", "m", "30m1h", "-5", "inf", "1e3", "5 min"])
def test_other_durations_are_refused(text, command):
    code, _, err = command("s3 bucket-exists", f"--max-wait={text}")
    assert (code, "argument --max-wait" in err) == (2, True)


@pytest.mark.filterwarnings("always:the model of")
def test_a_state_that_no_model_lists_is_warned_of(command):
    words = "forecast describe-dataset-group --dataset-group-arn a --until CREATE.FAILED"
    code, _, err = command(words)
    warning, error = err.splitlines()
    assert (code, "--max-wait" in error) == (2, True)
    assert warning.startswith("boto-wait: warning: the model of DescribeDatasetGroup")

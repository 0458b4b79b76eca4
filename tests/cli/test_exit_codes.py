"""The exit codes of `boto-wait`: of errors, waits and signals, and of wrong arguments."""

import contextlib
import io
import json
import os
import signal
import sys
from pathlib import Path

import boto3
import pytest
from botocore import exceptions as botocore

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli.exit_codes import Terminated, ended_by_sigterm

CASES = json.loads((Path(__file__).parents[1] / "cases/command_lines.json").read_text("utf-8"))
REFUSED = botocore.ClientError({"Error": {"Code": "AccessDenied"}}, "HeadBucket")


def failed(cause=None, **facts):
    return bwp.WaiterFailedError("W", "failed", last_exception=cause, **facts)


def many(*errors):
    return bwp.WaitersError("W", "some failed", errors=dict(enumerate(errors)))


def test_a_second_sigterm_does_not_interrupt_what_the_first_one_ends():
    with contextlib.suppress(Terminated), ended_by_sigterm():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            ended = True
    assert ended


def test_a_worker_that_is_ended_as_it_begins_exits_with_0(command, monkeypatch):
    monkeypatch.setattr(operations, "Store", lambda _: signal.raise_signal(signal.SIGTERM))
    assert command("operations work --store waits.db")[0] == 0
    assert command("operations list --store waits.db")[0] == 143


TIMEOUT = bwp.WaiterTimeoutError("W", "timed out")
ATTEMPTS = bwp.WaiterAttemptsError("W", "attempts used up")
# The oldest botocore knows logins of SSO only.
EXPIRED_LOGIN = getattr(botocore, "LoginRefreshRequired", botocore.UnauthorizedSSOTokenError)


@pytest.fixture
def listing(monkeypatch, command):
    """`listing(function)`: the end of `boto-wait list` whose work is this function."""

    def run(function):
        monkeypatch.setattr("boto_waiters_plus.cli.listing.run", lambda _: function())
        return command("list")

    return run


CODES = {
    2: [botocore.ParamValidationError(report="Missing")],
    124: [TIMEOUT, ATTEMPTS, many(TIMEOUT, ATTEMPTS)],
    253: [
        botocore.NoCredentialsError(), botocore.ProfileNotFound(profile="p"),
        botocore.PartialCredentialsError(provider="env", cred_var="key"), botocore.NoRegionError(),
        failed(botocore.CredentialRetrievalError(provider="p", error_msg="m")),
        failed(botocore.UnauthorizedSSOTokenError()), failed(EXPIRED_LOGIN()),
    ],
    254: [REFUSED, failed(REFUSED), many(failed(REFUSED), failed(REFUSED))],
    255: [
        failed(), failed(REFUSED, acceptor="failure when p is F"), many(TIMEOUT, failed(REFUSED)),
        failed(botocore.EndpointConnectionError(endpoint_url="u")), RuntimeError(),
        bwp.WaiterCancelledError("W", "cancelled"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("error", "code"), [(error, code) for code, errors in CODES.items() for error in errors]
)
def test_each_error_has_its_code(error, code, listing):
    def fail():
        raise error

    found, _, err = listing(fail)
    assert found == code
    assert type(error).__name__ in err


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM ends a process at once there")
@pytest.mark.parametrize(("sent", "handler", "code", "ending"), [
    (signal.SIGTERM, signal.SIG_DFL, 143, "terminated"),
    (signal.SIGINT, signal.default_int_handler, 130, "interrupted"),
])  # fmt: skip
def test_signals_end_a_command_in_one_line(sent, handler, code, ending, listing):
    before = signal.signal(sent, handler)
    try:
        assert listing(lambda: signal.raise_signal(sent)) == (code, "", f"boto-wait: {ending}\n")
        assert signal.getsignal(sent) is handler
    finally:
        signal.signal(sent, before)


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(("words", "code", "text"), CASES["ends"])
def test_commands_exit_with_the_code_of_the_end(words, code, text, command):
    found, out, err = command(words)
    assert (found, text in out + err) == (code, True), out + err


@pytest.mark.parametrize(("reply", "code"), [
    ({"Status": "Enabled"}, 0), ({"Status": "Suspended"}, 255), (REFUSED, 254),
    ({"Status": "none"}, 124),
])  # fmt: skip
def test_stored_wait_has_the_same_code(reply, code, answers, tmp_path, command):
    client = boto3.client("s3")
    answers(client, reply)
    states = {"path": "Status", "success": ["Enabled"], "failure": ["Suspended"]}
    waiter = bwp.WaiterDefinition.from_states("Versioned", "GetBucketVersioning", **states)
    url = str(tmp_path / "waits.db")
    with contextlib.closing(operations.Store(url)) as store:
        path = store.start(client, waiter, max_wait=9, Bucket="b").path
        store.work(until_idle=True, make_client=lambda *_, **__: client)
    found, out, _ = command(f"operations wait {path} --store", url)
    assert (found, json.loads(out)["done"]) == (code, True)


# --- wrong arguments ----------------------------------------------------------------------------


@pytest.fixture
def _no_requests(called):
    called(lambda name, _: pytest.fail(f"{name} was called"))


@pytest.mark.usefixtures("_no_requests")
@pytest.mark.parametrize(("words", "message"), CASES["wrong"])
def test_wrong_arguments_exit_with_2_and_one_line(words, message, command):
    code, out, err = command(words)
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)
    assert err.startswith("boto-wait")
    # No value is quoted where a type is wrong: it may be a secret.
    assert "hunter2" not in err


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


@pytest.mark.parametrize(("words", "given"), CASES["connections"])
def test_connection_options_reach_the_client(words, given, command, monkeypatch):
    asked = {}

    def create_client(_, service, **keywords):
        asked.update(keywords, service=service)
        raise botocore.NoRegionError

    monkeypatch.setattr("botocore.session.Session.create_client", create_client)
    assert command(f"s3 bucket-exists --bucket b --max-wait 9 {words}")[0] == 253
    assert {"service": "s3", **given}.items() <= asked.items()


@pytest.mark.parametrize(("text", "said"), CASES["durations"])
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

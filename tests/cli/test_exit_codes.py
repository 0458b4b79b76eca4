"""The exit codes of `boto-wait`: of errors, of commands that wait, and of signals."""

import contextlib
import json
import os
import signal
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


@pytest.mark.parametrize(("error", "code"), [
    (botocore.ParamValidationError(report="Missing"), 2),
    (TIMEOUT, 124),
    (ATTEMPTS, 124),
    (botocore.NoCredentialsError(), 253),
    (botocore.PartialCredentialsError(provider="env", cred_var="key"), 253),
    (botocore.NoRegionError(), 253),
    (botocore.ProfileNotFound(profile="p"), 253),
    (failed(botocore.CredentialRetrievalError(provider="p", error_msg="m")), 253),
    (failed(botocore.UnauthorizedSSOTokenError()), 253),
    (failed(EXPIRED_LOGIN()), 253),
    (failed(REFUSED), 254),
    (REFUSED, 254),
    (failed(REFUSED, acceptor="failure when p is F"), 255),
    (failed(), 255),
    (failed(botocore.EndpointConnectionError(endpoint_url="u")), 255),
    (bwp.WaiterCancelledError("W", "cancelled"), 255),
    (many(TIMEOUT, ATTEMPTS), 124),
    (many(failed(REFUSED), failed(REFUSED)), 254),
    (many(TIMEOUT, failed(REFUSED)), 255),
    (RuntimeError(), 255),
], ids=lambda value: repr(value)[:60])  # fmt: skip
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

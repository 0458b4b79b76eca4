"""`--debug`: what is logged to stderr, and what is not."""

import logging
import sys

import pytest
from botocore.exceptions import EndpointConnectionError

from boto_waiters_plus.cli.live_progress import PlainProgress, progress_on_stderr
from boto_waiters_plus.cli.options import LOGGED, debug_log

SECRETS = {"AWS_ACCESS_KEY_ID": "AKIDSECRET", "AWS_SECRET_ACCESS_KEY": "hunter2"}
SECRETS |= {"AWS_SESSION_TOKEN": "token-of-a-session"}
# A port without a server.
REFUSED = "--endpoint-url http://127.0.0.1:1 --max-wait 9"
WAIT = f"s3 object-exists --bucket b --key k {REFUSED} --retry-transient always --max-attempts 2"
BEGIN = f"begin s3 put-bucket-acl --bucket b --acl private {REFUSED} --no-wait"
OTHERS = ["--expected-bucket-owner", "123456789012"]


@pytest.fixture
def logged(command, monkeypatch):
    """`logged(line, *words)`: the lines of stderr of a command with `--debug`, and the others."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)

    def run(line, *words):
        _, _, err = command(line, *words, "--debug")
        lines = err.splitlines()
        ours = [line for line in lines if " botocore." in line or " boto_waiters_plus: " in line]
        return ours, [line for line in lines if line not in ours]

    return run


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
@pytest.mark.parametrize("words", [WAIT, BEGIN])
def test_credentials_retries_and_attempts_are_logged(logged, monkeypatch, words, mode):
    monkeypatch.setenv("AWS_RETRY_MODE", mode)
    lines, others = logged(words, *OTHERS)
    text = "\n".join(lines)
    assert "Found credentials in environment variables." in text
    assert " botocore.retr" in text
    assert " boto_waiters_plus: Waiter " in text
    for secret in (*SECRETS.values(), "123456789012", "private", "AWS4-HMAC", "amz", "User-Agent"):
        assert secret not in text
    # Those that identify the resource are in lines of this package, as in progress.
    assert not any("/b" in line or "Bucket" in line for line in lines if " botocore." in line)
    assert others[-1].startswith("boto-wait")


def test_what_lines_of_botocore_quote_is_left_out(capsys):
    error = EndpointConnectionError(endpoint_url="https://hunter2")
    with debug_log():
        retries = logging.getLogger("botocore.retryhandler")
        credentials = logging.getLogger("botocore.credentials")
        try:
            raise error
        except EndpointConnectionError:
            retries.debug("caught: %s", error, exc_info=True)
            credentials.warning("failed in the %s period", "manda\ntory", exc_info=True)
        retries.debug("Invalid %s header value: %s", "x", "hunter2")
        retries.debug("crc32 check failed: %s", 7)
        credentials.debug("%(a)s", {"a": 1})
        for name in ("endpoint", "auth", "parsers", "hooks", "utils", "session", "httpsession"):
            logging.getLogger(f"botocore.{name}").warning("hunter2")
    retries.debug("after it")
    lines = [line.partition(" botocore.")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines[0] == "retryhandler: caught: EndpointConnectionError"
    assert lines[1] == "credentials: failed in the manda\\ntory period"
    assert "hunter2" not in "".join(lines)


def test_loggers_are_left_as_they_were(logged):
    loggers = [logging.getLogger(name) for name in LOGGED]
    before = [(each.level, [*each.handlers]) for each in loggers]
    logged(WAIT)
    assert [(each.level, each.handlers) for each in loggers] == before


def test_no_table_is_drawn_over_the_log(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert type(progress_on_stderr([], 9, quiet=False)) is not PlainProgress
    with debug_log():
        assert type(progress_on_stderr([], 9, quiet=False)) is PlainProgress

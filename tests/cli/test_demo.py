"""The demo: run once as a command; its parts on clients that send nothing."""

import http.server
import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import traceback

import botocore.endpoint
import pytest
from botocore.config import Config

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.demo.comparison import CallCounter, Comparison
from boto_waiters_plus.cli.demo.scenarios import Scenario, Way
from boto_waiters_plus.cli.demo.screen import progress, report
from boto_waiters_plus.cli.demo.server import HOST, MotoServer, isolated_session

# --- the command ------------------------------------------------------------------------------

# Must not reach the demo: each of these breaks a client that reads it.
HOSTILE = {
    "AWS_PROFILE": "absent",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_MAX_ATTEMPTS": "many",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
}


def environment(**more):
    without = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    return {**without, **more}


# A shell without job control starts background commands with SIGINT ignored. `preexec_fn` cannot
# undo that: with other threads running, the forked child may hang in it.
WITH_CTRL_C = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("boto_waiters_plus.cli", run_name="__main__", alter_sys=True)
"""


def demo(directory, **more):
    return subprocess.Popen(
        [sys.executable, "-c", WITH_CTRL_C, "demo"],
        cwd=directory,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    process = demo(tmp_path_factory.mktemp("demo"), **HOSTILE)
    try:
        output, progress_lines = process.communicate(timeout=170)
    finally:
        process.kill()
    return process.returncode, output, progress_lines


def rows_of(output):
    table = output[output.index("\nwait ") :]
    row = re.compile(r"(\w.*?)  +(\w+)  +(\w.*?) +(\d+) +(\d+) +([\d.]+) +([-\d.]+)")
    found = [row.fullmatch(line) for line in table.splitlines()]
    rows = [match.groups() for match in found if match]
    assert len(rows) == 18
    return rows


def test_demo_ends_as_expected_in_a_hostile_environment(finished):
    code, output, progress_lines = finished
    assert output.splitlines()[-1] == "All 18 waits ended as expected.", progress_lines
    assert code == 0


def test_demo_shows_the_result_of_each_wait(finished):
    kinds = {(row[0], row[1]): row[2] for row in rows_of(finished[1])}
    success = ("returned None", "ResponseOutcome", "ResponseOutcome")
    expected = {
        "bucket appears": success,
        "bucket deleted": ("returned None", "ExceptionOutcome", "ExceptionOutcome"),
        "table appears": success,
        "connection up": success,
        "service fails": ("WaiterError", "WaiterFailedError", "WaiterFailedError"),
        "deadline": ("WaiterError", "WaiterAttemptsError", "WaiterTimeoutError"),
    }
    assert kinds == {
        (title, way): kind
        for title, kinds_of_one in expected.items()
        for way, kind in zip(("stock", "get_waiter", "wait_until"), kinds_of_one, strict=True)
    }


def test_demo_counts_calls_and_measures_lateness(finished):
    for row in rows_of(finished[1]):
        attempts, calls = map(int, row[3:5])
        seconds, late = map(float, row[5:])
        # Every wait begins before the change, so one attempt is never enough.
        assert 2 <= attempts <= 60, row
        # No request fails, so the SDK retries none.
        assert calls == attempts, row
        assert 1 < seconds < 120, row
        assert -5 < late < 120, row
    attempts = {row[1]: int(row[3]) for row in rows_of(finished[1]) if row[0] == "deadline"}
    assert attempts["stock"] == attempts["get_waiter"] == 4


def test_demo_prints_the_errors_of_all_ways_together(finished):
    output = " ".join(finished[1].split())
    for waiter, state in {"ServicesStable": "INACTIVE", "BucketExists": "404"}.items():
        error = f"Waiter {waiter} .*"
        errors = f"stock {error}{state}.* get_waiter {error}{state}.* wait_until {error}{state}"
        assert re.search(errors, output), output


def test_demo_without_a_terminal_prints_plain_lines(finished):
    _, output, progress_lines = finished
    assert "\x1b" not in output + progress_lines
    assert max(map(len, output[output.index("\nwait ") :].splitlines())) <= 80
    lines = progress_lines.splitlines()[1:]
    assert all(re.match(r"^ *\d+\.\d s  \S", line) for line in lines), progress_lines
    # 6 changes, and the ends of 18 waits.
    assert len(lines) == 24
    assert sum(line.endswith(": now") for line in lines) == 6


def test_demo_without_moto_names_what_to_install(tmp_path):
    (tmp_path / "moto.py").write_text("raise ModuleNotFoundError('No module named flask')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = demo(tmp_path, PYTHONPATH=path)
    try:
        output, message = process.communicate(timeout=100)
    finally:
        process.kill()
    assert process.returncode == 2
    assert output == ""
    assert "No module named flask" in message
    assert "pip install 'moto[server]'" in message
    assert "Traceback" not in message


@pytest.mark.skipif(os.name == "nt", reason="SIGINT goes to a whole console there")
def test_interrupted_demo_exits_with_130_at_once(tmp_path):
    process = demo(tmp_path)
    try:
        assert process.stderr.readline().startswith("Starting")
        # After the first change all waits are running, botocore's among them.
        assert process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert message.splitlines()[-1] == "boto-wait: interrupted"
    assert "Traceback" not in message


def test_help_of_the_demo_promises_no_account_is_used(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--help"])
    assert caught.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "--plain" in output
    assert "No AWS account, configuration or network is used" in output


# --- its parts --------------------------------------------------------------------------------


class LocalServer:
    """Clients whose calls are answered before anything is sent."""

    def __init__(self):
        self.stacks = []

    def client(self, service):
        client = isolated_session().create_client(
            service,
            region_name="us-east-1",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",
        )
        # Last, because the demo's own handler has to see the call too.
        client.meta.events.register_last("before-call", self._answer)
        return client

    def _answer(self, **_):
        self.stacks.append([frame.filename for frame in traceback.extract_stack()])
        answer = type("Answer", (), {"status_code": 200})
        return answer, {"ResponseMetadata": {"HTTPStatusCode": 200}}


class Immediate(Scenario):
    title = "bucket there"
    service = "s3"
    waiter = "BucketExists"
    change_between = (0, 0)
    expected = ("returned None", "ResponseOutcome", "ResponseOutcome")

    def prepare(self, name):
        return {"Bucket": name}


class WrongExpectation(Immediate):
    expected = ("returned None", "ExceptionOutcome", "ResponseOutcome")


class NeverChanges(Immediate):
    change_between = (3600, 3600)


class CannotChange(Immediate):
    def change(self, name):
        raise RuntimeError("no such thing")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compared(scenario, stream=None, plain=True):
    comparison = Comparison(LocalServer(), [scenario])
    with progress(stream or io.StringIO(), plain=plain) as update:
        comparison.run(lambda: update(comparison))
    comparison.stop()
    return comparison


def reported(comparison):
    stream = io.StringIO()
    report(comparison, stream)
    return stream.getvalue()


def contains(stack, path):
    return any(path in name.replace(os.sep, "/") for name in stack)


@pytest.mark.parametrize(
    ("way", "on_the_engine"),
    [(Way.STOCK, False), (Way.GET_WAITER, True), (Way.WAIT_UNTIL, True)],
)
def test_only_stock_runs_botocores_own_loop(way, on_the_engine):
    comparison = compared(Immediate)
    assert comparison.as_expected
    stacks = comparison.scenarios[0].server.stacks
    wait = next(wait for wait in comparison.waits if wait.way is way)
    assert wait.calls.attempts == 1
    engine = [contains(stack, "boto_waiters_plus/runtime/") for stack in stacks]
    assert sorted(engine) == [False, True, True]
    assert hasattr(wait.outcome, "acceptor") is on_the_engine
    stock = stacks[engine.index(False)]
    assert contains(stock, "botocore/waiter.py")


@pytest.mark.parametrize(
    ("scenario", "complaint"),
    [
        (WrongExpectation, "bucket there, get_waiter: ResponseOutcome, not ExceptionOutcome"),
        (NeverChanges, "bucket there, stock: returned None, but too early"),
    ],
)
def test_unexpected_results_are_reported(scenario, complaint):
    comparison = compared(scenario)
    assert not comparison.as_expected
    assert complaint in reported(comparison).splitlines()


def test_error_of_a_change_ends_the_demo():
    comparison = Comparison(LocalServer(), [CannotChange])
    with pytest.raises(RuntimeError, match="no such thing"):
        comparison.run(lambda: None)
    comparison.stop()


def test_terminal_shows_a_table_that_is_redrawn(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    live = Terminal()
    compared(Immediate, stream=live, plain=False)
    assert "\x1b[2K" in live.getvalue()  # erases lines to draw them again
    assert re.search(r"bucket there +wait_until +ResponseOutcome +1 ", live.getvalue())


def test_plain_option_prints_lines_on_a_terminal():
    live = Terminal()
    compared(Immediate, stream=live)
    assert "\x1b" not in live.getvalue()
    assert live.getvalue().count("\n") == 4


def test_terminal_without_rich_gets_plain_lines(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.live", None)
    live = Terminal()
    compared(Immediate, stream=live, plain=False)
    assert "\x1b" not in live.getvalue()
    assert "bucket there: stock, returned None" in live.getvalue()


def test_server_ends_with_the_demo():
    pytest.importorskip("flask")
    threads = threading.active_count()
    server = MotoServer()

    def interrupted():
        with server:
            socket.create_connection((HOST, server.port)).close()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, server.port))
    assert threading.active_count() <= threads


class Failing(http.server.BaseHTTPRequestHandler):
    """Two errors that the SDK retries, then success."""

    statuses = (500, 503, 200)

    def do_HEAD(self):
        self.server.seen += 1
        self.send_response(self.statuses[self.server.seen - 1])
        self.end_headers()

    def log_message(self, *arguments):
        pass


def test_calls_include_the_sdks_own_retries(monkeypatch):
    # The SDK's delays between its retries are not tested.
    monkeypatch.setattr(botocore.endpoint.time, "sleep", lambda seconds: None)
    with http.server.ThreadingHTTPServer((HOST, 0), Failing) as server:
        server.seen = 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = isolated_session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=f"http://{HOST}:{server.server_address[1]}",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",
            config=Config(proxies={}),
        )
        counter = CallCounter(client, threading.Event())
        client.head_bucket(Bucket="bucket")
        client.close()
        server.shutdown()
    assert server.seen == 3
    assert (counter.attempts, counter.requests) == (1, 3)

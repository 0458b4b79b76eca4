"""The demo: once for real, as a person runs it; its parts on clients that never leave home."""

import http.server
import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import botocore.endpoint
import pytest
from botocore.config import Config

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.demo.performance import Performance
from boto_waiters_plus.cli.demo.scenarios import Scenario, Way
from boto_waiters_plus.cli.demo.screen import progress, report
from boto_waiters_plus.cli.demo.stage import HOST, Stage, isolated_session
from boto_waiters_plus.cli.demo.traffic import Traffic

# --- the command ------------------------------------------------------------------------------

# What must not reach the demo: each of these breaks a client that reads it.
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


# A shell without job control starts what runs behind it with Ctrl-C ignored. Not by `preexec_fn`:
# beside other threads the child of a fork may hang in it, with the pipes of the whole test run.
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


def test_demo_ends_as_expected_whatever_the_users_environment_says(finished):
    code, output, progress_lines = finished
    assert output.splitlines()[-1] == "All 18 waits ended as expected.", progress_lines
    assert code == 0


def test_demo_tells_each_way_of_each_wait_apart(finished):
    kinds = {(row[0], row[1]): row[2] for row in rows_of(finished[1])}
    success = ("returned None", "ResponseOutcome", "ResponseOutcome")
    expected = {
        "bucket appears": success,
        "bucket deleted": ("returned None", "ExceptionOutcome", "ExceptionOutcome"),
        "table appears": success,
        "connection up": success,
        "service deleted": ("WaiterError", "WaiterFailedError", "WaiterFailedError"),
        "deadline passes": ("WaiterError", "WaiterAttemptsError", "WaiterTimeoutError"),
    }
    assert kinds == {
        (title, way): kind
        for title, kinds_of_one in expected.items()
        for way, kind in zip(("stock", "get_waiter", "wait_until"), kinds_of_one, strict=True)
    }


def test_demo_counts_what_was_sent_and_measures_what_it_took(finished):
    for row in rows_of(finished[1]):
        attempts, calls = map(int, row[3:5])
        seconds, late = map(float, row[5:])
        # All of them begin too early, so that one look is never enough.
        assert 2 <= attempts <= 60, row
        # Nothing fails on the wire here: the SDK has nothing to retry.
        assert calls == attempts, row
        assert 1 < seconds < 120, row
        assert -5 < late < 120, row
    looks = {row[1]: int(row[3]) for row in rows_of(finished[1]) if row[0] == "deadline passes"}
    assert looks["stock"] == looks["get_waiter"] == 4


def test_demo_puts_the_words_of_both_errors_side_by_side(finished):
    output = " ".join(finished[1].split())
    waits = {"ServicesStable": "INACTIVE", "BucketExists": "404"}
    for waiter, last_seen in waits.items():
        words = f"Waiter {waiter} failed: [^;]*"
        sides = f"stock {words}{last_seen}.* get_waiter {words}{last_seen}.* wait_until {words}"
        assert re.search(sides, output), output


def test_demo_without_a_terminal_prints_plain_lines_as_things_happen(finished):
    _, output, progress_lines = finished
    assert "\x1b" not in output + progress_lines
    assert max(map(len, output[output.index("\nwait ") :].splitlines())) <= 80
    lines = progress_lines.splitlines()[1:]
    assert all(re.match(r"^ *\d+\.\d s  \S", line) for line in lines), progress_lines
    # Each of the 6 things happens once, each of the 18 waits ends once.
    assert len(lines) == 24
    assert sum(line.endswith(": now") for line in lines) == 6


def test_demo_without_moto_says_what_to_install(tmp_path):
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
    assert "pip install 'boto-waiters-plus[demo]'" in message
    assert "Traceback" not in message


@pytest.mark.skipif(os.name == "nt", reason="SIGINT goes to a whole console there")
def test_interrupt_ends_the_demo_with_130_though_botocores_own_waits_sleep_on(tmp_path):
    process = demo(tmp_path)
    try:
        assert process.stderr.readline().startswith("Starting")
        # The first thing has happened: all waits are under way, botocore's among them.
        assert process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert message.splitlines()[-1] == "boto-wait: interrupted"
    assert "Traceback" not in message


def test_help_names_the_subcommands(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert re.search(r"^ +demo ", capsys.readouterr().out, re.MULTILINE)


def test_help_of_the_demo_promises_to_leave_the_users_account_alone(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--help"])
    assert caught.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "--plain" in output
    assert "No AWS account, configuration or network is used" in output


@pytest.mark.parametrize("arguments", [["demonstrate"], [], ["demo", "--fast"]])
def test_what_makes_no_sense_ends_with_2_and_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: boto-wait")


def test_reader_that_goes_away_is_no_traceback(tmp_path):
    code = "import sys; from boto_waiters_plus import cli; sys.exit(cli.main(['demo']))"
    fake = "from boto_waiters_plus.cli import demo; demo.run = lambda _: print('x' * 9**6) or 0; "
    process = subprocess.Popen(
        [sys.executable, "-c", fake + code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    try:
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait(timeout=60) == 1
    finally:
        process.kill()


# --- its parts --------------------------------------------------------------------------------


class HomeStage:
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
        # Last: the demo's own handler has to see the call too.
        client.meta.events.register_last("before-call", self._answer)
        return client

    def _answer(self, **_):
        self.stacks.append([frame.filename for frame in traceback.extract_stack()])
        answer = type("Answer", (), {"status_code": 200})
        return answer, {"ResponseMetadata": {"HTTPStatusCode": 200}}


class AtOnce(Scenario):
    title = "bucket there"
    service = "s3"
    waiter = "BucketExists"
    between = (0, 0)
    endings = ("returned None", "ResponseOutcome", "ResponseOutcome")

    def prepare(self, name):
        return {"Bucket": name}

    def happen(self, name):
        return time.monotonic()


class ExpectsAnother(AtOnce):
    endings = ("returned None", "ExceptionOutcome", "ResponseOutcome")


class NeverHappens(AtOnce):
    between = (3600, 3600)


class CannotHappen(AtOnce):
    def happen(self, name):
        raise RuntimeError("no such thing")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def played(*scenarios, stream=None, plain=True):
    performance = Performance(HomeStage(), scenarios)
    with progress(stream or io.StringIO(), plain=plain) as show:
        performance.play(lambda: show(performance))
    performance.stop()
    return performance


def reported(performance, stream=None, *, plain=True):
    stream = stream or io.StringIO()
    report(performance, stream, plain=plain)
    return stream.getvalue()


def part_of(stack, path):
    return any(path in name.replace(os.sep, "/") for name in stack)


@pytest.mark.parametrize(
    ("way", "on_the_engine"),
    [(Way.STOCK, False), (Way.GET_WAITER, True), (Way.WAIT_UNTIL, True)],
)
def test_only_stock_runs_botocores_own_loop(way, on_the_engine):
    performance = played(AtOnce)
    assert performance.as_expected
    stacks = performance.scenarios[0].stage.stacks
    side = next(side for side in performance.sides if side.way is way)
    assert side.traffic.attempts == 1
    engine = [part_of(stack, "boto_waiters_plus/runtime/") for stack in stacks]
    assert sorted(engine) == [False, True, True]
    assert hasattr(side.outcome, "acceptor") is on_the_engine
    # The one that is not on the engine is in botocore's `Waiter.wait`.
    stock = stacks[engine.index(False)]
    assert part_of(stock, "botocore/waiter.py")


@pytest.mark.parametrize(
    ("scenario", "complaint"),
    [
        (ExpectsAnother, "bucket there, get_waiter: ResponseOutcome, not ExceptionOutcome"),
        (NeverHappens, "bucket there, stock: returned None, but too early"),
        (CannotHappen, "The demo itself went wrong: RuntimeError: no such thing"),
    ],
)
def test_what_is_not_as_expected_is_said(scenario, complaint):
    performance = played(scenario)
    assert not performance.as_expected
    assert complaint in reported(performance).splitlines()


def test_terminal_gets_a_display_that_changes_and_a_table_in_colours(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    live = Terminal()
    performance = played(AtOnce, stream=live, plain=False)
    assert "\x1b[2K" in live.getvalue()  # erases its lines to draw them anew
    assert "happens" in live.getvalue()
    table = reported(performance, Terminal(), plain=False)
    assert re.search(r"\x1b\[32mResponseOutcome", table)
    assert all(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= 80 for line in table.splitlines())


def test_plain_is_plain_on_a_terminal_too():
    live = Terminal()
    performance = played(AtOnce, stream=live)
    assert "\x1b" not in live.getvalue() + reported(performance, Terminal())
    assert live.getvalue().count("\n") == 4


def test_terminal_without_rich_gets_plain_lines(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    live = Terminal()
    performance = played(AtOnce, stream=live, plain=False)
    assert "\x1b" not in live.getvalue() + reported(performance, Terminal(), plain=False)
    assert "bucket there: stock, returned None" in live.getvalue()


def test_server_is_gone_after_whatever_ends_the_demo():
    pytest.importorskip("flask")
    threads = threading.active_count()
    stage = Stage()

    def interrupted():
        with stage:
            socket.create_connection((HOST, stage.port)).close()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, stage.port))
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


def test_calls_are_the_requests_sent_with_the_sdks_own_retries(monkeypatch):
    # Its pauses between retries are not what is tested.
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
        traffic = Traffic(client, threading.Event())
        client.head_bucket(Bucket="bucket")
        client.close()
        server.shutdown()
    assert server.seen == 3
    assert (traffic.attempts, traffic.requests) == (1, 3)

"""The demo: run once as a command; its parts on clients that send nothing."""

import io
import os
import re
import signal
import subprocess
import sys
import traceback

import pytest
from botocore.session import Session

from boto_waiters_plus.cli.demo.comparison import Comparison
from boto_waiters_plus.cli.demo.scenarios import Scenario

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


def demo(directory, *words, **more):
    return subprocess.Popen(
        [sys.executable, "-c", WITH_CTRL_C, "demo", *words],
        cwd=directory,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The short and the long demo, run at the same time: exit code, output and progress."""
    folder = tmp_path_factory.mktemp("demo")
    processes = [
        demo(folder, **{**HOSTILE, "COLUMNS": "80"}),
        demo(folder, "--all", **HOSTILE),
    ]
    try:
        ends = [process.communicate(timeout=170) for process in processes]
    finally:
        for process in processes:
            process.kill()
    codes = [process.returncode for process in processes]
    return {
        name: (code, *end) for name, code, end in zip(("short", "all"), codes, ends, strict=True)
    }


def rows_of(output):
    table = output[output.index("\nwait ") :]
    row = re.compile(r"(\w.*?)  +(\w+)  +(\w.*?) +(\d+) +([\d.]+) +([-\d.]+)")
    found = [row.fullmatch(line) for line in table.splitlines()]
    rows = [match.groups() for match in found if match]
    assert len(rows) == 18
    return rows


def test_short_demo_fits_a_screen_of_40_lines(finished):
    code, output, errors = finished["short"]
    assert code == 0, output + errors
    lines = [*errors.splitlines(), *output.splitlines()]
    assert 25 < len(lines) <= 40
    assert max(map(len, lines)) <= 80
    ours = [line for line in lines if line.startswith("  this package")]
    assert len(ours) == 5
    assert re.search(r"WaiterTimeoutError after 2\.\d\d s", ours[0])
    assert "User initiated shutdown" in " ".join(output.split())
    assert re.search(r"100 outcomes, \d calls?:", ours[3])


def test_demo_ends_as_expected_in_a_hostile_environment(finished):
    code, output, progress_lines = finished["all"]
    assert output.splitlines()[-1] == "All 18 waits ended as expected.", progress_lines
    assert code == 0


def test_demo_shows_the_result_of_each_wait(finished):
    kinds = {(row[0], row[1]): row[2] for row in rows_of(finished["all"][1])}
    success = ("returned None", "ResponseOutcome", "ResponseOutcome")
    expected = {
        "bucket appears": success,
        "bucket deleted": ("returned None", "ExceptionOutcome", "ExceptionOutcome"),
        "table appears": success,
        "service deleted": success,
        "service fails": ("WaiterError", "WaiterFailedError", "WaiterFailedError"),
        "deadline": ("WaiterError", "WaiterAttemptsError", "WaiterTimeoutError"),
    }
    assert kinds == {
        (title, way): kind
        for title, kinds_of_one in expected.items()
        for way, kind in zip(("stock", "get_waiter", "wait_until"), kinds_of_one, strict=True)
    }


def test_demo_without_moto_names_what_to_install(tmp_path):
    (tmp_path / "moto.py").write_text("raise ModuleNotFoundError('No module named flask')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = demo(tmp_path, PYTHONPATH=path)
    try:
        output, message = process.communicate(timeout=100)
    finally:
        process.kill()
    assert process.returncode == 255
    assert output == ""
    assert "No module named flask" in message
    assert "pip install 'boto-waiters-plus[demo]'" in message
    assert "Traceback" not in message


@pytest.mark.skipif(os.name == "nt", reason="SIGINT goes to a whole console there")
def test_interrupted_demo_exits_with_130_at_once(tmp_path):
    process = demo(tmp_path, "--all")
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


# --- its parts --------------------------------------------------------------------------------


class LocalServer:
    """Clients whose calls are answered before anything is sent."""

    def __init__(self):
        self.stacks = []

    def client(self, service):
        client = Session().create_client(
            service, region_name="us-east-1", aws_access_key_id="demo", aws_secret_access_key="demo"
        )
        # Last, because the demo's own handler has to see the call too.
        client.meta.events.register_last("before-call", self._answer)
        return client

    def _answer(self, **_):
        self.stacks.append([frame.filename for frame in traceback.extract_stack()])
        answer = type("Answer", (), {"status_code": 200})
        return answer, {"ResponseMetadata": {"HTTPStatusCode": 200}}


def unchanged(_, name):
    return {"Bucket": name}


IMMEDIATE = Scenario("bucket there", "s3", "BucketExists", unchanged, unchanged, (0, 0))
WRONG_EXPECTATION = IMMEDIATE._replace(
    expected=("returned None", "ExceptionOutcome", "ResponseOutcome")
)
NEVER_CHANGES = IMMEDIATE._replace(change_between=(3600, 3600))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compared(scenario, stream=None, plain=True, server=None):
    comparison = Comparison(server or LocalServer(), [scenario])
    comparison.show(stream or io.StringIO(), plain=plain)
    return comparison


def reported(comparison):
    stream = io.StringIO()
    as_expected = comparison.report(stream)
    assert as_expected is not any(wait.complaint for wait in comparison.waits)
    return stream.getvalue()


def contains(stack, path):
    return any(path in name.replace(os.sep, "/") for name in stack)


@pytest.mark.parametrize(
    ("way", "on_the_engine"), [("stock", False), ("get_waiter", True), ("wait_until", True)]
)
def test_only_stock_runs_botocores_own_loop(way, on_the_engine):
    server = LocalServer()
    comparison = compared(IMMEDIATE, server=server)
    assert not any(wait.complaint for wait in comparison.waits)
    wait = next(wait for wait in comparison.waits if wait.way == way)
    engine = [contains(stack, "boto_waiters_plus/runtime/") for stack in server.stacks]
    assert sorted(engine) == [False, True, True]
    assert hasattr(wait.outcome, "acceptor") is on_the_engine
    stock = server.stacks[engine.index(False)]
    assert contains(stock, "botocore/waiter.py")


@pytest.mark.parametrize(
    ("scenario", "complaint"),
    [
        (WRONG_EXPECTATION, "bucket there, get_waiter: ResponseOutcome, not ExceptionOutcome"),
        (NEVER_CHANGES, "bucket there, stock: returned None, but too early"),
    ],
)
def test_unexpected_results_are_reported(scenario, complaint):
    comparison = compared(scenario)
    assert complaint in reported(comparison).splitlines()


def test_terminal_without_rich_gets_plain_lines(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.live", None)
    live = Terminal()
    compared(IMMEDIATE, stream=live, plain=False)
    assert "\x1b" not in live.getvalue()
    assert "bucket there, stock: returned None" in live.getvalue()

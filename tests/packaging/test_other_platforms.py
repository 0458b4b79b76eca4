"""The package where Python lacks what only POSIX systems have, as on Windows."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import boto_waiters_plus

PACKAGE = Path(boto_waiters_plus.__file__).parent
POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}

AS_ON_WINDOWS = """
import asyncio, os, select, signal, socket, subprocess, sys, time
import boto3, concurrent.futures, logging, multiprocessing, random, selectors, tempfile

# Others look for their platform when they are imported. asyncio's loop here needs AF_UNIX.
try:
    import platformdirs
except ImportError:
    pass
KEPT = {SIGABRT, SIGFPE, SIGILL, SIGINT, SIGSEGV, SIGTERM}
for module in (MODULES):
    sys.modules[module] = None
for owner, names in {
    os: "fork forkpty register_at_fork getuid geteuid getpgid setsid killpg kill mkfifo "
        "sched_yield sched_getaffinity set_blocking uname chown WNOHANG O_NONBLOCK O_CLOEXEC",
    signal: "pthread_kill pthread_sigmask setitimer alarm pause sigwait siginterrupt",
    socket: "MSG_DONTWAIT SO_REUSEPORT send_fds recv_fds sethostname",
    select: "poll epoll",
    time: "clock_gettime clock_settime CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_REALTIME tzset",
}.items():
    for name in names.split():
        if hasattr(owner, name):
            delattr(owner, name)
for name in dir(signal):
    if name.startswith("SIG") and not name.startswith("SIG_") and name not in KEPT:
        delattr(signal, name)

import boto_waiters_plus as bwp
from botocore.stub import Stubber
bwp.install()
streams = boto3.client("kinesis", region_name="us-east-1")

def answers(*states):
    stub = Stubber(streams)
    for state in states:
        stub.add_response("describe_stream", {"StreamDescription": {
            "StreamName": "s", "StreamARN": "arn:s", "StreamStatus": state, "Shards": [],
            "HasMoreShards": False, "RetentionPeriodHours": 24, "StreamCreationTimestamp": 0,
            "EnhancedMonitoring": []}})
    stub.activate()

OPTIONS = {"StreamName": "s", "min_delay": 0.01, "max_delay": 0.02}
answers("CREATING", "ACTIVE")
""".replace("(MODULES)", repr(sorted(POSIX_MODULES - {"posix"}))).replace(
    "{SIGABRT, SIGFPE, SIGILL, SIGINT, SIGSEGV, SIGTERM}",
    "'SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM'.split()",
)

PROGRAMS = {
    "a wait": "assert streams.wait_until_stream_exists(**OPTIONS, max_wait=5).attempts == 2",
    "a waiter object": """
        waiter = streams.get_waiter("stream_exists")
        waiter.config.delay = 0.01
        assert waiter.wait(StreamName="s").attempts == 2
    """,
    "a task": """
        wait = bwp.wait_until_async(streams, "stream_exists", max_wait=5, **OPTIONS)
        assert asyncio.run(wait).attempts == 2
    """,
    "many waits": """
        options = {**OPTIONS}
        wait = bwp.Wait(streams, "stream_exists", {"StreamName": options.pop("StreamName")},
                        max_wait=5, **options)
        assert [outcome.attempts for outcome in bwp.wait_all([wait])] == [2]
    """,
    "a background wait": """
        from boto_waiters_plus import operations
        operation = operations.start(streams, "stream_exists", max_wait=5, **OPTIONS)
        assert operation.result(5).attempts == 2
    """,
    "a deadline": """
        import threading
        server = socket.create_server(("127.0.0.1", 0))
        deaf = boto3.client("kinesis", region_name="us-east-1",
                            endpoint_url=f"http://127.0.0.1:{server.getsockname()[1]}")
        try:
            deaf.wait_until_stream_exists(StreamName="s", max_wait=0.3)
        except bwp.WaiterTimeoutError as error:
            assert error.elapsed < 10
        else:
            raise AssertionError("no timeout")
    """,
    "a worker of a store": """
        from boto_waiters_plus import operations
        store = operations.Store("sqlite:///store.db")
        operation = store.start(streams, "stream_exists", max_wait=60, **OPTIONS)
        assert store.work(until_idle=True, make_client=lambda _: streams) == 1
        assert operation.result(5).attempts == 2
    """,
    "the command": """
        from boto_waiters_plus.cli import main
        try:
            code = main(["list", "stream"])
        except SystemExit as end:
            code = end.code
        assert not code, code
    """,
    "virtual time": """
        from boto_waiters_plus import testing
        options = {**OPTIONS, "min_delay": 50, "max_delay": 50}
        with testing.virtual_time():
            assert streams.wait_until_stream_exists(**options, max_wait=500).attempts == 2
    """,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_waits_need_nothing_that_windows_lacks(program, tmp_path):
    if "store" in program:
        pytest.importorskip("sqlalchemy")
    lines = PROGRAMS[program].strip("\n")
    indent = len(lines) - len(lines.lstrip())
    code = AS_ON_WINDOWS + "\n".join(line[indent:] for line in lines.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_no_module_imports_what_only_posix_has():
    found = {path.name: POSIX_MODULES.intersection(imports(path)) for path in PACKAGE.rglob("*.py")}
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_no_module_duplicates_a_socket_as_if_it_were_a_file():
    """`os.dup` knows no sockets on Windows; `socket.dup` does."""
    calls = [path.name for path in PACKAGE.rglob("*.py") if "os.dup(" in path.read_text("utf-8")]
    assert calls == []

"""A stored call whose process is killed between two of its steps."""

import contextlib
import http.server
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from changes.token_service import TokenService

CALLER = Path(__file__).with_name("killed_caller.py")
BEFORE = ("before save", "before request")
AFTER = (
    "before answered",
    "after answered",
    "before waiting",
    "after waiting",
    "in the wait",
    "before finish",
    "after finish",
)

ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Of every caller: one without credentials ends before it is killed."""

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here"),
]


@contextlib.contextmanager
def serving():
    """A service on a loopback port, which outlives its callers and answers while it may."""
    kept = TokenService(SimpleNamespace(now=0))
    kept.actions, kept.may_answer = [], threading.Event()
    kept.may_answer.set()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            request = {name: value for name, [value] in parse_qs(body).items()}
            kept.actions.append(request["Action"])
            kept.may_answer.wait()
            status, text = kept.answer(request)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        kept.url = f"http://127.0.0.1:{server.server_port}"
        yield kept
        server.shutdown()
        thread.join()


@pytest.fixture
def service():
    with serving() as kept:
        yield kept


def run_caller(service, store, point):
    command = [sys.executable, str(CALLER), service.url, str(store), point]
    environment = {**os.environ, **ACCOUNT}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=170, check=False
    )


@pytest.mark.parametrize("point", [*BEFORE, *AFTER])
def test_resumed_call_returns_the_one_resource(service, tmp_path, point):
    pytest.importorskip("sqlalchemy")
    store = tmp_path / "calls.db"
    killed = run_caller(service, store, point)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(service.instances) == (point in AFTER)
    if point == "after finish":
        return  # It is not open any more: another run would be another call.
    resumed = run_caller(service, store, "none")
    assert (resumed.returncode, resumed.stdout) == (0, "i-1 InstanceExists\n"), resumed.stderr
    assert len(service.instances) == 1
    # Only a call whose answer was not kept is made again.
    runs = service.actions.count("RunInstances")
    assert runs == (2 if point == "before answered" else 1)

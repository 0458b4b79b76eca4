"""A stored call whose process is killed between two of its steps."""

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
from idempotency.token_service import TokenService

CALLER = Path(__file__).with_name("killed_caller.py")
BEFORE = ("before save", "before request")
AFTER = ("before finish", "after finish")

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")


@pytest.fixture
def service():
    """A service on a loopback port, which outlives its callers."""
    kept = TokenService(SimpleNamespace(now=0))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            request = {name: value for name, [value] in parse_qs(body).items()}
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


def run_caller(service, store, point):
    command = [sys.executable, str(CALLER), service.url, str(store), point]
    return subprocess.run(
        command, env=os.environ, capture_output=True, text=True, timeout=60, check=False
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
    assert (resumed.returncode, resumed.stdout) == (0, "i-1\n"), resumed.stderr
    assert len(service.instances) == 1

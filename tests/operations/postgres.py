"""A PostgreSQL server of one test run."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def binary(name):
    """The path of a program of PostgreSQL; None if it is not installed."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(installed[-1]) if installed else shutil.which(name)


def _user():
    """The user that the server runs as: it refuses root."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@contextlib.contextmanager
def server():
    """Start a server; yield the URL of its first database."""
    folder, user = tempfile.mkdtemp(prefix="boto_waiters_postgres"), _user()
    if user is not None:
        shutil.chown(folder, user)
    data = f"{folder}/data"
    run = {"cwd": folder, "user": user, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    initdb = [binary("initdb"), "-D", data, "-U", "tester", "-A", "trust", "--no-sync"]
    subprocess.run(initdb, check=True, **run)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["-c", "fsync=off", "-c", f"unix_socket_directories={folder}"]
    listen = ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-p", str(port)]
    process = subprocess.Popen([binary("postgres"), "-D", data, *settings, *listen], **run)
    try:
        _wait_for(port, process)
        yield f"postgresql+psycopg://tester:hidden-password@127.0.0.1:{port}/postgres"
    finally:
        process.send_signal(signal.SIGINT)  # Without waiting for clients to leave.
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port, process):
    end = time.monotonic() + 30
    ready = [binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(ready, check=False).returncode:
        assert process.poll() is None, "the server did not start"
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.05)


def absence():
    """Why there is no server; None if there can be one."""
    missing = [name for name in ("initdb", "postgres", "pg_isready") if not binary(name)]
    try:
        import psycopg  # noqa: F401, PLC0415 - only whether it is there
    except ImportError:
        missing.append("psycopg")
    return f"{', '.join(missing)} not installed" if missing else None

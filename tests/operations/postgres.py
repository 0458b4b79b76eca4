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
    return "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"


class Server:
    """A PostgreSQL server; `url` is that of its first database."""

    def __init__(self):
        self._folder, user = tempfile.mkdtemp(prefix="boto_waiters_postgres"), _user()
        if user is not None:
            shutil.chown(self._folder, user)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._run = {"cwd": self._folder, "user": user, **quiet}
        data = f"{self._folder}/data"
        initdb = [binary("initdb"), "-D", data, "-U", "tester", "-A", "trust", "--no-sync"]
        subprocess.run(initdb, check=True, **self._run)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = ["-c", "fsync=off", "-c", f"unix_socket_directories={self._folder}"]
        listen = ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]
        self._command = [binary("postgres"), "-D", data, *settings, *listen, "-p", str(self.port)]
        self.url = f"postgresql+psycopg://tester:hidden-password@127.0.0.1:{self.port}/postgres"
        self.start()

    def start(self):
        """Start it, or start it again."""
        self._process = subprocess.Popen(self._command, **self._run)
        _wait_for(self.port, self._process)

    def stop(self, number=signal.SIGINT):
        """Stop it without waiting for clients to leave; by SIGQUIT as if it had crashed."""
        self._process.send_signal(number)
        self._process.wait(30)

    def remove(self):
        """Stop it for good."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def server():
    """Start a server; yield the URL of its first database."""
    running = Server()
    try:
        yield running.url
    finally:
        running.remove()


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

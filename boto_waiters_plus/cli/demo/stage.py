"""Where the demo plays: moto's server on loopback, and clients that know nothing but it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from botocore.config import Config
from botocore.session import Session

if TYPE_CHECKING:
    from typing_extensions import Self

HOST = "127.0.0.1"

REGION = "us-east-1"

ANSWER_WITHIN = 10.0
"""Seconds for one answer of moto's own API."""


class MissingServerError(Exception):
    """moto's server is not installed; the message says what is missing."""


class StageError(Exception):
    """moto's server does not do what the demo needs."""


class Stage:
    """moto's server while it is open, and clients of it.

    Raises:
        MissingServerError: on entering, if moto's server is not installed.
        StageError: if it does not start.
    """

    def __init__(self) -> None:
        self._session = isolated_session()
        self._clients: list[Any] = []

    def __enter__(self) -> Self:
        # What it complains of would spoil the display; of interest only if it does not start.
        with tempfile.TemporaryFile() as complaints:
            self._server = subprocess.Popen(  # noqa: S603 - this interpreter, a module of ours
                [sys.executable, "-m", f"{__package__}.server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=server_environment(),
                # Ctrl-C is for us; we end it.
                start_new_session=True,
                text=True,
            )
            try:
                self.port = self._read_port(complaints)
            except BaseException:
                self._end_server()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for client in self._clients:
            client.close()
        self._end_server()

    def client(self, service: str) -> Any:
        """A new client of the server."""
        client = self._session.create_client(
            service,
            region_name=REGION,
            endpoint_url=f"http://{HOST}:{self.port}",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",  # noqa: S106 - moto takes any
            # Without a look at the environment, where a proxy may be set for loopback too.
            config=Config(proxies={}),
        )
        self._clients.append(client)
        return client

    def move_by_time(self, model: str, seconds: float) -> None:
        """Make moto move all resources of a kind to their next state after a time."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_WITHIN)
        transition = {"progression": "time", "seconds": seconds}
        try:
            connection.request(
                "POST",
                "/moto-api/state-manager/set-transition",
                json.dumps({"model_name": model, "transition": transition}),
                {"Content-Type": "application/json"},
            )
            status = connection.getresponse().status
        finally:
            connection.close()
        if status >= 300:
            raise StageError(f"moto's server refused a state transition: HTTP status {status}")

    def _read_port(self, complaints: IO[bytes]) -> int:
        assert self._server.stdout is not None, "it is a pipe"
        word, _, rest = self._server.stdout.readline().strip().partition(" ")
        if word == "missing":
            raise MissingServerError(rest)
        if word != "port":
            complaints.seek(0)
            text = complaints.read().decode(errors="replace")
            raise StageError(f"moto's server does not start\n{text}")
        return int(rest)

    def _end_server(self) -> None:
        # It keeps nothing that would be worth an orderly end.
        self._server.kill()
        self._server.communicate()


def isolated_session() -> Session:
    """A session that reads neither environment variables nor files of the user."""
    variables: dict[str, Any] = {
        name: (None, None, default, convert)
        for name, (_, _, default, convert) in Session.SESSION_VARIABLES.items()
    }
    for name in ("config_file", "credentials_file"):
        variables[name] = (None, None, os.devnull, None)
    return Session(session_vars=variables)


def server_environment() -> dict[str, str]:
    """This process's environment without what speaks of AWS, and with its import path."""
    environment = {
        name: value for name, value in os.environ.items() if not name.upper().startswith("AWS_")
    }
    return {
        **environment,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONSAFEPATH": "1",
    }

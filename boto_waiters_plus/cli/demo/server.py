"""moto's server in a process of its own, and clients for it.

moto reads the user's AWS configuration, and only another process can be started without it.
"""

from __future__ import annotations

import logging
import os
import random
import subprocess
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Any

from botocore.config import Config
from botocore.session import Session

if TYPE_CHECKING:
    from typing_extensions import Self

HOST = "127.0.0.1"

REGION = "us-east-1"

CONNECTION_TEST = (5.0, 10.0)
"""The least and the most seconds that a test of a DMS connection takes."""


class ServerError(Exception):
    """moto's server does not start."""


class MissingServerError(ServerError):
    """moto's server is not installed."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"cannot import moto's server ({problem}): pip install 'moto[server]'")


class MotoServer:
    """A running moto server, as a context manager, and clients for it.

    Attributes:
        connection_test: the seconds that a test of a DMS connection takes.

    Raises:
        MissingServerError: on entering, if moto's server is not installed.
        ServerError: on entering, if it does not start.
    """

    def __init__(self) -> None:
        self.connection_test = random.uniform(*CONNECTION_TEST)  # noqa: S311 - no secret
        self._session = isolated_session()
        self._clients: list[Any] = []

    def __enter__(self) -> Self:
        # Its warnings would spoil the display. They are shown if it does not start.
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
                [
                    sys.executable,
                    "-c",
                    f"from {__name__} import serve; serve({self.connection_test})",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=server_environment(),
                # Ctrl-C must not reach the server: this process ends it.
                start_new_session=True,
                text=True,
            )
            try:
                self.port = self._read_port(errors)
            except BaseException:
                self._stop()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self._stop()

    def client(self, service: str) -> Any:
        """Return a new client for the server."""
        client = self._session.create_client(
            service,
            region_name=REGION,
            endpoint_url=f"http://{HOST}:{self.port}",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",  # noqa: S106 - moto accepts any
            # Ignores proxies in the environment, which may apply to loopback too.
            config=Config(proxies={}),
        )
        self._clients.append(client)
        return client

    def _read_port(self, errors: IO[bytes]) -> int:
        assert self._process.stdout is not None, "stdout is a pipe"
        word, _, rest = self._process.stdout.readline().strip().partition(" ")
        if word == "missing":
            raise MissingServerError(rest)
        if word != "port":
            errors.seek(0)
            text = errors.read().decode(errors="replace")
            raise ServerError(f"moto's server does not start\n{text}")
        return int(rest)

    def _stop(self) -> None:
        # The server has no state worth an orderly shutdown.
        self._process.kill()
        self._process.communicate()


def serve(connection_test: float) -> None:
    """Run moto's server on loopback until standard input ends, as it does if the parent dies.

    Print "port" and the port, or "missing" and what cannot be imported.
    """
    try:
        # moto is an extra, and slow to import.
        from moto.moto_api import state_manager  # noqa: PLC0415
        from moto.server import ThreadedMotoServer  # noqa: PLC0415
    except ImportError as error:
        print("missing", error, flush=True)
        return
    transition = {"progression": "time", "seconds": connection_test}
    state_manager.set_transition("dms::connection", transition)
    # werkzeug logs every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
    server.start()
    print("port", server.get_host_and_port()[1], flush=True)
    sys.stdin.read()


def isolated_session() -> Session:
    """Return a session that reads neither environment variables nor the user's files."""
    variables: dict[str, Any] = {
        name: (None, None, default, convert)
        for name, (_, _, default, convert) in Session.SESSION_VARIABLES.items()
    }
    for name in ("config_file", "credentials_file"):
        variables[name] = (None, None, os.devnull, None)
    return Session(session_vars=variables)


def server_environment() -> dict[str, str]:
    """Return this process's environment without AWS variables, and with its import path."""
    environment = {
        name: value for name, value in os.environ.items() if not name.upper().startswith("AWS_")
    }
    return {
        **environment,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        # moto would read a thousand machine images first.
        "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONSAFEPATH": "1",
    }

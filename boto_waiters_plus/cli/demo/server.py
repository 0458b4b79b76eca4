"""moto's server in threads of this process, and clients for it."""

from __future__ import annotations

import logging
import os
from typing import Any

from botocore.config import Config
from botocore.session import Session

from ..exit_codes import CannotRunError

HOST = "127.0.0.1"


class MotoServer:
    """A running moto server, as a context manager, and clients for it.

    Neither reads the user's AWS configuration: the process loses its variables for good.

    Raises:
        CannotRunError: on entering, if moto is not installed.
    """

    def __enter__(self) -> MotoServer:  # noqa: PYI034 - nothing inherits from it
        for name in [name for name in os.environ if name.upper().startswith("AWS_")]:
            del os.environ[name]
        os.environ |= dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
        # moto would read a thousand machine images first.
        os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
        try:
            # moto is an extra, and slow to import.
            from moto.server import ThreadedMotoServer  # noqa: PLC0415
        except ImportError as error:
            install = "pip install 'boto-waiters-plus[demo]'"
            raise CannotRunError(f"cannot import moto's server ({error}): {install}") from error
        # werkzeug logs every request.
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
        self._server.start()
        self._session = Session()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def client(self, service: str, port: int | None = None) -> Any:
        """Return a new client for the server, or for what else listens on a port."""
        port = port or self._server.get_host_and_port()[1]
        return self._session.create_client(
            service,
            region_name="us-east-1",
            endpoint_url=f"http://{HOST}:{port}",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",  # noqa: S106 - moto accepts any
            # Proxies in the environment may apply to loopback too.
            config=Config(proxies={}),
        )

"""moto's server as a process of its own, for as long as somebody holds its standard input.

It has to be one: moto reads the user's AWS configuration, and an environment without it can only
be given to another process. Says one line: "port" and the port, or "missing" and what is missing.
"""

from __future__ import annotations

import logging
import sys


def serve() -> None:
    """Serve on loopback until standard input ends, which it does too when the parent dies."""
    try:
        from moto.server import ThreadedMotoServer  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        print("missing", error, flush=True)
        return
    # It logs every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    print("port", server.get_host_and_port()[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()

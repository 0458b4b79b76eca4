"""Check a running `boto-wait operations serve` against its own OpenAPI document by schemathesis.

    tox run -e http

Requests that the document allows and requests that it forbids are made up; the answers must have
the statuses, types and schemas of the document. Further arguments go to `schemathesis run`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

SERVE = (sys.executable, "-m", "boto_waiters_plus.cli", "operations", "serve", "--port", "0")
ANNOUNCED = "boto-wait operations: serving "


def main(words: list[str]) -> int:
    """Serve a new store, and return the exit code of schemathesis."""
    with tempfile.TemporaryDirectory() as folder:
        store = ("--store", f"{folder}/waits.db")
        pipe = {"stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*SERVE, *store], **pipe) as server:  # noqa: S603 - our own command
            assert server.stderr is not None, "it is a pipe"
            url, _, token = server.stderr.readline().strip().partition("#token=")
            try:
                return _checked(url.removeprefix(ANNOUNCED), token, words, folder)
            finally:
                server.terminate()


def _checked(url: str, token: str, words: list[str], folder: str) -> int:
    header = ("--header", f"Authorization: Bearer {token}")
    # The stream of events has no end.
    without = ("--exclude-operation-id", "watchOperations")
    config = ("--config-file", str(Path(__file__).with_name("schemathesis.toml")))
    command = ("schemathesis", *config, "run", *header, *without, *words, f"{url}openapi.json")
    return subprocess.run(command, check=False, cwd=folder).returncode  # noqa: S603 - as above


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

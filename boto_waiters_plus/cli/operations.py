"""`boto-wait operations`: the background waits of a store, and the workers that drive them."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import secrets
import socket
import sys
from collections.abc import Callable
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any

from ..common.errors import missing_extra
from .exit_codes import (
    FAILED,
    NOT_CONFIGURED,
    OF_A_WAIT,
    SUCCEEDED,
    TIMED_OUT,
    USAGE_ERROR,
    CannotRunError,
    Terminated,
    UsageError,
    exit_code,
    sighup_as_sigterm,
)
from .operation_parameters import file_text
from .options import duration, use_cached_credentials
from .output import columns, counted, refused

if TYPE_CHECKING:
    from ..operations.store import Store

STORE_HELP = (
    "the file of the store, or its SQLAlchemy URL; by default a file in the state directory"
)

_LIST_OPTIONS = ("state", "service", "waiter", "exclusive_key", "page_size", "page_token")

_CODES = {"credentials": NOT_CONFIGURED, "invalid_parameters": USAGE_ERROR}
"""The exit codes of errors that a store keeps by their code alone."""


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "operations",
        description="Background waits: look them up, cancel them, and drive them.",
        epilog=OF_A_WAIT,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _action(actions, "list", _list, "list operations, the newest first")
    listing.add_argument("--state", help="open, done, succeeded, or an error code")
    listing.add_argument("--service", help="the botocore name of a service")
    listing.add_argument("--waiter", help="the name of a waiter, as BucketExists")
    listing.add_argument("--exclusive-key", metavar="KEY", help="the key that it was started with")
    listing.add_argument("--page-size", type=int, default=50, metavar="NUMBER")
    listing.add_argument("--page-token", metavar="TOKEN", help="of the page before")
    listing.add_argument("--output", choices=("text", "json"), default="text")
    _with_path(_action(actions, "get", _get, "print an operation as JSON"))
    wait = _with_path(_action(actions, "wait", _wait, "wait for the end of an operation"))
    wait.add_argument("--timeout", type=duration, metavar="TIME", help="wait at most that long")
    _with_path(_action(actions, "cancel", _cancel, "end an operation"))
    resume = _with_path(_action(actions, "resume", _resume, "go on with one that ended in error"))
    resume.add_argument("--max-wait", type=duration, metavar="TIME", help="time from now on")
    resume.add_argument("--max-attempts", type=int, metavar="NUMBER", help="attempts from now on")
    expire = _action(actions, "expire", _expire, "delete operations that ended long ago")
    expire.add_argument("--older-than", type=duration, required=True, metavar="TIME")
    work = _action(actions, "work", _work, "drive open operations until Ctrl-C or SIGTERM")
    work.add_argument(
        "--until-idle", action="store_true", help="end as soon as none is open and free"
    )
    work.add_argument(
        "--lease", type=duration, default=30.0, metavar="TIME", help="until others take over"
    )
    work.add_argument("--name", help="the name of the worker; by default host and process")
    serve = _action(actions, "serve", _serve, "serve the operations over HTTP")
    serve.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    serve.add_argument("--port", type=int, default=8151, help="default: 8151; 0: any")
    serve.add_argument("--token-file", metavar="FILE", help="by default a token is generated")


def _action(
    actions: Any, name: str, run_action: Callable[[Store, Any], int], text: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument("--store", metavar="URL", help=STORE_HELP)
    parser.set_defaults(run_action=run_action)
    return parser


def _with_path(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("path", metavar="PATH", help="operations/...")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments ask for; return the exit code."""
    # A service manager takes any other code than 0 for a failure, and a SIGTERM that ends a worker
    # is none.
    good_ends = [Terminated] if arguments.run_action is _work else []
    if arguments.run_action is _serve:
        # Before the store, whose extra lacks what serving needs.
        _http_face()
    with contextlib.suppress(*good_ends), contextlib.closing(store_of(arguments.store)) as store:
        from ..operations import StoreError  # noqa: PLC0415 - not for `--help`

        kinds = LookupError, ValueError, TypeError
        with refused(StoreError, instead=CannotRunError), refused(*kinds):
            code: int = arguments.run_action(store, arguments)
        return code
    return SUCCEEDED


def store_of(url: str | None) -> Store:
    """Return a store, as `--store` names it."""
    with refused(ImportError, ValueError):
        from ..operations import Store  # noqa: PLC0415 - an extra

        return Store(url)


def _list(store: Store, arguments: argparse.Namespace) -> int:
    page = store.list(**{name: getattr(arguments, name) for name in _LIST_OPTIONS})
    if arguments.output == "json":
        print(json.dumps({"results": page.operations, "next_page_token": page.next_page_token}))
        return 0
    names = ("attempts", "deadline", "label")
    rows = [
        (body["path"], _state(body), *(str(body["metadata"][name]) for name in names))
        for body in page.operations
    ]
    print(columns([("PATH", "STATE", *map(str.upper, names)), *rows]))
    if page.next_page_token is not None:
        print(f"more: --page-token {page.next_page_token}", file=sys.stderr)
    return 0


def _get(store: Store, arguments: argparse.Namespace) -> int:
    print(json.dumps(store.get_json(arguments.path), indent=2))
    return 0


def _wait(store: Store, arguments: argparse.Namespace) -> int:
    operation = store.get(arguments.path)
    wait([operation], timeout=arguments.timeout)
    body = operation.to_json()
    print(json.dumps(body, indent=2))
    if not body["done"]:
        print(f"boto-wait operations: {arguments.path} is still open", file=sys.stderr)
        return TIMED_OUT
    if operation.cancelled():
        return FAILED
    error = operation.exception()
    if error is None:
        return SUCCEEDED
    return _CODES.get(getattr(error, "code", ""), exit_code(error))


def _cancel(store: Store, arguments: argparse.Namespace) -> int:
    if store.cancel(arguments.path):
        return 0
    print(f"boto-wait operations: {arguments.path} has ended already", file=sys.stderr)
    return FAILED


def _resume(store: Store, arguments: argparse.Namespace) -> int:
    limits = {"max_wait": arguments.max_wait, "max_attempts": arguments.max_attempts}
    operation = store.resume(arguments.path, **limits)
    print(json.dumps(operation.to_json(), indent=2))
    return 0


def _expire(store: Store, arguments: argparse.Namespace) -> int:
    number = store.expire(arguments.older_than)
    print(f"{counted(number, 'operation')} deleted", file=sys.stderr)
    return 0


def _work(store: Store, arguments: argparse.Namespace) -> int:
    logging.basicConfig(level=logging.WARNING, format="boto-wait operations: %(message)s")
    print(f"boto-wait operations: working on {store.database.name}", file=sys.stderr)
    store.work(
        until_idle=arguments.until_idle,
        lease=arguments.lease,
        worker_name=arguments.name,
        make_client=lambda description: description.make(use_cached_credentials),
    )
    return SUCCEEDED


def _serve(store: Store, arguments: argparse.Namespace) -> int:
    uvicorn, asgi = _http_face()
    file = arguments.token_file
    token = secrets.token_urlsafe() if file is None else file_text(file, "--token-file").strip()
    app = asgi(store, token=token)
    # Before the address is printed: the port may be in use, or be the system's choice.
    with _listener(arguments.host, arguments.port) as listener:
        host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
        url = f"http://{host}:{listener.getsockname()[1]}/"
        url += f"#token={token}" if file is None else ""
        print(f"boto-wait operations: serving {url}", file=sys.stderr, flush=True)
        settings = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5)
        server = uvicorn.Server(settings)
        app.state.is_closing = lambda: server.should_exit
        with sighup_as_sigterm():
            server.run(sockets=[listener])
    return 0


def _http_face() -> tuple[Any, Any]:
    """Return uvicorn and `operations.asgi`."""
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from ..operations.http_api import asgi  # noqa: PLC0415 - the same
    except ImportError as error:
        raise UsageError(missing_extra("serve", "serve", error)) from error
    return uvicorn, asgi


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host} port {port}: {error}") from error


def _state(body: dict[str, Any]) -> str:
    if not body["done"]:
        return "open"
    return "succeeded" if "response" in body else str(body["error"].get("code", "internal"))

"""The HTTP face of a store: AEP-151 as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ParamValidationError, UnknownServiceError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .. import __version__
from ..calls.credentials import CREDENTIAL_ERRORS
from ..definitions.files import load_definitions
from ..definitions.parsing import depth_of
from ..engine.redaction import printable
from ..options import OPTION_NAMES
from ..service.on_the_spot import known_against, reason_not_to_poll
from ..service.waits import find_waiter
from .operation import COLLECTION, OperationError, StoreError, problem
from .store import Store
from .stored_row import refuse_constant

PROBLEM: Final = "application/problem+json"

LARGEST_BODY: Final = 65_536
"""Bytes of a request body."""

DEEPEST_BODY: Final = 100
"""Levels of objects and arrays in a request body."""

DEEPEST_EXPRESSION: Final = 50
"""Levels of an expression in a definition from outside."""

NEWS_INTERVAL: Final = 1.0
"""Seconds between two checks of the store for the page."""

_FILES: Final = resources.files("boto_waiters_plus.operations")

DOCUMENT: Final[dict[str, Any]] = json.loads((_FILES / "openapi.json").read_text("utf-8"))
"""The OpenAPI description; the bodies and queries of requests are checked by it."""
DOCUMENT["info"]["version"] = __version__

_START: Final = DOCUMENT["components"]["schemas"]["Start"]
_FILTERS: Final = {each["name"] for each in DOCUMENT["paths"]["/operations"]["get"]["parameters"]}

MakeServiceClient = Callable[[str, str | None, str | None], Any]

_ANSWERED: Final = (
    *(HTTPException, OperationError, ParamValidationError, StoreError),
    *(LookupError, ValueError, TypeError),
)
"""Errors that are a problem of the request or of the store."""

_CODES: Final = {404: "not_found", 405: "method_not_allowed"}


def asgi(store: Store, *, token: str, make_client: MakeServiceClient | None = None) -> Starlette:
    """Return an ASGI application for the operations of a store.

    Every request needs the header `Authorization: Bearer TOKEN`, except the page itself, which has
    no data. `GET /openapi.json` describes the rest.

    Args:
        store: has the operations; a worker (`Store.work`) drives them.
        token: the bearer token.
        make_client: makes the client of a service, a region and a profile, the last two of which
            may be None; by default that of a boto3 session.

    Raises:
        ValueError: the token is empty.
    """
    if not token:
        raise ValueError("token must not be empty")
    face = _Face(store, make_client or _clients_of_sessions())
    routes = [
        Route("/", _page, methods=["GET"]),
        Route("/openapi.json", lambda _: _Json(DOCUMENT), methods=["GET"]),
        Route(f"/{COLLECTION}", face.collection, methods=["GET", "POST"]),
        Route(f"/{COLLECTION}:events", face.events, methods=["GET"]),
        Route(f"/{COLLECTION}/{{id}}:cancel", face.operation, methods=["POST"]),
        Route(f"/{COLLECTION}/{{id}}", face.operation, methods=["GET"]),
    ]
    handlers: dict[Any, Any] = dict.fromkeys(_ANSWERED, _answer)
    guard = Middleware(_Guard, token=token)
    return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)


class _Json(JSONResponse):
    """In ASCII: what a service answered may have half a character, which no other encoding has."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


class _Guard:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                response = _refusal("unauthenticated", "give the header Authorization: Bearer")
                response.headers["WWW-Authenticate"] = "Bearer"
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Face:
    """The methods of the collection and of its operations."""

    def __init__(self, store: Store, make_client: MakeServiceClient) -> None:
        self._store = store
        self._make_client = make_client

    async def collection(self, request: Request) -> Response:
        """Start an operation, or return a page of those that there are."""
        if request.method == "POST":
            _query(request, ())
            body = await _body(request)
            return _Json(await run_in_threadpool(self._started, body), status_code=202)
        filters: dict[str, Any] = _query(request, _FILTERS)
        if (size := filters.get("page_size")) is not None:
            if not re.fullmatch("[0-9]+", size):
                raise ValueError("page_size must be a whole number of at least 1")
            # More digits than these are many more than a page has.
            filters["page_size"] = int(size.lstrip("0")[:9] or 0)
        page = await run_in_threadpool(lambda: self._store.list(**filters))
        return _Json({"results": page.operations, "next_page_token": page.next_page_token})

    async def operation(self, request: Request) -> Response:
        """Return an operation, after ending it if that is asked for."""
        _query(request, ())
        path = f"{COLLECTION}/{request.path_params['id']}"
        if "\n" in request.scope["path"]:
            # Behind `:cancel`, which the pattern of the route overlooks.
            raise LookupError(f"there is no {path!r}")
        if request.method == "POST":
            await run_in_threadpool(self._store.cancel, path)
        return _Json(await run_in_threadpool(self._store.get_json, path))

    async def events(self, request: Request) -> Response:
        """Return a stream of server-sent events: the open operations, whenever they change.

        Events of the type `workers` tell how many run, beginning with 0.
        """
        _query(request, ())
        # The server may say here that it is closing; else it would wait for the endless streams.
        is_closing = getattr(request.app.state, "is_closing", bool)
        # Before the stream, which could not tell why the store is refused.
        now = None if is_closing() else await run_in_threadpool(self._now)
        return StreamingResponse(self._news(now, is_closing), media_type="text/event-stream")

    async def _news(
        self, now: tuple[str, int] | None, is_closing: Callable[[], bool]
    ) -> AsyncIterator[str]:
        before: tuple[str | None, int] = None, 0
        # Where the store fails meanwhile the stream ends, and the next request is told why.
        with contextlib.suppress(StoreError):
            while now is not None:
                text, workers = now
                if workers != before[1]:
                    yield f"event: workers\ndata: {workers}\n\n"
                yield ": nothing new\n\n" if text == before[0] else f"data: {text}\n\n"
                before = now
                await asyncio.sleep(NEWS_INTERVAL)
                now = None if is_closing() else await run_in_threadpool(self._now)

    def _now(self) -> tuple[str, int]:
        """Return the open operations, and the number of workers that run."""
        operations = self._store.list(state="open", page_size=1000).operations
        return json.dumps(operations), len(self._store.database.leases())

    def _client(self, body: Mapping[str, Any]) -> Any:
        service = body["service"]
        try:
            return self._make_client(service, body.get("region"), body.get("profile"))
        except UnknownServiceError as error:
            # Its own text lists all services.
            raise ValueError(f"botocore has no service {service!r}") from error
        except CREDENTIAL_ERRORS as error:
            # Its text may quote what a program has written on its standard error.
            raise ValueError(f"no credentials: {type(error).__name__}") from error
        except BotoCoreError as error:
            raise ValueError(str(error)) from error

    def _started(self, body: Mapping[str, Any]) -> dict[str, Any]:
        client, waiter = self._client(body), body["waiter"]
        if "definition" in body:
            found = [each for each in load_definitions(body["definition"]) if each.name == waiter]
            if len(found) != 1:
                raise ValueError(f"definition has no waiter {waiter!r}")
            (waiter,) = found
        bound_waiter, _ = find_waiter(client, waiter)
        operation = bound_waiter.operation
        problem = None
        if "definition" in body:
            problem = reason_not_to_poll(operation)
        elif not bound_waiter.from_user:
            # Its parameters come from outside.
            problem = known_against(operation)
        for _, path in bound_waiter.polling.matching.paths if "definition" in body else ():
            if depth_of(path) > DEEPEST_EXPRESSION:
                problem = f"{path[:80]!r} is nested more than {DEEPEST_EXPRESSION} deep"
        if problem is not None:
            raise ValueError(f"{bound_waiter.definition.name}: {problem}")
        names = ("max_wait", "include_response", "exclusive_key", "request_id")
        given = {name: body[name] for name in names if name in body}
        given |= {"profile_name": body.get("profile"), **body.get("options", {})}
        started = self._store.start(client, waiter, **given, **body.get("parameters", {}))
        return started.to_json()


def _clients_of_sessions() -> MakeServiceClient:
    """Return what makes clients, and keeps the sessions: they have the models of the services."""
    # boto3's sessions are not thread-safe.
    lock, session_of = threading.Lock(), cache(boto3.session.Session)

    def make_client(service: str, region: str | None, profile: str | None) -> Any:
        with lock:
            make: Any = session_of(profile_name=profile).client
            return make(service, region_name=region)

    return make_client


async def _page(_: Request) -> Response:
    page = _FILES / "page.html"
    # No other site shows it in a frame, where a click would cancel.
    policy = (
        "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "frame-ancestors 'none'"
    )
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
    return HTMLResponse(page.read_text("utf-8"), headers=headers)


def _query(request: Request, known: Collection[str]) -> dict[str, str]:
    """Return the query; refuse what the method does not take."""
    items = request.query_params.multi_items()
    for name, _ in items:
        if name not in known:
            raise ValueError(f"unknown query parameter {name!r}")
    if len(dict(items)) < len(items):
        raise ValueError("a query parameter is given twice")
    return dict(items)


async def _body(request: Request) -> dict[str, Any]:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGEST_BODY:
            raise OperationError("too_large", f"the body has more than {LARGEST_BODY} bytes")
    try:
        body: dict[str, Any] = json.loads(content, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    _check(body)
    return body


_KINDS: Final = {"string": (str,), "number": (int, float), "boolean": (bool,), "object": (dict,)}


def _check(body: Any) -> None:
    """Check the body of a start against its schema."""
    if not isinstance(body, dict):
        raise TypeError("the body must be a JSON object")
    level: list[Any] = [body]
    for _ in range(DEEPEST_BODY):
        objects = [each.values() if isinstance(each, dict) else each for each in level]
        level = [each for items in objects for each in items if isinstance(each, (dict, list))]
    if level:
        raise ValueError(f"the body has more than {DEEPEST_BODY} levels")
    missing = [name for name in _START["required"] if name not in body]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    for name, value in body.items():
        schema = _START["properties"].get(name)
        if schema is None:
            raise ValueError(f"unknown member {name!r}")
        kind = schema["type"]
        is_flag = isinstance(value, bool)
        if not isinstance(value, _KINDS[kind]) or is_flag != (kind == "boolean"):
            raise TypeError(f"{name} must be of type {kind}")
    # Both become keywords; every option has an underscore in its name, and no parameter has.
    wrong = [name for name in body.get("options", {}) if name not in OPTION_NAMES]
    wrong += [name for name in body.get("parameters", {}) if "_" in name]
    if wrong:
        raise ValueError(f"unknown option or parameter {wrong[0]!r}")


def _refusal(code: str, detail: str, **members: Any) -> Response:
    # It may quote the request.
    body = problem(code, printable("; ".join(detail.splitlines())), **members)
    return _Json(body, status_code=body["status"], media_type=PROBLEM)


async def _answer(_: Request, error: Exception) -> Response:
    """Return the problem of an error."""
    detail = str(error.args[0]) if error.args else type(error).__name__
    match error:
        case HTTPException():
            response = _refusal(_CODES.get(error.status_code, "invalid_argument"), error.detail)
            response.headers.update(error.headers or {})
            return response
        case OperationError():
            members = {} if error.path is None else {"path": error.path}
            return _refusal(error.code, error.args[1], **members)
        case ParamValidationError():
            return _refusal("invalid_parameters", str(error.kwargs["report"]))
        case LookupError():
            return _refusal("not_found", detail)
        case StoreError():
            return _refusal("unavailable", detail)
    return _refusal("invalid_argument", detail)

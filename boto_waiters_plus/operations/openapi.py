"""The OpenAPI description of the HTTP face."""

from __future__ import annotations

from typing import Any, Final

from .. import __version__
from .error_codes import CODES
from .operation_pages import LARGEST_PAGE, LONGEST_NAME, NAME_PATTERN, STATES

LARGEST_BODY: Final = 65_536
"""Bytes of a request body."""

_NULLABLE: Final = ["string", "null"]

_TEXT: Final = {"type": "string"}

_NAME: Final = {"type": "string", "maxLength": LONGEST_NAME, "pattern": NAME_PATTERN}

FILTERS: Final[dict[str, dict[str, Any]]] = {
    "state": {"type": "string", "enum": list(STATES)},
    "service": _NAME,
    "waiter": _NAME,
    "page_size": {
        "type": "integer",
        "minimum": 1,
        "description": f"More than {LARGEST_PAGE} are taken for {LARGEST_PAGE}.",
    },
    "page_token": {**_TEXT, "description": "next_page_token of a page with the same filters."},
}
"""The query parameters of a list, and their schemas."""

REQUEST: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["service", "waiter", "max_wait"],
    "additionalProperties": False,
    "properties": {
        "service": {"type": "string", "description": "The botocore name of a service."},
        "waiter": {"type": "string", "description": "Such as BucketExists or bucket_exists."},
        "max_wait": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds."},
        "parameters": {"type": "object", "description": "The parameters of the operation."},
        "options": {"type": "object", "description": "Fields of WaitOptions."},
        "region": {"type": "string"},
        "profile": {"type": "string"},
        "definition": {"type": "object", "description": "The waiter, as Smithy JSON AST."},
        "include_response": {"type": "boolean"},
        "exclusive_key": {
            **_NAME,
            "description": "Refused with 409 while an operation with the same key is open.",
        },
    },
}

_EXAMPLE: Final = {
    "service": "s3",
    "waiter": "bucket_exists",
    "max_wait": 600,
    "parameters": {"Bucket": "orders"},
    "region": "us-east-1",
}

_METADATA: Final = {
    "type": "object",
    "additionalProperties": True,
    "properties": {
        "label": {"type": "string"},
        "waiter": {"type": "string"},
        "service": {"type": "string"},
        "region": {"type": _NULLABLE},
        "create_time": {"type": "string", "format": "date-time"},
        "deadline": {"type": "string", "format": "date-time"},
        "attempts": {"type": "integer"},
        "elapsed": {"type": "number", "description": "Seconds, as of the last attempt."},
        "state_seen": {"type": _NULLABLE},
        "next_attempt": {"type": _NULLABLE, "format": "date-time"},
        "worker": {"type": _NULLABLE},
        "clock_jump": {"type": "number", "description": "Seconds that the wall clock jumped."},
    },
}

_PROBLEM: Final = {
    "type": "object",
    "description": "A problem of RFC 9457.",
    "required": ["type", "code", "status", "title", "detail"],
    "additionalProperties": True,
    "properties": {
        "type": {"type": "string"},
        "code": {"type": "string", "enum": list(CODES)},
        "status": {"type": "integer"},
        "title": {"type": "string"},
        "detail": {"type": "string"},
    },
}

_OUTCOME: Final = {
    "type": "object",
    "required": ["kind", "waiter", "attempts", "elapsed", "acceptor", "observed"],
    "properties": {
        "kind": {"type": "string", "enum": ["response", "exception"]},
        "waiter": {"type": "string"},
        "label": {"type": "string"},
        "attempts": {"type": "integer"},
        "elapsed": {"type": "number"},
        "acceptor": {"type": "object"},
        "observed": {"description": "The value that the acceptor's path gave."},
        "exception": {"type": "object"},
        "response": {"type": "object", "description": "With include_response."},
    },
}

_OPERATION: Final = {
    "type": "object",
    "description": "An operation of AEP-151; error or response if it is done.",
    "required": ["path", "done", "metadata"],
    "properties": {
        "path": {"type": "string"},
        "done": {"type": "boolean"},
        "metadata": {"$ref": "#/components/schemas/Metadata"},
        "error": {"$ref": "#/components/schemas/Problem"},
        "response": {"$ref": "#/components/schemas/Outcome"},
    },
}

_LIST: Final = {
    "type": "object",
    "required": ["results", "next_page_token"],
    "properties": {
        "results": {"type": "array", "items": {"$ref": "#/components/schemas/Operation"}},
        "next_page_token": {"type": _NULLABLE},
    },
}


def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    an_id = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    filters = [{"name": name, "in": "query", "schema": schema} for name, schema in FILTERS.items()]
    content = {"schema": REQUEST, "example": _EXAMPLE}
    body = {"required": True, "content": {"application/json": content}}
    paths = {
        "/operations": {
            "get": _method("listOperations", "200", "OperationList", filters, [400]),
            "post": {
                **_method("startOperation", "202", "Operation", [], [400, 409, 413]),
                "requestBody": body,
            },
        },
        "/operations/{id}": {
            "get": _method("getOperation", "200", "Operation", [an_id], [400, 404])
        },
        "/operations/{id}:cancel": {
            "post": _method("cancelOperation", "200", "Operation", [an_id], [400, 404])
        },
        "/operations:events": {"get": _EVENTS},
    }
    return _document(paths)


def _document(paths: dict[str, Any]) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "boto_waiters_plus operations",
            "version": __version__,
            "description": "Background waits for AWS resources, in the form of AEP-151.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Operation": _OPERATION,
                "OperationList": _LIST,
                "Metadata": _METADATA,
                "Outcome": _OUTCOME,
                "Problem": _PROBLEM,
            },
        },
    }


def _content(media_type: str, schema: str) -> dict[str, Any]:
    return {"content": {media_type: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}}


def _problems(*statuses: int) -> dict[str, Any]:
    titles = dict(CODES.values())
    return {
        str(status): {
            "description": titles[status],
            **_content("application/problem+json", "Problem"),
        }
        for status in statuses
    }


def _method(
    name: str, status: str, schema: str, parameters: list[Any], problems: list[int]
) -> dict[str, Any]:
    success = {"description": schema, **_content("application/json", schema)}
    return {
        "operationId": name,
        "parameters": parameters,
        "responses": {status: success, **_problems(401, 503, *problems)},
    }


_EVENTS: Final = {
    "operationId": "watchOperations",
    "description": "Server-sent events: a list of the open operations whenever it has changed.",
    "responses": {
        "200": {"description": "Events", "content": {"text/event-stream": {"schema": _TEXT}}},
        **_problems(400, 401),
    },
}

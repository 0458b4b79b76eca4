"""What can go wrong with operations and their stores, and the codes that stand for it."""

from __future__ import annotations

from typing import Any, Final, NoReturn


class StoreError(Exception):
    """A store, named without its password, cannot be used: no access, no answer, or its schema."""


class SchemaError(StoreError):
    """Another version of the package has made or migrated the store."""


class OperationError(Exception):
    """A stored wait could not be run, or its error comes from another process.

    Attributes:
        code: one of `CODES`.
        path: the path of the background wait that is in the way; None if there is none.
    """

    def __init__(self, code: str, detail: str, path: str | None = None) -> None:
        super().__init__(code, detail)
        self.code = code
        self.path = path

    def __str__(self) -> str:
        return f"{self.args[1]} ({self.code})"


class UnableError(OperationError):
    """This worker cannot drive a wait; another one may."""


def unreadable(problem: str) -> OperationError:
    """Return the error of a stored wait that cannot be read."""
    return OperationError("unreadable", problem)


def refuse_missing(what: str, extra: str, error: ImportError, *packages: str) -> NoReturn:
    """Raise the error of what needs an extra, if one of its packages is missing; else `error`."""
    package = (error.name or "").partition(".")[0]
    if package not in packages:
        raise error
    install = f"pip install 'boto-waiters-plus[{extra}]'"
    raise ImportError(f"{what} requires {package}; install it with: {install}") from error


CODES: Final[dict[str, tuple[int, str]]] = {
    "failed": (424, "The wait reached a failure state, or its call failed"),
    "timed_out": (504, "The time of the wait is used up"),
    "attempts_used_up": (504, "The attempts of the wait are used up"),
    "outcome_unknown": (504, "The call got no answer, and may have been executed"),
    "cancelled": (409, "The wait was cancelled"),
    "invalid_parameters": (400, "botocore refused the parameters of the call"),
    "credentials": (403, "There are no credentials for the call, or they are incomplete"),
    "unsupported": (501, "The worker's botocore lacks the service or the operation of the wait"),
    "unreadable": (500, "What is stored of the wait cannot be read"),
    "internal": (500, "The wait ended in an unexpected error"),
    "attempt_failed": (502, "An attempt ended in a transient error, and the wait went on"),
    "invalid_argument": (400, "The request is wrong"),
    "unauthenticated": (401, "The request has no valid token"),
    "not_found": (404, "There is no such operation, or it has expired"),
    "method_not_allowed": (405, "The resource has no such method"),
    "conflict": (409, "An exclusive operation of this kind is open"),
    "request_mismatch": (409, "The request id was used for another request"),
    "too_large": (413, "The request is too large"),
    "unavailable": (503, "The store does not answer"),
}
"""The HTTP status and the title of each error code."""


def problem(code: str, detail: str, **members: Any) -> dict[str, Any]:
    """Return the canonical error object: a problem of RFC 9457 with a member `code`."""
    # A code of another version of this package is shown as it is.
    status, title = CODES.get(code, CODES["internal"])
    return {
        "type": f"urn:boto-waiters-plus:error:{code}",
        "code": code,
        "status": status,
        "title": title,
        "detail": detail,
        **members,
    }

"""Pages of a list of operations, stable while operations are started."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, and_, or_, select

from .error_codes import CODES
from .operation import json_text
from .tables import OPEN, OPERATIONS, SUCCEEDED

LONGEST_NAME: Final = 200
"""Characters of a name that is looked up."""

LARGEST_PAGE: Final = 1000
"""The most operations of a page, however many are asked for."""

NAME_PATTERN: Final = r"^[^\x00-\x1f\x7f]*$"
"""Text without control characters: PostgreSQL stores no NUL."""

STATES: Final = ("open", "done", SUCCEEDED, *CODES)


@dataclass(frozen=True, slots=True)
class OperationPage:
    """A page of a list of operations."""

    operations: list[dict[str, Any]]
    """In the JSON form, the newest first."""
    next_page_token: str | None
    """The token of the next page; None: there is none."""


def page_query(
    state: str | None, service: str | None, waiter: str | None, page_token: str | None
) -> Select[Any]:
    """Return the query of a page: the newest operations first.

    Raises:
        ValueError, TypeError: an argument is wrong.
    """
    if state is not None and state not in STATES:
        raise ValueError(f"state must be one of {', '.join(STATES)}, not {state!r}")
    check_text("service", service)
    check_text("waiter", waiter)
    query = _filtered(state, service, waiter)
    if page_token is not None:
        created, last = _position(page_token, [state, service, waiter])
        older = and_(OPERATIONS.c.created == created, OPERATIONS.c.id < last)
        query = query.where(or_(OPERATIONS.c.created < created, older))
    return query.order_by(OPERATIONS.c.created.desc(), OPERATIONS.c.id.desc())


def next_token(last: Mapping[str, Any], *filters: str | None) -> str:
    """Return the token of the page after this row."""
    position = [last["created"], last["id"], *filters]
    return base64.urlsafe_b64encode(json_text(position).encode()).decode("ascii")


def check_text(name: str, value: Any) -> None:
    """Refuse what no name can be.

    Raises:
        TypeError: not text.
        ValueError: too long, or with control characters.
    """
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    if len(value) > LONGEST_NAME or not re.fullmatch(NAME_PATTERN, value):
        raise ValueError(
            f"{name} must have at most {LONGEST_NAME} characters, and no control characters"
        )


def _filtered(state: str | None, service: str | None, waiter: str | None) -> Select[Any]:
    query = select(OPERATIONS)
    if state == "done":
        query = query.where(OPERATIONS.c.state != OPEN)
    elif state is not None:
        query = query.where(OPERATIONS.c.state == state)
    if service is not None:
        query = query.where(OPERATIONS.c.service == service)
    return query if waiter is None else query.where(OPERATIONS.c.waiter == waiter)


def _position(token: str, filters: Sequence[Any]) -> tuple[float, str]:
    try:
        created, last, *of_token = json.loads(base64.urlsafe_b64decode(token))
        if of_token == list(filters) and re.fullmatch("[0-9a-f]{32}", last):
            return float(created), last
    except (ValueError, TypeError, OverflowError):
        pass
    raise ValueError("page_token is not of a list with these filters")

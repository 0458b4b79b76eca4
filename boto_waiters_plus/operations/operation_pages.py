"""Pages of a list of operations, stable while operations are started."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..common.wrong_arguments import WrongValueError, wrong_type, wrong_value
from .operation import CODES
from .stored_row import OPEN, SUCCEEDED, Position, Row, json_text

LONGEST_NAME: Final = 200
"""Characters of a name that is looked up."""

LARGEST_PAGE: Final = 1000
"""The most operations of a page, however many are asked for."""

NAME_PATTERN: Final = r"^[^\x00-\x1f\x7f]*$"
"""Text without control characters: PostgreSQL stores no NUL."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

STATES: Final = (OPEN, "done", SUCCEEDED, *CODES)


@dataclass(frozen=True, slots=True)
class OperationPage:
    """A page of a list of operations."""

    operations: list[dict[str, Any]]
    """In the JSON form, the newest first."""
    next_page_token: str | None
    """The token of the next page; None: there is none."""


def page_filters(state: str | None, **names: str | None) -> dict[str, str]:
    """Return the given filters of a list; raise ValueError or TypeError if one is wrong."""
    filters = {"state": state, **names}
    if state is not None and state not in STATES:
        raise wrong_value("state", state, f"one of {', '.join(STATES)}")
    for name, value in filters.items():
        check_text(name, value)
    return {name: value for name, value in filters.items() if value is not None}


def page_token_after(last: Row, filters: Mapping[str, str]) -> str:
    """Return the token of the page after this row."""
    created, last_id = last["created"], last["id"]
    if not (isinstance(created, float) and math.isfinite(created) and isinstance(last_id, str)):
        # A damaged row: SQLite orders what is no number before all numbers.
        created, last_id = sys.float_info.max, "f" * 32
    position = [created, last_id, dict(filters)]
    return base64.urlsafe_b64encode(json_text(position).encode()).decode("ascii")


def page_position(token: str, filters: Mapping[str, str]) -> Position:
    """Return where the page of a token begins; raise ValueError if it is of another list."""
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        created, last, _ = json.loads(base64.urlsafe_b64decode(token))
        is_position = isinstance(created, float) and re.fullmatch("[0-9a-f]{32}", last)
        # A token has one form only.
        if is_position and token == page_token_after({"created": created, "id": last}, filters):
            return created, last
    raise WrongValueError.of("page_token", token, " is not of a list with these filters")


def check_text(name: str, value: Any, longest: int = LONGEST_NAME) -> None:
    """Raise TypeError or ValueError for what no name can be."""
    if value is None:
        return
    if not isinstance(value, str):
        raise wrong_type(name, value, "text")
    if len(value) > longest or not re.fullmatch(NAME_PATTERN, value) or _SURROGATE.search(value):
        problem = (
            f" must have at most {longest} characters, and no control characters or lone surrogates"
        )
        raise WrongValueError.of(name, value, problem)

"""What a wait reports of the state seen, where it is more than one value.

A definition names paths, each with a word: `{"state": "DBInstances[0].DBInstanceStatus", "pending":
"keys(DBInstances[0].PendingModifiedValues)"}` gives "available, pending DBInstanceClass".
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final

from .redaction import MAX_ITEMS, counted, cut, flat, is_number, may_show, printable

STATE: Final = "state"
"""The word that is left out of the text."""

BECAUSE: Final = "because"
"""The word whose value stands in parentheses behind the one before."""

_PART: Final = r"[\d.]+ of [\d.]+"

Reported = Mapping[str, Any]
"""By word: a text or a number; where there are several, a list of at most five."""


def reported_value(value: Any, *, is_part: bool = False) -> Any:
    """Return the value of a path as it is reported; None: there is nothing to report.

    Args:
        value: that of the path.
        is_part: whether two numbers are a part and its whole, `1 of 3`, and not those of two items.
    """
    if isinstance(value, list):
        items = [each for each in map(reported_value, flat(value)) if each is not None]
        if is_part and len(items) == len(value) == 2 and all(map(is_number, items)):
            return f"{items[0]} of {items[1]}"
        if len({*items}) <= MAX_ITEMS < len(items):
            return counted(items)
        if len(items) > MAX_ITEMS:
            items = [*items[: MAX_ITEMS - 1], f"and {len(items) - MAX_ITEMS + 1} more"]
        return items[0] if len(items) == 1 else items or None
    if isinstance(value, dt.datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, str):
        return cut(value.rstrip(". ")) or None if may_show(value) else None
    return value if is_number(value) else None


def reported_text(reported: Reported) -> str:
    """Return what is reported as one text: `rollout IN_PROGRESS, 1 of 3 running, 4 failed`."""
    texts: list[str] = []
    for word, value in reported.items():
        if word == BECAUSE and texts:
            # Several may have one reason.
            reasons = dict.fromkeys(value if isinstance(value, list) else [value])
            texts[-1] += f" ({_text([*reasons])})"
        else:
            texts.append(_in_words(word, value))
    return printable(", ".join(texts))


def _in_words(word: str, value: Any) -> str:
    text = _text(value)
    if word == STATE:
        return text
    is_count = is_number(value) or re.fullmatch(_PART, text)
    return f"{text} {word}" if is_count else f"{word} {text}"


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

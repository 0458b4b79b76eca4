"""What of a response may be shown in messages, logs and reprs."""

from __future__ import annotations

from typing import Any

MAX_TEXT = 200
"""Characters of one value."""

MAX_ITEMS = 5
"""Items of a list; a longer one is not shown at all."""


def may_show(value: Any) -> bool:
    """Whether a value is small and plain enough to be shown."""
    if isinstance(value, list):
        return len(value) <= MAX_ITEMS and all(_is_plain(item) for item in value)
    return _is_plain(value)


def shown(value: Any) -> str | None:
    """The text of a value that an acceptor's path gave; None if it may not be shown."""
    if value is None or not may_show(value):
        return None
    return cut(value if isinstance(value, str) else repr(value))


def cut(text: str) -> str:
    """A text, cut at the limit."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))

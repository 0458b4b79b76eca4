"""What of parameters and responses may be shown in messages, logs and reprs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

MAX_TEXT = 200
"""Characters of one value of a response."""

MAX_ITEMS = 5
"""Items of a list; a longer one is not shown at all."""

MAX_PARAMETER = 100
"""Characters of one value of a parameter."""

MAX_PARAMETERS = 3
"""Values of parameters in one text."""


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


def counted(states: Any) -> str | None:
    """The states of more resources than may be listed, with their numbers: `28 up, 2 down`."""
    if not isinstance(states, list) or len(states) <= MAX_ITEMS:
        return None
    counts = Counter(map(str, states)).most_common()
    return cut(", ".join(f"{count} {state}" for state, count in counts[:MAX_ITEMS]))


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """A text, cut at the limit."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def printable(text: str) -> str:
    """A text, with escapes in place of characters that are not printable."""
    return text if text.isprintable() else repr(text)[1:-1]


def parameter_text(value: str) -> str:
    """The text of one value of a parameter, on one line."""
    # A line break in it would forge a line of the log.
    return cut(printable(value), MAX_PARAMETER)


def listed(values: Sequence[str], most: int = MAX_PARAMETERS) -> str:
    """The text of several values of a parameter: `i-0a1, i-0b2 and 7 more`."""
    if len(values) <= most:
        return ", ".join(map(parameter_text, values))
    # The number of the others takes a place of its own.
    visible = max(1, most - 1)
    texts = ", ".join(map(parameter_text, values[:visible]))
    return f"{texts} and {len(values) - visible} more"


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))

"""What of parameters and responses may be shown in messages, logs and reprs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

MAX_TEXT = 200
"""Characters of one value of a response."""

MAX_MESSAGE = 500
"""Characters of a message of a service, and of a cause."""

MAX_ITEMS = 5
"""Items of a list; a longer one is not shown at all."""

MAX_PARAMETER = 100
"""Characters of one value of a parameter."""

MAX_PARAMETERS = 3
"""Values of parameters in one text."""

_SIGNED = r"(?i)[?&](x-amz-(signature|credential|security-token)|signature|awsaccesskeyid)="


_WORD = r"\w"

_SECRETS = (
    # User names and passwords, and what may be signed, in URLs.
    (r"(?<=://)[^/\s\"'@]+@", ""),
    (r"(?<=://)([^\s\"'?]+)\?[^\s\"']*", r"\1"),
    (
        r"(?i)((?:secret|password|token|credential|accesskey)\w*)([\"']\s*:\s*[\"']?|=)[^\s\"',;&}]+",
        r"\1\2***",
    ),
    (r"(?<=\bBearer )[^\s\"',;]+", "***"),
    # Access keys, and what is as long and as mixed as their secrets and tokens.
    (r"\bA[A-Z]{3}[A-Z0-9]{16}\b", "***"),
    (
        # Nothing is read twice: a process may have written much.
        (
            r"(?<![A-Za-z0-9/+=])(?=[A-Z0-9/+=]*[a-z])(?=[a-z0-9/+=]*[A-Z])(?=[A-Za-z/+=]*[0-9])"
            r"[A-Za-z0-9/+=]{40,}"
        ),
        "***",
    ),
)


def may_show(value: Any) -> bool:
    """Whether a value is small and plain enough to be shown."""
    if isinstance(value, list):
        return len(value) <= MAX_ITEMS and all(_is_plain(item) for item in value)
    return _is_plain(value)


def is_signed_url(text: str) -> bool:
    """Whether a text is a presigned URL, which is a credential."""
    # An expression may reverse it.
    return "=" in text and any(re.search(_SIGNED, each) for each in (text, text[::-1]))


def without_secrets(text: str) -> str:
    """A text that other code composed, without what looks like credentials."""
    for pattern, replacement in _SECRETS:
        text = re.sub(pattern, replacement, text)
    return text


def shown(value: Any) -> str | None:
    """The text of a value that an acceptor's path gave; None if it may not be shown."""
    if value is None or not may_show(value):
        return None
    return cut(value if isinstance(value, str) else repr(value))


def state_text(observed: Any, words: str | None) -> str | None:
    """The state seen, as one text; None if it may not be shown.

    Args:
        observed: the value that the acceptors are about.
        words: the state in words, where the value does not tell it.
    """
    # Neither true nor false is a state.
    if observed is None or isinstance(observed, bool) or (words and observed in ("", [])):
        return words
    if isinstance(observed, list) and may_show(observed):
        # Where it is compared with a list of states.
        states = [str(each) for each in observed if not isinstance(each, bool)]
        return cut(", ".join(states)) or words or ("no item" if observed == [] else None)
    return shown(observed) or words


def counted(states: Any) -> str | None:
    """The states of more resources than may be listed, with their numbers: `28 up, 2 down`."""
    if not isinstance(states, list) or len(states) <= MAX_ITEMS:
        return None
    counts = Counter(map(str, filter(_is_plain, states))).most_common()
    return cut(", ".join(f"{count} {state}" for state, count in counts[:MAX_ITEMS])) or None


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """A text on one line, cut at the limit."""
    # It may be megabytes.
    text = printable(text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 3] + "..."


def message_text(text: str) -> str:
    """A message of a service, or a cause, on one line; of a long one the beginning and the end.

    The error of a traceback is at its end. What has been cut is not changed by another cut.
    """
    text = text.strip()
    whole = printable(text[: MAX_MESSAGE + 1])
    if len(whole) <= MAX_MESSAGE:
        return whole
    return f"{whole[:150]} [...] {printable(text[-350:])[-350:]}"


def says(text: str, message: str) -> bool:
    """Whether a text has a message in it; white space and a full stop at the end do not count."""
    words = " ".join(message.split()).rstrip(". \u2026")
    # No regular expression: a message may be megabytes.
    parts = f" {' '.join(text.split())} ".split(words) if words else []
    return any(
        not re.match(_WORD, one[-1:] or words[-1]) and not re.match(_WORD, other or words)
        for one, other in pairwise(parts)
    )


def printable(text: str) -> str:
    """A text, with escapes in place of characters that are not printable.

    Line breaks are among them: one of a service, or of a parameter, would forge a line of the log.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def parameter_text(value: str) -> str:
    """The text of one value of a parameter, on one line."""
    return cut(value, MAX_PARAMETER)


def listed(values: Sequence[str], most: int = MAX_PARAMETERS) -> str:
    """The text of several values of a parameter: `i-0a1, i-0b2 and 7 more`."""
    if len(values) <= most:
        return ", ".join(map(parameter_text, values))
    # The number of the others takes a place of its own.
    visible = max(1, most - 1)
    texts = ", ".join(map(parameter_text, values[:visible]))
    return f"{texts} and {len(values) - visible} more"


def is_number(value: Any) -> bool:
    """Return whether a value is a number: true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def flat(value: Any) -> list[Any]:
    """Return the items of a list and of those in it, but for None; of another value itself."""
    if isinstance(value, list):
        return [each for item in value for each in flat(item)]
    return [] if value is None else [value]


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return not is_signed_url(value)
    return isinstance(value, (int, float, bool))

"""What observers are told of a wait, and what it reports of the state seen: more than one value.

A definition names paths, each with a word: `{"state": "DBInstances[0].DBInstanceStatus", "pending":
"keys(DBInstances[0].PendingModifiedValues)"}` gives "available, pending DBInstanceClass".
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

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


# --- what observers are told of a wait -----------------------------------------------------------

EventKind = Literal["start", "attempt", "success", "failure", "timeout", "cancel", "exception"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEvent:
    """One step of a wait, as `on_attempt`, `on_event`, progress and logging get it.

    A wait that begins has exactly one `start`, an `attempt` for each call that ended in a response
    or an error, and exactly one of `success`, `failure`, `timeout`, `cancel` and `exception`,
    however it ends.

    Attributes:
        kind: the step. `timeout`: the time or the attempts are used up. `cancel`: the wait, its
            task or the batch around it was cancelled. `exception`: an error that is not a reply of
            the operation ended the wait, such as missing credentials, a bug in the caller's
            callable or hook, or Ctrl-C.
        wait_id: a number that all events of one wait have, and no other wait of the process.
        label: the resource: `s3 Bucket=my-bucket`.
        service: botocore's name of the service; None: the wait calls no client.
        waiter: the waiter's name.
        operation: the operation or the function that is called.
        attempt: the number of calls made so far.
        elapsed: seconds since the start of the wait.
        state: the state seen by the last attempt, as text, where it may be shown.
        reported: the values that the text is made of, each by its word, where the definition
            reports several (`boto.waiters#reports`); else empty.
        error: of an attempt, the code of its error or the name of its class, of another call with
            its name ("AssumeRole failed with AccessDenied"); of an end, the name of the class of
            the error that the wait raises. None: there is none.
        transient: of an attempt, whether that error is a transient one which is part of calling
            the operation: the wait goes on as if the attempt had seen nothing.
        message: of a transient error, its code with the service's message; of a success or failure
            that does not count yet, the state and why; for an end without success, the text of the
            error that the wait raises, if the wait composed that text.
        next_delay: seconds until the next attempt; None: there is none.
    """

    kind: EventKind
    wait_id: int
    waiter: str
    operation: str
    label: str = ""
    service: str | None = None
    attempt: int = 0
    elapsed: float = 0.0
    state: str | None = None
    reported: Reported = field(default_factory=dict, hash=False)
    error: str | None = None
    transient: bool = False
    message: str | None = None
    next_delay: float | None = None

"""The values of the attempts of an assertion, as its message shows them."""

from __future__ import annotations

import contextlib
import reprlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..calls.clock import current_time
from ..conditions.calls import value_of
from ..engine.redaction import cut

HISTORY_LINES: Final = 10
"""Changes of the value that a failure shows."""


@dataclass(slots=True)
class _Entry:
    """Consecutive attempts that gave the same."""

    since: float
    """Seconds from the start to the first of them."""
    text: str
    attempts: int = 1


class ValueHistory:
    """The values of the attempts, bounded in length and width."""

    def __init__(self) -> None:
        self.attempts = 0
        self.error: Exception | None = None
        """The error of the last attempt."""
        self._entries: deque[_Entry] = deque(maxlen=HISTORY_LINES)
        self._changes = 0
        self._now = current_time().clock()
        self._start = self._now()

    def recording(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return the callable, wrapped to record its values."""

        def recorded() -> Any:
            with self._recording_errors():
                value = call()
            self._record(value)
            return value

        return recorded

    def recording_async(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return the callable, wrapped to record its values after awaiting them."""

        async def recorded() -> Any:
            with self._recording_errors():
                value = await value_of(call)
            self._record(value)
            return value

        return recorded

    @contextlib.contextmanager
    def _recording_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.error = error
            self._add(f"raised {short(error)}")
            raise

    def _record(self, value: Any) -> None:
        self.error = None
        # As text at once: a list that has grown since would seem never to have changed.
        self._add(short(value))

    def _add(self, text: str) -> None:
        self.attempts += 1
        if self._entries and self._entries[-1].text == text:
            self._entries[-1].attempts += 1
            return
        self._changes += 1
        self._entries.append(_Entry(self._now() - self._start, text))

    def __str__(self) -> str:
        if not self._entries:
            return "there was no time for an attempt"
        lines = [
            f"last value: {self._entries[-1].text}",
            f"history of {self.attempts} attempt{'' if self.attempts == 1 else 's'}:",
        ]
        dropped = self._changes - len(self._entries)
        if dropped:
            lines.append(f"  ... {dropped} earlier values")
        for entry in self._entries:
            times = f"  ({entry.attempts} attempts)" if entry.attempts > 1 else ""
            lines.append(f"  {entry.since:9.3f} s  {entry.text}{times}")
        return "\n".join(lines)


def short(value: Any) -> str:
    """Return a value as text, whatever it is: the test asked for it."""
    return cut(_repr.repr(value))


_repr: Final = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 200
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = 20

"""The attempts of a wait that its timeline needs, while the wait runs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator

from ..outcome import LONGEST, TimelineEntry


class EarlierAttempts:
    """The attempts of a wait before its last one, in little memory.

    Each takes the four bytes of its time, which is exact to 1/250 s after a day; a text is kept
    where it differs from the one before.

    Args:
        first: the number of the first attempt that will be added.
    """

    __slots__ = ("_changes", "_first", "_state", "_times")

    def __init__(self, first: int) -> None:
        self._times = array("f")
        self._first = first
        self._state: str | None = None
        """The text of the last attempt."""
        self._changes: tuple[tuple[int, str | None], ...] = ()
        """Earlier texts, each with the number of the attempt that saw another."""

    def add(self, elapsed: float, state: str | None) -> None:
        """Add the next attempt."""
        times = self._times
        if state != self._state:
            if times:
                self._changes = (*self._changes, (self._first + len(times), self._state))
            self._state = state
        times.append(elapsed)
        if len(times) >= 2 * LONGEST or len(self._changes) > LONGEST:
            self._forget(len(times) - LONGEST)

    def _forget(self, number: int) -> None:
        del self._times[:number]
        self._first += number
        self._changes = tuple(each for each in self._changes if each[0] > self._first)

    def __iter__(self) -> Iterator[TimelineEntry]:
        """Yield the attempts in order, without those that a timeline has no place for."""
        changes = iter((*self._changes, (math.inf, self._state)))
        until, state = next(changes)
        too_many = len(self._times) - LONGEST + 1
        for place, elapsed in enumerate(self._times):
            attempt = self._first + place
            if attempt == until:
                until, state = next(changes)
            if place >= too_many:
                yield TimelineEntry(attempt, round(elapsed, 3), state)

"""Which of many waits are worth a call of their own, by what one call tells of all of them.

A *screen* is a call of a sibling operation that tells the states of many resources. It decides
nothing but whose turn it is: the outcome of a wait is decided on the wait's own call. In a
screened round, a wait has its own call if its state is not one that leaves it open, if the screen
does not mention it, or if this is the tenth round after the last call of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

FEWEST_WAITS: Final = 10
"""For fewer waits a screen is not worth its call."""

MOST_SCREENED: Final = 9
"""Rounds after a wait's own call in which a screen may take the place of the next one."""

FEWEST_OF_PAGE: Final = 4
"""Calls that a page has to save on average, or no further one is read."""

FIRST_PAGES: Final = 2
"""Pages that are always read, beside the first of each list."""


class ScreenPlan:
    """What the pages of one round tell.

    Args:
        ids: the identifier of each wait.
        leaves_open: whether a wait goes on in a state.
        lists: the lists to read, each of which has a page at least.

    Attributes:
        pages: those that were read.
    """

    def __init__(self, ids: Sequence[str], leaves_open: Callable[[str], bool], lists: int) -> None:
        self._ids = [each.lower() for each in ids]
        self._known = frozenset(self._ids)
        self._unseen = set(self._ids)
        self._leaves_open = leaves_open
        self._first_pages = lists + FIRST_PAGES
        self._most_pages = max(1, len(ids) // 3)
        self._open = 0
        self._fruitless = 0
        """Pages since the last one that told of any wait."""
        self._states: dict[str, str | None] = {}
        self.pages = 0

    @property
    def needs_more(self) -> bool:
        """Whether another page is worth its call."""
        # After pages that told of no wait, those that are left may be nowhere in the list.
        more = self._open // FEWEST_OF_PAGE if self._fruitless <= FIRST_PAGES else 0
        worth_it = min(self._most_pages, self._first_pages + more)
        return bool(self._unseen) and self.pages < worth_it

    def add_page(self, states: Mapping[str, Collection[str]]) -> None:
        """Note the states that a page tells, by identifier.

        Many services ignore case, and take the end of an ARN for the whole.
        """
        self.pages += 1
        found: dict[str, set[str]] = {}
        for name, told in states.items():
            for key in {name.lower(), name.lower().rpartition("/")[2]} & self._known:
                found.setdefault(key, set()).update(told)
        self._fruitless = 0 if found else self._fruitless + 1
        for each, told in found.items():
            # Of two resources with one identifier, one that has ended is enough.
            before = self._states.get(each, "")
            is_open = before is not None and all(map(self._leaves_open, told))
            self._states[each] = min(told) if is_open else None
            self._open += is_open - bool(before)
        self._unseen -= found.keys()

    def open_states(self) -> list[str | None]:
        """Return the state that leaves each wait open; None for one that is worth its own call."""
        return [self._states.get(each) for each in self._ids]


class ScreenBalance:
    """Whether the screens of some waits have saved more calls than they cost."""

    def __init__(self) -> None:
        self._saved = 0

    def add(self, waits: int, saved: int, pages: int) -> bool:
        """Return whether screens are worth their calls, after a round of so many waits."""
        self._saved += saved - pages
        # A list may be behind at first.
        return self._saved > -max(5, waits // 10)

"""Signals inside a process: what makes waits look again at once."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Final


class Board:
    """What everybody who knows a signal shares.

    Attributes:
        changed: guards the rest, and wakes who blocks.
        count: how often the signal came.
        listeners: who is called when it comes.
    """

    __slots__ = ("__weakref__", "changed", "count", "listeners")

    def __init__(self) -> None:
        self.count = 0
        self.reset()
        _all_boards.add(self)

    def reset(self) -> None:
        """Begin anew in a child after a fork: who held the lock there is not here."""
        # Re-entrant: a finalizer or a handler of the system's signals may notify at any point.
        self.changed = threading.Condition(threading.RLock())
        self.listeners: dict[object, Callable[[], object]] = {}

    def notify(self) -> None:
        """The signal came."""
        with self.changed:
            self.count += 1
            self.changed.notify_all()
            listeners = tuple(self.listeners.values())
        for listener in listeners:
            listener()


_boards: Final[weakref.WeakValueDictionary[Hashable, Board]] = weakref.WeakValueDictionary()
_all_boards: Final[weakref.WeakSet[Board]] = weakref.WeakSet()
_naming = threading.RLock()


class Signal:
    """Tells waits that it may be time to look again: `Signal("buffer").notify()`.

    Give it as `wake_signal=` to any wait, or as `signal=` (the name alone will do) to a general
    form. It says nothing about the state: a wait that is woken looks, and goes on waiting if need
    be. A signal between a look and the sleep behind it counts; each of several waits has it.
    Safe to use from any thread and task; it does not reach other processes.

    Args:
        name: anything hashable: signals of one name are one signal, all over the process. Without
            a name it is one of its own.

    Raises:
        TypeError: the name is not hashable.
    """

    __slots__ = ("_board", "name")

    def __init__(self, name: Hashable = None, /) -> None:
        self.name = name
        self._board = Board() if name is None else _board_of(name)

    def notify(self) -> None:
        """Make every wait on this signal look again at once."""
        self._board.notify()

    set = notify
    """The same by the name that `threading.Event` has for it."""

    def subscribe(self) -> Subscription:
        """The signal as one wait sees it, from now on."""
        return Subscription(self._board)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signal) and self._board is other._board

    def __hash__(self) -> int:
        return hash(self._board)

    def __reduce__(self) -> Any:
        raise TypeError("a Signal reaches one process only: it cannot be pickled or copied")

    def __repr__(self) -> str:
        return f"Signal({'' if self.name is None else repr(self.name)})"


class Subscription:
    """A signal as one wait sees it: whether it came since the wait began to look last."""

    __slots__ = ("_board", "_seen")

    def __init__(self, board: Board) -> None:
        self._board = board
        self._seen = board.count

    def is_set(self) -> bool:
        """Whether the signal came."""
        return self._board.count != self._seen

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until the signal comes, at most `timeout` seconds; whether it came."""
        with self._board.changed:
            return self._board.changed.wait_for(self.is_set, timeout)

    def clear(self) -> None:
        """Forget that it came; called before a look, so that what comes during the look counts."""
        self._seen = self._board.count

    def listen(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have a function called whenever the signal comes, in the thread it comes from.

        Args:
            callback: must neither block nor raise.

        Returns:
            A function that ends it.
        """
        board, key = self._board, object()
        with board.changed:
            board.listeners[key] = callback

        def stop() -> None:
            with board.changed:
                board.listeners.pop(key, None)

        return stop


def _board_of(name: Hashable) -> Board:
    with _naming:
        board = _boards.get(name)
        if board is None:
            board = _boards[name] = Board()
        return board


def _reset_all() -> None:
    global _naming  # noqa: PLW0603 - who held it does not live in the child
    _naming = threading.RLock()
    for board in list(_all_boards):
        board.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)

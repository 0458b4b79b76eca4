"""Signals inside a process: what makes waits look again at once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Final


class _Board:
    """What everybody who knows a signal shares.

    Attributes:
        changed: guards the rest, and wakes who blocks.
        count: how often the signal came.
        listeners: who is called when it comes.
    """

    __slots__ = ("__weakref__", "changed", "count", "listeners")

    def __init__(self) -> None:
        # Re-entrant: a finalizer or a handler of the system's signals may notify at any point.
        self.changed = threading.Condition(threading.RLock())
        self.count = 0
        self.listeners: dict[object, Callable[[], object]] = {}


_boards: Final[weakref.WeakValueDictionary[Hashable, _Board]] = weakref.WeakValueDictionary()
_naming: Final = threading.RLock()


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
        self._board = _Board() if name is None else _board_of(name)

    def notify(self) -> None:
        """Make every wait on this signal look again at once."""
        board = self._board
        with board.changed:
            board.count += 1
            board.changed.notify_all()
            listeners = tuple(board.listeners.values())
        for listener in listeners:
            listener()

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

    def __init__(self, board: _Board) -> None:
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


def _board_of(name: Hashable) -> _Board:
    with _naming:
        board = _boards.get(name)
        if board is None:
            board = _boards[name] = _Board()
        return board

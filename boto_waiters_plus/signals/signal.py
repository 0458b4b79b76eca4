"""Signals inside a process, and the subscriptions of waits to them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final

from ..common.process import ProcessLock, renew_in_forks

if TYPE_CHECKING:
    from typing_extensions import Self


class Signal:
    """Ends the delays of waits, so that they poll at once: `Signal("buffer").notify()`.

    Pass it as `wake_signal=` to any wait, or as `signal=` (its name is enough) to a general form.
    A signal carries no state: a wait that it wakes polls, and continues if it must. A notification
    during an attempt counts, and each of several waits gets it. A signal may be used from any
    thread and task, and does not reach other processes.

    Args:
        name: any hashable value; a process has one signal of each name. Without a name the signal
            is a new one.

    Raises:
        TypeError: the name is not hashable.
    """

    name: Hashable
    count: int
    """The number of notifications."""

    def __new__(cls, name: Hashable = None, /) -> Self:
        """Return the signal of this name."""
        with _lock:
            signal = None if name is None else _named.get(name)
            if signal is None:
                signal = object.__new__(cls)
                signal.name, signal.count = name, 0
                renew_in_forks(signal.renew)
                if name is not None:
                    _named[name] = signal
            return signal

    def renew(self) -> None:
        """Start without the lock and the listeners of the parent process."""
        # Re-entrant: a finalizer or a signal handler may notify at any point.
        self.changed = threading.Condition(threading.RLock())
        self.listeners: dict[object, Callable[[], object]] = {}

    def notify(self) -> None:
        """Make every wait on this signal poll at once."""
        with self.changed:
            self.count += 1
            self.changed.notify_all()
            listeners = tuple(self.listeners.values())
        for listener in listeners:
            listener()

    set = notify
    """`notify` by the name that it has in `threading.Event`."""

    def subscribe(self) -> Subscription:
        """Return a subscription for one wait, from now on."""
        return Subscription(self)

    def __reduce__(self) -> Any:
        raise TypeError("a signal belongs to one process: it cannot be pickled or copied")

    def __repr__(self) -> str:
        return f"Signal({'' if self.name is None else repr(self.name)})"


class Subscription:
    """The subscription of one wait: whether the signal was notified since the last `clear`.

    Args:
        signal: the signal.
        end: called once, by `unsubscribe` or when the last reference is lost.
    """

    def __init__(self, signal: Signal, end: Callable[[], object] = lambda: None) -> None:
        self._signal = signal
        self._seen = signal.count
        self.unsubscribe = weakref.finalize(self, end)
        self.unsubscribe.atexit = False

    def is_set(self) -> bool:
        """Return whether the signal was notified."""
        return self._signal.count != self._seen

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until the signal is notified, at most `timeout` seconds; return `is_set()`."""
        with self._signal.changed:
            return self._signal.changed.wait_for(self.is_set, timeout)

    def clear(self) -> None:
        """Reset it; called before an attempt, so that a notification during the attempt counts."""
        self._seen = self._signal.count

    def listen(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call a function at each notification, in the thread that notifies.

        Args:
            callback: must neither block nor raise.

        Returns:
            A function that ends it.
        """
        signal, key = self._signal, object()
        with signal.changed:
            signal.listeners[key] = callback

        def stop() -> None:
            with signal.changed:
                signal.listeners.pop(key, None)

        return stop


_lock: Final = ProcessLock()
_named: Final[weakref.WeakValueDictionary[Hashable, Any]] = weakref.WeakValueDictionary()

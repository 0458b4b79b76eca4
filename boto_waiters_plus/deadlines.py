"""One total budget for every wait inside a block."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from .common.arguments import answers_other_names, time_bound
from .common.time_bounds import TimeBound
from .common.wrong_arguments import Keyword, WrongTypeError

if TYPE_CHECKING:
    from typing_extensions import Self

ResultT = TypeVar("ResultT")

_ends: contextvars.ContextVar[tuple[tuple[float, str | None, deadline], ...]]
_ends = contextvars.ContextVar("boto_waiters_plus_deadlines", default=())

_MEANT = "the seconds as a positional argument"
_OTHER_NAMES: dict[str, str] = dict.fromkeys(("timeout", "max_wait", "MaxWait", "maxwait"), _MEANT)


class deadline:  # noqa: N801 - reads as `with deadline(600):`
    """A total budget for all waits inside: `with deadline(600): ...`.

    It bounds every wait that is started inside, `get_waiter` and the forms of `conditions`
    included. A wait that starts after the deadline raises `WaiterTimeoutError` without a request.
    Plain client calls are not bounded. The earliest of nested deadlines wins. Tasks that are
    created inside inherit the deadline. Other threads do not: there, call `d.run(fn, ...)` or enter
    `with d:`, where `d` is the deadline.

    Args:
        seconds: seconds (or a `timedelta`), counted from the first time the block is entered; 0 or
            less: the deadline has passed already.

    Raises:
        TypeError: not a number.
        ValueError: not finite.
    """

    @answers_other_names(_OTHER_NAMES, "deadline")
    def __init__(self, seconds: float | timedelta, /) -> None:
        self._seconds = time_bound("seconds", seconds)
        self._name: str | None = f"deadline({self._seconds:.12g})"
        self._lock = threading.Lock()
        self._end: float | None = None

    @property
    def remaining(self) -> float:
        """The seconds left, never negative; the full budget before it is first entered."""
        if self._end is None:
            return max(0, self._seconds)
        return max(0.0, self._end - time.monotonic())

    def run(
        self, function: Callable[..., ResultT], /, *args: object, **keywords: object
    ) -> ResultT:
        """Call `function(*args, **keywords)` under this deadline, from any thread.

        Returns:
            The value that the function returns.
        """
        with self:
            return function(*args, **keywords)

    def __enter__(self) -> Self:
        with self._lock:
            if self._end is None:
                self._end = time.monotonic() + self._seconds
        _ends.set((*_ends.get(), (self._end, self._name, self)))
        return self

    def __exit__(self, *_: object) -> None:
        # No token: an async generator may leave the block in another context than it entered.
        ends, own = list(_ends.get()), (self._end, self._name, self)
        if own in ends:
            ends.remove(own)
        _ends.set(tuple(ends))


def deadline_of(bound: TimeBound) -> deadline:
    """Return a deadline that passes with a bound, in whose words the waits inside end."""
    made = deadline(bound.seconds)
    made._name = bound.end  # noqa: SLF001 - of this module
    return made


def leave_deadlines() -> None:
    """Let no deadline bound what is started in this context from now on."""
    _ends.set(())


def effective_max_wait(waiter: str, max_wait: object, besides: deadline | None = None) -> TimeBound:
    """Return `max_wait`, cut to the deadline around the caller.

    Section "Waiter workflow" demands that the caller gives a time bound; a deadline is one too.

    Args:
        waiter: the name of the wait in messages.
        max_wait: the caller's value, or what is left of it; None if it was not given.
        besides: a deadline that does not count.

    Returns:
        The bound; not positive where the time is over already: the wait times out without a
        request.

    Raises:
        TypeError: neither is given, or it is not a number.
        ValueError: not finite.
    """
    left = deadline_left(besides)
    if isinstance(max_wait, TimeBound):
        return max_wait.within(left)
    if max_wait is not None:
        return TimeBound(time_bound("max_wait", max_wait)).within(left)
    if left is None:
        raise no_max_wait(waiter)
    return left


def no_max_wait(waiter: str) -> WrongTypeError:
    """Return the error of a wait that is given no time bound."""
    rest = ", the number of seconds to wait at most"
    return WrongTypeError(f"{waiter} needs ", Keyword("max_wait"), rest)


def deadline_left(besides: deadline | None = None) -> TimeBound | None:
    """Return what is left of the nearest deadline, negative if it has passed; None without one."""
    ends = [each for each in _ends.get() if each[2] is not besides]
    if not ends:
        return None
    end, name, _ = min(ends, key=itemgetter(0))
    return TimeBound(end - time.monotonic(), end=name)

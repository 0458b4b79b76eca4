"""What only the thread of the caller can do, such as to ask somebody at the terminal.

A call of a client may be made in another thread. The thread that waits for it has a `CallersThread`
in the context of the call, which takes what is to be done there.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, ContextVar
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from botocore.exceptions import RefreshWithMFAUnsupportedError

T = TypeVar("T")


class NoCodeError(RefreshWithMFAUnsupportedError):
    """The credentials need an MFA code, which cannot be asked for."""

    fmt = "an MFA code is needed to refresh the credentials, and {reason}"


class Caller(Protocol):
    """Does what is to be done in the thread of the caller."""

    thread_id: int
    is_closed: bool
    """Whether the thread has stopped waiting."""

    def ask(self, question: Callable[[], T], /) -> T:
        """Return what a function returns in the thread of the caller, or raise what it raises."""
        ...


_caller: Final[ContextVar[Caller | None]] = ContextVar("boto_waiters_plus_caller", default=None)


def current_caller() -> Caller | None:
    """Return what asks in the thread of the caller; None: this is the thread."""
    return _caller.get()


class CallersThread:
    """Lets other threads ask in this one, which waits for them.

    Args:
        post: takes what is to be called in this thread, from any other.
    """

    def __init__(self, post: Callable[[Callable[[], None]], object]) -> None:
        self.thread_id = threading.get_ident()
        self._post = post
        self._open: deque[Future[Any]] = deque()
        self.is_closed = False

    def ask(self, question: Callable[[], T], /) -> T:
        """Return what a function returns in the thread of the caller, or raise what it raises.

        Raises:
            CancelledError: the thread has stopped waiting.
        """
        if threading.get_ident() == self.thread_id:
            return question()
        answer: Future[T] = Future()
        self._open.append(answer)
        if self.is_closed:
            answer.cancel()
        else:
            self._post(partial(_answer, question, answer))
        return answer.result()

    def close(self) -> None:
        """Stop waiting; questions that were not asked yet are cancelled."""
        self.is_closed = True
        for answer in list(self._open):
            answer.cancel()


class NoCaller:
    """Stands for the caller of a call in the background, who is somewhere else by now."""

    thread_id = 0
    is_closed = False

    def ask(self, _: Callable[[], T], /) -> T:
        """Raise `NoCodeError`."""
        raise NoCodeError(reason="a wait in the background cannot ask for it")


def ask_caller_in(context: Context, caller: Caller) -> None:
    """Let what runs in a context ask a caller, unless another thread waits for it already."""
    outer = context.run(_caller.get)
    if outer is None or outer.is_closed or outer.thread_id == threading.get_ident():
        context.run(_caller.set, caller)


def forget_caller_in(context: Context) -> None:
    """Let nothing that runs in a context ask: it runs in the background."""
    context.run(_caller.set, NoCaller())


def _answer(question: Callable[[], T], answer: Future[T]) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(question())
    except BaseException as error:
        answer.set_exception(error)
        # Ctrl-C is meant for this thread, too.
        if not isinstance(error, Exception):
            raise

"""A thread for one call, which can be left behind, and the way back to the thread of the caller.

A call of a client may be made in another thread. The thread that waits for it has a `CallersThread`
in the context of the call, which takes what is to be done there.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, ContextVar
from functools import partial
from typing import Any, Final, TypeVar

from botocore.exceptions import RefreshWithMFAUnsupportedError

from ..common.process import start_thread
from .budget import CallBudget

T = TypeVar("T")

Post = Callable[[Callable[[], None]], object]
"""Takes what is to be called in one thread, from any other."""


class NoCodeError(RefreshWithMFAUnsupportedError):
    """The credentials need an MFA code, which cannot be asked for."""

    fmt = "an MFA code is needed to refresh the credentials, and {reason}"


_caller: Final[ContextVar[Caller | None]] = ContextVar("boto_waiters_plus_caller", default=None)


def current_caller() -> Caller | None:
    """Return what asks in the thread of the caller; None: this is the thread."""
    return _caller.get()


class CallersThread:
    """Lets other threads ask in this one, which waits for them.

    Args:
        post: takes what is to be called in this thread, from any other.
    """

    def __init__(self, post: Post) -> None:
        self.thread_id = threading.get_ident()
        self._post = post
        self._open: deque[Future[Any]] = deque()
        self.is_closed = False
        """Whether the thread has stopped waiting."""

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


Caller = CallersThread | NoCaller
"""Does what is to be done in the thread of the caller."""


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


# --- a function that runs in a thread of its own and can be left behind there --------------------


def start(
    function: Callable[[], T], name: str, post: Post, notify: Callable[[], object]
) -> tuple[threading.Thread | None, Future[T], CallersThread]:
    """Start a daemon thread for a function, which has the context variables of this thread.

    Args:
        function: what runs; it may ask in this thread, see `CallersThread`.
        name: of the thread.
        post: takes what is to be called in this thread.
        notify: called in the thread when the function is over.

    Returns:
        The thread, or None if none can be started; what becomes of the function; and what it asks,
        to be closed once nothing waits for it.
    """
    future: Future[T] = Future()
    context, caller = contextvars.copy_context(), CallersThread(post)
    ask_caller_in(context, caller)
    run = partial(context.run, run_into, future, function, notify)
    return start_thread(run, name), future, caller


def run_into(future: Future[T], function: Callable[[], T], notify: Callable[[], object]) -> None:
    """Run a function in this thread; see `start`."""
    try:
        future.set_result(function())
    # The waiting thread raises it, whatever it is.
    except BaseException as error:
        future.set_exception(error)
    # The traceback of an error has this frame.
    del future
    notify()


def abandonable_call(
    function: Callable[[], T],
    budget: CallBudget,
    *,
    discard: Callable[[T], object] | None = None,
    name: str,
) -> T:
    """Run a function in a daemon thread, and abandon it when the budget is used up.

    Args:
        function: what runs; in the calling thread if no thread can be started.
        budget: bounds the wait for the function.
        discard: takes a result that comes after the function was abandoned.
        name: of the thread.

    Returns:
        What the function returned. What it raised is raised.

    Raises:
        CallExpired: the budget was used up before.
    """
    posted: deque[Callable[[], None]] = deque()

    def post(answer: Callable[[], None]) -> None:
        posted.append(answer)
        budget.wake()

    def drop(over: Future[T]) -> None:
        if discard is not None and over.exception() is None:
            discard(over.result())

    thread, future, caller = start(function, name, post, budget.wake)
    if thread is None:
        budget.relies_on_timeouts = True
        return function()
    error: BaseException | None = None
    is_done = future.done
    try:
        budget.wait_for(lambda: bool(posted) or is_done())
        while posted:
            posted.popleft()()
            budget.wait_for(lambda: bool(posted) or is_done())
        error = future.exception()
        if error is not None:
            raise error
        return future.result()
    except BaseException:
        future.add_done_callback(drop)
        raise
    finally:
        caller.close()
        # The traceback of the error has this frame.
        del future, error

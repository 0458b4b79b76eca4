"""A function that runs in a thread of its own and can be left behind there."""

from __future__ import annotations

import contextlib
import contextvars
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from functools import partial
from typing import TypeVar

from ..common.process import start_thread
from .call_budget import CallBudget
from .callers_thread import CallersThread, ask_caller_in

T = TypeVar("T")


def abandonable_call(
    function: Callable[[], T],
    budget: CallBudget,
    *,
    discard: Callable[[T], object] = lambda _: None,
    name: str,
) -> T:
    """Run a function in a daemon thread, and abandon it when the budget is used up.

    It has the context variables of the calling thread, and may ask in it; see `callers_thread`.

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
    future: Future[T] = Future()
    context = contextvars.copy_context()
    posted: deque[Callable[[], None]] = deque()

    def post(answer: Callable[[], None]) -> None:
        posted.append(answer)
        budget.wake()

    caller = CallersThread(post)
    ask_caller_in(context, caller)
    run = partial(_run, function, future, discard, budget)
    if start_thread(lambda: context.run(run), name) is None:
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
        if not future.cancel() and future.exception() is None:
            discard(future.result())
        raise
    finally:
        caller.close()
        # The traceback of the error has this frame.
        del future, error


def _run(
    function: Callable[[], T], future: Future[T], discard: Callable[[T], object], budget: CallBudget
) -> None:
    try:
        result = function()
    # The waiting thread raises it, whatever it is.
    except BaseException as error:
        # Unless the function was abandoned.
        with contextlib.suppress(InvalidStateError):
            future.set_exception(error)
    else:
        try:
            future.set_result(result)
        except InvalidStateError:
            discard(result)
    # The traceback of an error has this frame, too.
    del future
    budget.wake()

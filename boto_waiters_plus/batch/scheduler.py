"""The blocking driver of many waits."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from ..calls.clock import IdleQueue, current_time
from ..calls.threads import run_into, start
from ..options import CancelEvent
from .call_executor import FORKED, LONGEST_BLOCK, ThreadCallExecutor
from .groups import FinishedCall, Task
from .schedule import Schedule

ItemT = TypeVar("ItemT")


def run_waits(
    run: Schedule,
    tasks: Sequence[Task],
    *,
    context: contextvars.Context | None = None,
    stop: threading.Event | None = None,
) -> Generator[Task, None, None]:
    """Run many waits in the calling thread.

    Closing the generator ends them all at once, and the calls in flight as far as possible.

    Args:
        run: the schedule.
        tasks: the waits.
        context: the context variables that the calls see.
        stop: set when replies are no longer needed.

    Yields:
        Each wait when it has ended.

    Raises:
        BaseException: a call raised this, and it is not an `Exception`.
    """
    executor = ThreadCallExecutor(run.now, context, stop=stop)
    finished: Sequence[FinishedCall] = ()
    try:
        run.add(tasks)
        while True:
            yield from run.turn(finished, executor.begin)
            if not run.open:
                return
            finished = _wait(run, executor)
    finally:
        executor.close()
        run.close()


def _wait(run: Schedule, executor: ThreadCallExecutor) -> Sequence[FinishedCall]:
    """Wait for a reply, for the next turn, or for an event."""
    if not run.queue.calling:
        _sleep(run)
        return ()
    end, seconds = run.next_turn(LONGEST_BLOCK)
    finished = executor.finished(seconds)
    if not finished:
        run.now.is_at_least(end)
    return finished


def _sleep(run: Schedule) -> None:
    source, events = current_time(), run.events.watched
    # Only one event can end a sleep; several are checked in turns.
    end, seconds = run.next_turn(check_events=len(events) > 1)
    if not events:
        source.sleep(seconds, None)
    elif _is_set_within(seconds, events[0]):
        run.events.check_at_once()
        return
    run.now.is_at_least(end)


def _is_set_within(seconds: float, event: CancelEvent) -> bool:
    try:
        return current_time().sleep_on(seconds, event)
    # The check of the events ends the waits of one that fails.
    except Exception:
        return True


def run_in_thread(
    run: Generator[ItemT, None, None],
    stop: threading.Event,
    ready: IdleQueue[Any],
) -> Generator[ItemT, None, None]:
    """Iterate over a run in a thread of its own, so that it goes on while the caller is busy.

    Args:
        run: ends soon after `stop` is set.
        stop: set when the generator is closed.
        ready: what others put in here is yielded too, in order, and what calls ask the caller; an
            error is raised.
    """

    def work() -> None:
        for item in run:
            ready.put(item)

    notify = partial(ready.put, None)
    thread, over, calling = start(work, "schedule", ready.put, notify)
    if thread is None:
        run_into(over, work, notify)
    try:
        yield from _items(ready, thread)
        over.result()
    finally:
        stop.set()
        calling.close()
        # A callback may close the run, and so may the garbage collector, in any thread.
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _items(ready: IdleQueue[Any], thread: threading.Thread | None) -> Iterator[Any]:
    while True:
        was_alive = thread is not None and thread.is_alive()
        try:
            item = ready.get(timeout=LONGEST_BLOCK)
        except queue.Empty:
            if not was_alive:
                raise RuntimeError(FORKED) from None
            continue
        if item is None:
            return
        if isinstance(item, BaseException):
            # Of a callback.
            raise item
        yield item

"""Drive many waits: in the calling thread, in a task, or in a thread beside the caller."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

from ..calls.clock import IdleQueue
from ..calls.threads import run_into, start
from .executors import FORKED, LONGEST_BLOCK, LoopExecutor, ThreadExecutor
from .schedule import Schedule
from .tasks import Task

Sink = Callable[[Task], object]
"""Takes each wait when it has ended."""


def turns(
    run: Schedule, tasks: Sequence[Task], executor: ThreadExecutor, sink: Sink
) -> Generator[None, None, None]:
    """Run many waits in the calling thread, which has its turn after each of the schedule's.

    Closing the generator ends them all at once, and the calls in flight as far as possible.

    Raises:
        BaseException: a call raised this, and it is not an `Exception`.
    """
    try:
        run.add(tasks)
        while run.turn(executor, sink):
            yield
            executor.wait(run)
        yield
    finally:
        executor.close()
        run.close()


async def run_waits_async(
    run: Schedule, tasks: Sequence[Task], executor: LoopExecutor, sink: Sink
) -> None:
    """Run many waits as part of the calling task; see `turns`."""
    try:
        run.add(tasks)
        while run.turn(executor, sink):
            await executor.wait(run)
    finally:
        # Before the `await`, which may be cancelled.
        run.close()
        await executor.close()


def run_in_thread(
    work: Callable[[], object], stop: threading.Event, ready: IdleQueue[Any]
) -> Generator[Any, None, None]:
    """Yield what is put into a queue while a run goes on in a thread of its own.

    So it goes on while the caller is busy.

    Args:
        work: the run; it ends soon after `stop` is set.
        stop: set when the generator is closed.
        ready: the queue; what calls ask the caller comes among the rest, and an error is raised.
    """
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

"""Many waits at once: `wait_all`, `wait_any`, `as_completed` and their asyncio twins.

All of them run on a few threads and step every wait in one thread. Each wait keeps its own
schedule, acceptors and budget, and ends as it would alone. Beside what `drivers.schedule` says of
calls at once:

- Time runs for all waits from the start, also for one whose first call has to queue.
- A callback of the caller's (`on_attempt`, `on_event`, `progress`) that raises does not end a
  wait: the first error of each is logged, and one RuntimeWarning tells of them at the end.
- What the port of a wait raises as it is (bad parameters, no credentials) is that wait's error.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import logging
import math
import pickle
import sys
import threading
import warnings
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from .attach import attachment_of, find_waiter, is_async
from .aws.port import AsyncClientPort, ClientPort, subject_of
from .aws.private_names import marked_as_waiter
from .aws.scope import Scope
from .aws.waiters import BoundWaiter
from .deadline import seconds_left
from .drivers.clock import SIGNAL_SLICE, SYSTEM_TIME, current_time
from .drivers.course import Course, Observer, Subject
from .drivers.schedule import Lane, Pool, Task
from .drivers.scheduler import DEFAULT_THREADS, Scheduler, Workers, run_in_thread
from .drivers.scheduler_async import AsyncScheduler, run_in_task
from .engine.machine import Policy
from .engine.model import WaiterDefinition
from .exceptions import WaiterCancelledError, WaiterError
from .install import _installed_scope
from .options import (
    NO_OPTIONS,
    CancelEvent,
    Seconds,
    WaitOptions,
    policy_for,
    seconds,
    split_options,
)
from .outcome import WaiterOutcome
from .progress import Progress, ProgressTable, WaitProgress

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger("boto_waiters_plus")

MOST_NAMED: Final = 20
"""Failures that the message of a `WaitersError` words; `errors` has them all."""

DEFAULT_CONNECTIONS: Final = 10
"""Calls at once on a client that does not say how many connections it keeps."""

ProgressCallback = Callable[[WaitProgress], object]
Result = WaiterOutcome[Any] | Exception
OnFailure = Literal["raise", "collect", "cancel"]


class WaitersError(WaiterError):
    """Some of many waits did not succeed.

    On Python 3.11 and later its cause is an ExceptionGroup of the errors, before that the first
    of them.

    Attributes:
        errors: the error of each wait that did not succeed, by its place among the waits.
        outcomes: the outcomes in the order of the waits; None for those that did not succeed.
    """

    def __init__(
        self,
        name: str,
        reason: str,
        last_response: Mapping[str, Any] | None = None,
        *,
        errors: Mapping[int, Exception] | None = None,
        outcomes: Sequence[WaiterOutcome[Any] | None] = (),
        **facts: Any,
    ) -> None:
        super().__init__(name, reason, last_response, **facts)
        self.errors = dict(errors or {})
        self.outcomes = list(outcomes)

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild, arguments, state = super().__reduce__()
        errors = {index: _as_can_be_pickled(error) for index, error in self.errors.items()}
        return rebuild, arguments, {**state, "errors": errors}


def _as_can_be_pickled(error: Exception) -> Exception:
    """The error, or what stands for one that cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes of a moment ago
    # Whatever a foreign object's pickling raises, ours must go through.
    except Exception:
        return RuntimeError(f"{type(error).__name__}, which could not be pickled")
    return error


class Wait:
    """One wait to be run with others; checked when it is made, and never changed by a run.

    Args:
        client: a botocore client.
        waiter: `"BucketExists"` or `"bucket_exists"`.
        parameters: the operation's parameters.
        max_wait: seconds (or a `timedelta`) to wait at most, from the start of the run. May be
            left out where the run has a `max_wait`, or a `deadline` around it.
        options: fields of `WaitOptions`.

    Raises:
        TypeError: not a client, or an option is of the wrong kind.
        ValueError: no such waiter, or an option out of range.
    """

    __slots__ = ("_bound", "client", "max_wait", "options", "parameters")

    def __init__(
        self,
        client: Any,
        waiter: str,
        parameters: Mapping[str, Any],
        /,
        *,
        max_wait: Any = None,
        **options: Any,
    ) -> None:
        if not isinstance(waiter, str):
            raise TypeError(f"waiter must be a waiter's name, not {type(waiter).__name__}")
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must be a mapping, not {type(parameters).__name__}")
        self._bound = find_waiter(client, waiter, _installed_scope)
        self.client = client
        self.parameters: Mapping[str, Any] = dict(parameters)
        self.max_wait = None if max_wait is None else seconds("max_wait", max_wait)
        self.options = _only_options(options)
        # For what it raises.
        self._policy(_scope_of(client), self.max_wait or 1)
        self._bound.warn_if_deprecated()

    @property
    def definition(self) -> WaiterDefinition:
        """The definition of the waiter."""
        return self._bound.definition

    @property
    def waiter(self) -> str:
        """The name of the waiter."""
        return self._bound.definition.name

    def __repr__(self) -> str:
        # The parameters stay out: reprs end up in logs.
        service = self._bound.operation.service_model.service_name
        return f"Wait({service} {self.waiter}, max_wait={self.max_wait})"

    def _port(self, cancel: CancelEvent) -> ClientPort | AsyncClientPort:
        port = ClientPort(self.client, self._bound, self.parameters, cancel=cancel)
        return AsyncClientPort(port) if is_async(type(self.client)) else port

    def _policy(self, scope: Scope, max_wait: float) -> tuple[Policy, WaitOptions]:
        options = self.options.over(scope.defaults)
        return policy_for(self._bound.definition, options, max_wait), options


@overload
def wait_all(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["raise", "cancel"] = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> list[WaiterOutcome[Any]]: ...
@overload
def wait_all(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["collect"],
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> list[Result]: ...
def wait_all(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: OnFailure = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> list[Any]:
    """Wait for all of many waits.

    Args:
        waits: the waits; none twice.
        max_wait: seconds (or a `timedelta`) for all of them together; each keeps its own bound
            where that is the nearer.
        on_failure: `"raise"`: run every wait to its end, then raise if any did not succeed, so
            that all that went wrong is told at once. `"cancel"`: stop the rest as soon as one
            does not succeed, then raise. `"collect"`: raise nothing, return the errors in the
            places of their waits.
        threads: calls at once, at most.
        progress: True draws a table on stderr (needs rich); a function is called with a
            `progress.WaitProgress` after each attempt and at each end.
        cancel_event: stops all waits when it is set.

    Returns:
        The outcomes in the order of the waits.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
        WaitersError: waits did not succeed; it names each, and has the outcomes of the others.
    """
    if on_failure not in ("raise", "collect", "cancel"):
        raise ValueError(f'on_failure must be "raise", "collect" or "cancel", not {on_failure!r}')
    batch = _Batch(waits, max_wait, threads, progress, cancel_event, name="wait_all")
    with batch:
        scheduler = batch.scheduler()
        with contextlib.closing(batch.noted(scheduler.run())) as ended:
            for task in ended:
                if on_failure == "cancel" and isinstance(task.result, Exception):
                    scheduler.cancel_rest()
    return batch.results() if on_failure == "collect" else batch.outcomes()


@overload
async def wait_all_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["raise", "cancel"] = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> list[WaiterOutcome[Any]]: ...
@overload
async def wait_all_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["collect"],
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> list[Result]: ...
async def wait_all_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: OnFailure = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> list[Any]:
    """`wait_all` from asyncio: aiobotocore clients are awaited, others are called in threads.

    Cancelling the task stops every wait at once.
    """
    if on_failure not in ("raise", "collect", "cancel"):
        raise ValueError(f'on_failure must be "raise", "collect" or "cancel", not {on_failure!r}')
    batch = _Batch(waits, max_wait, threads, progress, cancel_event, name="wait_all_async")
    with batch:
        scheduler = batch.async_scheduler()
        async with contextlib.aclosing(batch.noted_async(scheduler.run())) as ended:
            async for task in ended:
                if on_failure == "cancel" and isinstance(task.result, Exception):
                    scheduler.cancel_rest()
    return batch.results() if on_failure == "collect" else batch.outcomes()


def wait_any(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> tuple[Wait, WaiterOutcome[Any]]:
    """Wait for the first of many waits that succeeds, and stop the others.

    Args:
        waits, max_wait, threads, progress, cancel_event: see `wait_all`.

    Returns:
        The wait that succeeded first, and its outcome.

    Raises:
        TypeError, ValueError: before the first request, a bad argument; no waits at all.
        WaitersError: none succeeded.
    """
    batch = _Batch(waits, max_wait, threads, progress, cancel_event, name="wait_any")
    batch.needs_one()
    first = None
    with batch:
        scheduler = batch.scheduler()
        with contextlib.closing(batch.noted(scheduler.run())) as ended:
            for task in ended:
                if first is None and isinstance(task.result, WaiterOutcome):
                    first = batch.waits[task.index], task.result
                    scheduler.cancel_rest()
    if first is None:
        raise batch.error()
    return first


async def wait_any_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> tuple[Wait, WaiterOutcome[Any]]:
    """`wait_any` from asyncio; see `wait_all_async`."""
    batch = _Batch(waits, max_wait, threads, progress, cancel_event, name="wait_any")
    batch.needs_one()
    first = None
    with batch:
        scheduler = batch.async_scheduler()
        async with contextlib.aclosing(batch.noted_async(scheduler.run())) as ended:
            async for task in ended:
                if first is None and isinstance(task.result, WaiterOutcome):
                    first = batch.waits[task.index], task.result
                    scheduler.cancel_rest()
    if first is None:
        raise batch.error()
    return first


def as_completed(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> Generator[tuple[Wait, Result], None, None]:
    """Wait for many waits and give each as it ends.

    Polling begins when the first is asked for, and goes on in a thread of its own while the
    caller is busy with one; callbacks are called in that thread. In virtual time it goes on only
    while the next one is asked for.

    Args:
        waits, max_wait, threads, progress, cancel_event: see `wait_all`.

    Returns:
        An iterator of waits, each with its outcome or its error. Closing it (as leaving the loop
        does) stops the waits that have not ended.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
    """
    batch = _Batch(waits, max_wait, threads, progress, cancel_event, name="as_completed")

    def completed() -> Generator[tuple[Wait, Result], None, None]:
        with batch:
            run = batch.noted(batch.scheduler(batch.stop).run())
            if current_time() is SYSTEM_TIME:
                run = run_in_thread(run, batch.stop)
            with contextlib.closing(run) as ended:
                for task in ended:
                    yield batch.item(task)

    return completed()


def as_completed_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
) -> AsyncGenerator[tuple[Wait, Result], None]:
    """`as_completed` from asyncio: polling goes on in a task of its own; see `wait_all_async`."""
    batch = _Batch(waits, max_wait, threads, progress, cancel_event, name="as_completed_async")

    async def completed() -> AsyncGenerator[tuple[Wait, Result], None]:
        with batch:
            run = run_in_task(batch.noted_async(batch.async_scheduler().run()))
            async with contextlib.aclosing(run) as ended:
                async for task in ended:
                    yield batch.item(task)

    return completed()


class _Batch:
    """The waits of one call, from their check to their results."""

    def __init__(
        self,
        waits: Iterable[Wait],
        max_wait: Seconds | None,
        threads: int,
        progress: bool | ProgressCallback,  # noqa: FBT001 - of this module
        cancel_event: CancelEvent | None,
        *,
        name: str,
    ) -> None:
        self.waits = _checked(waits, name)
        self._name = name
        self._max_wait = None if max_wait is None else seconds("max_wait", max_wait)
        self._shared()  # For what it raises.
        self._threads = _thread_count(threads)
        self._cancels = _events(cancel_event)
        # Set when no answer is wanted any more.
        self.stop = threading.Event()
        self._callbacks = _Callbacks()
        self._progress = self._make_progress(progress)
        self._results: dict[int, Result] = {}

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.__exit__(kind, error, traceback)
        if error is None:
            self._callbacks.warn()

    def needs_one(self) -> None:
        """Refuse to wait for one of none."""
        if not self.waits:
            raise ValueError(f"{self._name} needs at least one wait")

    def scheduler(self, *stops: CancelEvent) -> Scheduler:
        """The blocking loop for the waits; their time begins with it."""
        return Scheduler(
            self._tasks(),
            threads=self._threads,
            cancels=[*self._cancels, *stops],
            crew=Workers(_context(), stop=self.stop),
        )

    def async_scheduler(self) -> AsyncScheduler:
        """The same for the running event loop."""
        return AsyncScheduler(
            self._tasks(),
            threads=self._threads,
            cancels=self._cancels,
            context=_context(),
            stop=self.stop,
        )

    def noted(self, run: Generator[Task, None, None]) -> Generator[Task, None, None]:
        """What a run yields, taken note of."""
        with contextlib.closing(run):
            for task in run:
                self._note(task)
                yield task

    async def noted_async(self, run: AsyncGenerator[Task, None]) -> AsyncGenerator[Task, None]:
        """What a run yields, taken note of."""
        async with contextlib.aclosing(run):
            async for task in run:
                self._note(task)
                yield task

    def item(self, task: Task) -> tuple[Wait, Result]:
        """A wait that ended, and how."""
        return self.waits[task.index], self._results[task.index]

    def results(self) -> list[Result]:
        """Outcomes and errors in the order of the waits."""
        return [self._results[index] for index in range(len(self.waits))]

    def outcomes(self) -> list[WaiterOutcome[Any]]:
        """The outcomes in the order of the waits; raises if there is one missing."""
        outcomes = [result for result in self.results() if isinstance(result, WaiterOutcome)]
        if len(outcomes) < len(self.waits):
            raise self.error()
        return outcomes

    def error(self) -> WaitersError:
        """What went wrong, of all waits."""
        results = self.results()
        errors = {i: result for i, result in enumerate(results) if isinstance(result, Exception)}
        error = WaitersError(
            self._name,
            _reason(self.waits, errors),
            errors=errors,
            outcomes=[None if isinstance(result, Exception) else result for result in results],
            attempts=sum(_fact(result, "attempts") for result in results),
            elapsed=max(_fact(result, "elapsed") for result in results),
            max_wait=self._max_wait,
        )
        error.__cause__ = _cause(error, list(errors.values()))
        return error

    # --- parts -----------------------------------------------------------------------------

    def _make_progress(
        self,
        progress: bool | ProgressCallback,  # noqa: FBT001 - of this module
    ) -> Progress | None:
        if isinstance(progress, bool):
            if not progress:
                return None
            return ProgressTable(_subjects(self.waits))
        if not callable(progress) or inspect.iscoroutinefunction(progress):
            raise TypeError("progress must be True, False or a plain function")
        guarded = self._callbacks.guarded(progress, "progress")
        return Progress(_subjects(self.waits), guarded)

    def _tasks(self) -> list[Task]:
        """A task each; what many have in common they share."""
        shared = self._shared()
        scopes: dict[int, Scope] = {}
        pools = _Pools()
        policies: dict[Policy, Policy] = {}
        observers: dict[int, tuple[Observer, ...]] = {}
        subjects = _subjects(self.waits)
        tasks = []
        for index, wait in enumerate(self.waits):
            client = wait.client
            scope = scopes.setdefault(id(client), _scope_of(client))
            max_wait = _least(wait.max_wait, shared)
            assert max_wait is not None, "checked before"
            policy, options = wait._policy(scope, max_wait)  # noqa: SLF001 - of this module
            with contextlib.suppress(TypeError):  # A pace that is not hashable.
                policy = policies.setdefault(policy, policy)
            if id(scope) not in observers:
                observers[id(scope)] = tuple(
                    self._callbacks.guarded(observer, "on_event") for observer in scope.observers
                )
            course = Course(subjects[index], policy, observers=observers[id(scope)])
            if options.on_attempt is not None:
                course.observe_attempts(self._callbacks.guarded(options.on_attempt, "on_attempt"))
            if self._progress is not None:
                course.observe_attempts(partial(self._progress.attempted, index))
            tasks.append(
                Task(
                    course,
                    wait._port(_either(self.stop, options.cancel_event)),  # noqa: SLF001 - of this module
                    pools.of(client),
                    cancel=options.cancel_event,
                    wake=options.wake_signal,
                )
            )
        return tasks

    def _shared(self) -> float | None:
        """Seconds that all waits have at most.

        Raises:
            TypeError: neither these nor the waits' own are given.
        """
        shared = _least(self._max_wait, seconds_left())
        if shared is None:
            for index, wait in enumerate(self.waits):
                if wait.max_wait is None:
                    raise TypeError(
                        f"waits[{index}] needs max_wait, or {self._name} does: "
                        "the seconds you are willing to wait"
                    )
        return shared

    def _note(self, task: Task) -> None:
        result = task.result
        assert result is not None, "the task has ended"
        self._results[task.index] = result
        if self._progress is not None:
            self._progress.is_over(task.index, result)


class _Callbacks:
    """The caller's callbacks, so called that one that raises does not end a wait."""

    def __init__(self) -> None:
        self._guarded: dict[tuple[int, str], Callable[[Any], object]] = {}
        self._failures: Counter[str] = Counter()
        self._first: dict[str, Exception] = {}

    def guarded(self, callback: Callable[[Any], object], name: str) -> Callable[[Any], object]:
        """The callback, its errors noted under this name."""

        def call(news: Any) -> None:
            try:
                callback(news)
            # Whatever it raises, the wait goes on.
            except Exception as error:
                self._failed(name, error)

        # The same callback for thousands of waits is one function here.
        return self._guarded.setdefault((id(callback), name), call)

    def warn(self) -> None:
        """Tell of the callbacks that raised."""
        for name, error in self._first.items():
            text = f"{name} raised {type(error).__name__}: {error}"
            if self._failures[name] > 1:
                text += f" (the first of {self._failures[name]} errors)"
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    def _failed(self, name: str, error: Exception) -> None:
        self._failures[name] += 1
        if name not in self._first:
            self._first[name] = error
            logger.error("%s raised; the wait goes on", name, exc_info=error)


class _Either:
    """Two events as one."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: CancelEvent, second: CancelEvent) -> None:
        self._first = first
        self._second = second

    def is_set(self) -> bool:
        return self._first.is_set() or self._second.is_set()

    def wait(self, timeout: float | None = None, /) -> bool:
        left = math.inf if timeout is None else timeout
        while left > 0 and not self.is_set():
            self._first.wait(min(left, SIGNAL_SLICE))
            left -= SIGNAL_SLICE
        return self.is_set()


def _either(first: CancelEvent, second: CancelEvent | None) -> CancelEvent:
    return first if second is None else _Either(first, second)


class _Pools:
    """A pool for each client, a lane for each service endpoint."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str | None], Lane] = {}
        self._pools: dict[int, Pool] = {}

    def of(self, client: Any) -> Pool:
        """The connections of a client."""
        pool = self._pools.get(id(client))
        if pool is None:
            meta = client.meta
            service = meta.service_model.service_name
            lane = self._lanes.setdefault((service, meta.endpoint_url), Lane())
            limit = getattr(meta.config, "max_pool_connections", None)
            pool = self._pools[id(client)] = Pool(lane, limit or DEFAULT_CONNECTIONS)
        return pool


def _scope_of(client: Any) -> Scope:
    attachment = attachment_of(client)
    return _installed_scope() if attachment is None else attachment.scope


def _context() -> contextvars.Context:
    """The caller's context variables, for calls that are a waiter's."""
    with marked_as_waiter():
        return contextvars.copy_context()


def _subjects(waits: Sequence[Wait]) -> list[Subject]:
    """What each waits for; one object for those that wait for the same."""
    subjects: dict[BoundWaiter, Subject] = {}
    for wait in waits:
        bound = wait._bound  # noqa: SLF001 - of this module
        if bound not in subjects:
            subjects[bound] = subject_of(bound)
    return [subjects[wait._bound] for wait in waits]  # noqa: SLF001 - of this module


# --- checks -----------------------------------------------------------------------------------


def _checked(waits: Any, name: str) -> list[Wait]:
    """The waits as a list.

    Raises:
        TypeError: not waits, or not all on clients of the kind that `name` calls.
        ValueError: a wait that is there twice.
    """
    if isinstance(waits, Wait) or not isinstance(waits, Iterable):
        raise TypeError(f"waits must be several Wait objects, not {type(waits).__name__}")
    checked: list[Wait] = []
    places: dict[int, int] = {}
    for index, wait in enumerate(waits):
        if not isinstance(wait, Wait):
            raise TypeError(f"waits[{index}] must be a Wait, not {type(wait).__name__}")
        first = places.setdefault(id(wait), index)
        if first != index:
            raise ValueError(f"waits[{index}] is waits[{first}] again: {wait!r}")
        checked.append(wait)
    awaited = [index for index, wait in enumerate(checked) if is_async(type(wait.client))]
    if 0 < len(awaited) < len(checked):
        raise TypeError(
            f"waits[{awaited[0]}] is on an asynchronous client, others are on blocking ones: "
            "they cannot be waited on together"
        )
    if awaited and not name.endswith("_async"):
        raise TypeError(
            f"waits[{awaited[0]}] is on an asynchronous client: use {name}_async, in its loop"
        )
    return checked


def _only_options(keywords: Mapping[str, Any]) -> WaitOptions:
    if not keywords:
        return NO_OPTIONS
    options, others = split_options(keywords)
    if others:
        names = ", ".join(sorted(others))
        raise TypeError(f"unexpected {names}: the operation's parameters are the third argument")
    return options


def _least(first: float | None, second: float | None) -> float | None:
    """The lesser of two bounds, either of which may not be there."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def _thread_count(threads: Any) -> int:
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads must be a whole number, not {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


def _events(cancel_event: Any) -> list[CancelEvent]:
    event = WaitOptions(cancel_event=cancel_event).cancel_event
    return [] if event is None else [event]


# --- words ------------------------------------------------------------------------------------


def _reason(waits: Sequence[Wait], errors: Mapping[int, Exception]) -> str:
    """Every failure in words; those that were only stopped because of others are counted."""
    stopped = sum(isinstance(error, WaiterCancelledError) for error in errors.values())
    named = dict(errors)
    if stopped < len(errors):
        named = {i: e for i, e in errors.items() if not isinstance(e, WaiterCancelledError)}
    parts = [f"{len(errors)} of {len(waits)} waits did not succeed"]
    parts += [_words(index, waits[index], error) for index, error in named.items()][:MOST_NAMED]
    if len(named) > MOST_NAMED:
        parts.append(f"{len(named) - MOST_NAMED} more, see errors")
    if len(named) < len(errors):
        parts.append(f"{stopped} were cancelled")
    return "; ".join(parts)


def _words(index: int, wait: Wait, error: Exception) -> str:
    # Of foreign errors the class alone: their texts may quote parameters.
    what = error.kwargs["reason"] if isinstance(error, WaiterError) else type(error).__name__
    return f"[{index}] {wait.waiter}: {what}"


def _fact(result: Result, name: str) -> Any:
    return getattr(result, name, 0) if isinstance(result, (WaiterOutcome, WaiterError)) else 0


def _cause(error: WaitersError, errors: list[Exception]) -> BaseException:
    if sys.version_info >= (3, 11):
        return ExceptionGroup(  # noqa: F821 - see the line above
            f"{len(errors)} of {len(error.outcomes)} waits", errors
        )
    return errors[0]

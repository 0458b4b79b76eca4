"""The waits of one call, from their check to their results."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from ..aws.client_kind import is_async
from ..aws.port import description_of
from ..aws.private_names import marked_as_waiter
from ..aws.service_waiters import BoundWaiter
from ..deadlines import seconds_left
from ..engine.machine import Policy
from ..exceptions import WaiterCancelledError, WaiterError, WaitersError
from ..hooks.sessions import client_scope
from ..options import CancelEvent, Seconds, WaitOptions, seconds
from ..outcome import WaiterOutcome
from ..progress import Progress, ProgressTable, WaitProgress
from ..runtime.clock import either
from ..runtime.schedule import Lane, Pool, Task
from ..runtime.scheduler import Scheduler, Workers
from ..runtime.scheduler_async import AsyncScheduler
from ..runtime.wait_run import RANDOM, Observer, WaitDescription, WaitRun
from ..settings import Scope
from .callbacks import Callbacks
from .grouping import Groups
from .wait import Wait

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_NAMED: Final = 20
"""Failures that the message of a `WaitersError` words; others it names."""

MOST_NAMES: Final = 2000
"""Characters of those names; `errors` has them all."""

DEFAULT_CONNECTIONS: Final = 10
"""Calls at once on a client that does not say how many connections it keeps."""

ProgressCallback = Callable[[WaitProgress], object]
Result = WaiterOutcome[Any] | Exception


class Batch:
    """The waits of one call, from their check to their results."""

    def __init__(
        self,
        waits: Iterable[Wait],
        max_wait: Seconds | None,
        threads: int,
        progress: bool | ProgressCallback,  # noqa: FBT001 - of this module
        cancel_event: CancelEvent | None,
        coalesce: bool,  # noqa: FBT001 - of this module
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
        self._groups = Groups(self.stop) if _flag("coalesce", coalesce) else None
        self._callbacks = Callbacks()
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
        # Leaving the loop over `as_completed` is an end like any other.
        if error is None or isinstance(error, GeneratorExit):
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
            return ProgressTable(_descriptions(self.waits))
        if not callable(progress) or inspect.iscoroutinefunction(progress):
            raise TypeError("progress must be True, False or a plain function")
        guarded = self._callbacks.guarded(progress, "progress")
        return Progress(_descriptions(self.waits), guarded)

    def _tasks(self) -> list[Task]:
        """A task each; what many have in common they share."""
        shared = self._shared()
        scopes: dict[int, Scope] = {}
        pools = _Pools()
        policies: dict[Policy, Policy] = {}
        observers: dict[int, tuple[Observer, ...]] = {}
        descriptions = _descriptions(self.waits)
        tasks = []
        for index, wait in enumerate(self.waits):
            client = wait.client
            scope = scopes.setdefault(id(client), client_scope(client))
            max_wait = _least(wait.max_wait, shared)
            assert max_wait is not None, "checked before"
            policy, options = wait._policy(scope, max_wait)  # noqa: SLF001 - of this module
            with contextlib.suppress(TypeError):  # A pace that is not hashable.
                policy = policies.setdefault(policy, policy)
            if id(scope) not in observers:
                observers[id(scope)] = tuple(
                    self._callbacks.guarded(observer, "on_event") for observer in scope.observers
                )
            member = None if self._groups is None else self._groups.member(wait, policy, options)
            wait_run = WaitRun(
                descriptions[index],
                policy if member is None else member.group.policy(policy),
                observers=observers[id(scope)],
                random=RANDOM if member is None else member.group.random,
            )
            if options.on_attempt is not None:
                wait_run.observe_attempts(self._callbacks.guarded(options.on_attempt, "on_attempt"))
            if self._progress is not None:
                wait_run.observe_attempts(partial(self._progress.attempted, index))
            tasks.append(
                Task(
                    wait_run,
                    wait._port(either(self.stop, options.cancel_event), options),  # noqa: SLF001 - of this module
                    pools.of(client),
                    cancel=options.cancel_event,
                    wake=options.wake_signal,
                    group=None if member is None else member.group,
                    ids=() if member is None else member.ids,
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


def _context() -> contextvars.Context:
    """The caller's context variables, for calls that are a waiter's."""
    with marked_as_waiter():
        return contextvars.copy_context()


def _descriptions(waits: Sequence[Wait]) -> list[WaitDescription]:
    """What each waits for; one object for those that wait for the same."""
    descriptions: dict[BoundWaiter, WaitDescription] = {}
    for wait in waits:
        bound = wait._bound  # noqa: SLF001 - of this module
        if bound not in descriptions:
            descriptions[bound] = description_of(bound)
    return [descriptions[wait._bound] for wait in waits]  # noqa: SLF001 - of this module


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


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    return value


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
    places = list(named)
    parts += [_words(index, waits[index], named[index]) for index in places[:MOST_NAMED]]
    parts += _names(waits, {index: named[index] for index in places[MOST_NAMED:]})
    if len(named) < len(errors):
        parts.append(f"{stopped} were cancelled")
    return "; ".join(parts)


def _words(index: int, wait: Wait, error: Exception) -> str:
    # Of foreign errors the class alone: their texts may quote parameters.
    what = error.kwargs["reason"] if isinstance(error, WaiterError) else type(error).__name__
    return f"[{index}] {wait.waiter}: {what}"


def _names(waits: Sequence[Wait], errors: Mapping[int, Exception]) -> list[str]:
    """Failures by their places, those of one kind together, as far as a message can be read."""
    places: dict[str, list[int]] = {}
    for index, error in errors.items():
        places.setdefault(f"{waits[index].waiter}: {type(error).__name__}", []).append(index)
    names, room, left = [], MOST_NAMES, len(errors)
    for kind, indexes in places.items():
        spans = _spans(indexes)
        text = f"[{spans}] {kind}"
        if len(text) > room:
            break
        names.append(text)
        room -= len(text)
        left -= len(indexes)
    return [*names, f"{left} more, see errors"] if left else names


def _spans(indexes: Sequence[int]) -> str:
    """Numbers in order, as people write them: 3, 5-9."""
    spans: list[list[int]] = []
    for index in indexes:
        if spans and index == spans[-1][-1] + 1:
            spans[-1][1:] = [index]
        else:
            spans.append([index])
    return ", ".join("-".join(map(str, span)) for span in spans)


def _fact(result: Result, name: str) -> Any:
    return getattr(result, name, 0) if isinstance(result, (WaiterOutcome, WaiterError)) else 0


def _cause(error: WaitersError, errors: list[Exception]) -> BaseException:
    if sys.version_info >= (3, 11):
        return ExceptionGroup(  # noqa: F821 - see the line above
            f"{len(errors)} of {len(error.outcomes)} waits", errors
        )
    return errors[0]

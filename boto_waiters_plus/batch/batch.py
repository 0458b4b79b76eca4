"""The waits of one call of `wait_all` and its relatives, from checks to results and errors."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypedDict, TypeVar

from botocore.exceptions import ParamValidationError, StubResponseError

from ..calls.clients import is_async
from ..calls.clock import SYSTEM_TIME, IdleQueue, current_time
from ..common.arguments import count, flag, time_bound, unknown_option, with_methods
from ..common.errors import caller
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import Keyword, WrongTypeError, wrong_type
from ..deadlines import deadline_left
from ..exceptions import WaiterCancelledError, WaiterError, WaitersError
from ..options import CancelEvent, Seconds, refuse_options_of_waits, refuse_short_wait
from ..outcome import ResponseOutcome, WaiterOutcome
from ..progress import Progress, ProgressTable, WaitProgress
from ..service.labels import told_apart
from ..service.parameters import wrong_parameters
from .callbacks import Callbacks
from .preparation import Grouping, Preparation, marked_context
from .schedule import DEFAULT_THREADS, KindOfResult, Schedule
from .scheduler import LoopExecutor, Sink, ThreadExecutor, run_in_thread, run_waits_async, turns
from .tasks import Task
from .wait import CallableWait, HasWait, Wait

if TYPE_CHECKING:
    from typing_extensions import Unpack

# --- the error of a batch, in words --------------------------------------------------------------

MOST_DESCRIBED: Final = 10
"""Failures whose reason is in the message of a `WaitersError`; the others are only named."""

MOST_NAMES: Final = 2000
"""Characters for the names of those; the attribute `errors` has them all."""

Result = WaiterOutcome[Any] | Exception


def waiters_error(
    name: str,
    waits: Sequence[Wait | CallableWait],
    results: Sequence[Result],
    max_wait: float | None,
) -> WaitersError:
    """Return the error of a batch in which waits did not succeed.

    Args:
        name: the function that was called.
        waits: all waits.
        results: how each of them ended.
        max_wait: the time bound of the whole batch.
    """
    errors = {i: result for i, result in enumerate(results) if isinstance(result, Exception)}
    known = [result for result in results if isinstance(result, (WaiterOutcome, WaiterError))]
    reason = _reason(waits, errors)
    error = WaitersError(
        name,
        reason,
        message=f"{name}: {reason}",
        errors=errors,
        outcomes=[None if isinstance(result, Exception) else result for result in results],
        attempts=sum(result.attempts for result in known),
        elapsed=max((result.elapsed for result in known), default=0),
        max_wait=max_wait,
    )
    error.__cause__ = _cause(len(waits), list(errors.values()))
    return error


def _reason(waits: Sequence[Wait | CallableWait], errors: Mapping[int, Exception]) -> str:
    """Return each failure in words; waits that were cancelled because of one are counted."""
    cancelled = sum(isinstance(error, WaiterCancelledError) for error in errors.values())
    named = dict(errors)
    if cancelled < len(errors):
        named = {i: e for i, e in errors.items() if not isinstance(e, WaiterCancelledError)}
    parts = [f"{len(errors)} of {len(waits)} waits did not succeed"]
    places = list(named)
    parts += [_described(i, waits[i], named[i]) for i in places[:MOST_DESCRIBED]]
    parts += _named(waits, {index: named[index] for index in places[MOST_DESCRIBED:]})
    if len(named) < len(errors):
        parts.append(f"{cancelled} {'was' if cancelled == 1 else 'were'} cancelled")
    return "\n  ".join(parts)


def _described(index: int, wait: Wait | CallableWait, error: Exception) -> str:
    # A test's own words; not the text of any other error, which may quote parameters.
    is_stubbed = isinstance(error, StubResponseError)
    hides = wait.merged_options.show_parameters is False
    if isinstance(error, WaiterError) or (is_stubbed and not hides):
        return f"[{index}] {error}"
    wrong = wrong_parameters(error) if isinstance(error, ParamValidationError) else ""
    text = f"[{index}] Waiter {wait.waiter} for {wait.label}: {type(error).__name__}"
    return f"{text}: {wrong}" if wrong else text


def _named(waits: Sequence[Wait | CallableWait], errors: Mapping[int, Exception]) -> list[str]:
    """Return the places of failures, grouped by waiter and error, up to a readable length."""
    places: dict[str, list[int]] = {}
    for index, error in errors.items():
        places.setdefault(f"{waits[index].waiter}: {type(error).__name__}", []).append(index)
    names, room, left = [], MOST_NAMES, len(errors)
    for kind, indexes in places.items():
        text = f"[{_ranges(indexes)}] {kind}"
        if len(text) > room:
            break
        names.append(text)
        room -= len(text)
        left -= len(indexes)
    return [*names, f"{left} more, see errors"] if left else names


def _ranges(indexes: Sequence[int]) -> str:
    """Return ascending numbers as ranges: 3, 5-9."""
    ranges: list[list[int]] = []
    for index in indexes:
        if ranges and index == ranges[-1][-1] + 1:
            ranges[-1][1:] = [index]
        else:
            ranges.append([index])
    return ", ".join("-".join(map(str, each)) for each in ranges)


def _cause(waits: int, errors: list[Exception]) -> BaseException:
    if sys.version_info >= (3, 11):
        return ExceptionGroup(  # noqa: F821 - see the line above
            f"{len(errors)} of {waits} waits", errors
        )
    return errors[0]


# --- the waits of one call -----------------------------------------------------------------------

MOST_READS_OF_BATCH: Final = 20
"""Reads that tell why waits failed, for all of them together."""

ProgressCallback = Callable[[WaitProgress], object]
OnFailure = Literal["raise", "collect", "cancel"]
Run = Generator[Callable[[], object] | None, None, None]
"""What goes on while it is iterated over, and what is to be done meanwhile."""

WaitT = TypeVar("WaitT", bound=Wait | CallableWait | HasWait)


class BatchOptions(TypedDict, total=False):
    """The options of `wait_all` and its relatives besides `max_wait` and `on_failure`."""

    threads: int
    """The number of calls that may be in flight at once; default: 32."""
    progress: bool | ProgressCallback
    """True draws a table on stderr (needs rich); a function is called with a
    `progress.WaitProgress` after each attempt and at the end of each wait."""
    cancel_event: CancelEvent | None
    """Cancels all waits when it is set."""
    coalesce: bool
    """Whether waits of one waiter on one client may share calls; default: True."""
    screen: bool
    """Whether a list of states may tell which of 10 or more such waits have to be polled, where
    they cannot share calls; default: True. Without `coalesce` it has no effect."""


class Batch(Generic[WaitT]):
    """The waits of one call, from their checks to their results.

    Args:
        name: the function that was called.
        waits, max_wait, options: its arguments.

    Raises:
        TypeError, ValueError: an argument is wrong.
    """

    def __init__(
        self,
        name: str,
        waits: Iterable[WaitT],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[BatchOptions],
    ) -> None:
        others = [each for each in options if each not in BatchOptions.__annotations__]
        refuse_options_of_waits(name, others, "each Wait")
        for option in others:
            raise unknown_option(option, BatchOptions.__annotations__, name)
        self._given, self.waits = _checked(waits, name)
        self._name = name
        self._max_wait = None if max_wait is None else time_bound("max_wait", max_wait)
        is_bounded = self._max_wait is not None or deadline_left() is not None
        for index, wait in enumerate(self.waits):
            if not is_bounded and wait.max_wait is None:
                raise TypeError(f"waits[{index}] needs max_wait (seconds), or {name} does")
            if self._max_wait is not None:
                refuse_short_wait(wait.options, self._max_wait)
        self._threads = count("threads", options.get("threads", DEFAULT_THREADS))
        self._cancels: list[CancelEvent] = []
        cancel_event = options.get("cancel_event")
        if cancel_event is not None:
            self._cancels.append(with_methods("cancel_event", cancel_event, "is_set", "wait"))
        self._stop = threading.Event()
        """Set when no reply is needed any more."""
        coalesce = flag("coalesce", options.get("coalesce", True))
        screen = flag("screen", options.get("screen", True))
        self._grouping = Grouping(self._stop, screen=screen) if coalesce else None
        self._callbacks = Callbacks()
        progress = options.get("progress", False)
        self._progress = None if progress is False else self._make_progress(progress)
        self._results: dict[int, Result] = {}
        self._caller = caller()
        self.cancel_rest_after: KindOfResult | None = None
        """The result of a wait after which the others are cancelled."""

    def __enter__(self) -> None:
        if self._progress is not None:
            self._progress.__enter__()

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        if self._progress is not None:
            self._progress.__exit__(kind, *raised)
        # Leaving the loop over `as_completed` is an end like any other.
        if kind in (None, GeneratorExit):
            self._callbacks.warn()

    def need_a_wait(self) -> None:
        """Raise `ValueError` if there are no waits."""
        if not self.waits:
            raise ValueError(f"{self._name} needs at least one wait")

    def run(self) -> None:
        """Run all waits to their end; callbacks are called in the calling thread."""
        with self, contextlib.ExitStack() as stack:
            tasks = self._tasks()
            if not self._callbacks or current_time() is not SYSTEM_TIME:
                run = self._turns(tasks, self._note)
            else:
                # The waits have a thread of their own: a slow callback must not hold them up.
                ready: IdleQueue[Any] = IdleQueue()
                self._callbacks.defer(ready.put)
                # Ctrl-C leaves the ends of the waits in the queue.
                stack.callback(_call_rest, ready)
                run = self._in_thread(tasks, self._note, ready)
            for job in stack.enter_context(contextlib.closing(run)):
                if job is not None:
                    job()

    def completed(self) -> Generator[tuple[WaitT, Result], None, None]:
        """Yield each wait with its result when it has ended; go on while the caller is busy."""
        with self, contextlib.ExitStack() as stack:
            tasks, ended = self._tasks(), deque[Task]()
            if current_time() is not SYSTEM_TIME:
                run = self._turns(tasks, self._noted(ended.append))
            else:
                ready: IdleQueue[Any] = IdleQueue()
                stack.enter_context(self._callbacks.called_in_thread(ready.put))
                tell = self._noted(lambda task: ready.put(partial(ended.append, task)))
                run = self._in_thread(tasks, tell, ready)
            for job in stack.enter_context(contextlib.closing(run)):
                if job is not None:
                    job()
                while ended:
                    task = ended.popleft()
                    yield self._given[task.number], self._results[task.number]

    async def run_async(self) -> None:
        """Run all waits to their end as part of the calling task; see `run`."""
        with self:
            await self._run_async(self._note)

    async def completed_async(self) -> AsyncGenerator[tuple[WaitT, Result], None]:
        """Yield each wait with its result when it has ended; go on while the caller is busy."""
        with self:
            ended: asyncio.Queue[Task | None] = asyncio.Queue()
            run = asyncio.get_running_loop().create_task(
                self._run_async(self._noted(ended.put_nowait))
            )
            run.add_done_callback(lambda _: ended.put_nowait(None))
            try:
                while (task := await ended.get()) is not None:
                    yield self._given[task.number], self._results[task.number]
                run.result()
            finally:
                run.cancel()
                await asyncio.gather(run, return_exceptions=True)

    def results(self, on_failure: OnFailure = "raise") -> list[Any]:
        """Return the results in the order of the waits.

        Raises:
            WaitersError: `on_failure` is not `"collect"`, and a wait did not succeed.
        """
        results = [self._results[index] for index in range(len(self.waits))]
        if on_failure != "collect" and any(isinstance(each, Exception) for each in results):
            raise waiters_error(self._name, self.waits, results, self._max_wait)
        return results

    def first_success(self) -> tuple[WaitT, WaiterOutcome[Any]]:
        """Return the wait that succeeded first, and its outcome.

        Raises:
            WaitersError: none succeeded.
        """
        for index, result in self._results.items():
            if isinstance(result, WaiterOutcome):
                return self._given[index], result
        raise waiters_error(self._name, self.waits, self.results("collect"), self._max_wait)

    # --- parts -----------------------------------------------------------------------------

    def _make_progress(
        self,
        progress: bool | ProgressCallback,  # noqa: FBT001 - of this module
    ) -> Progress:
        waits = [(wait.description, wait.label) for wait in self.waits]
        if progress is True:
            return ProgressTable(waits)
        if not callable(progress) or inspect.iscoroutinefunction(progress):
            problem = " must be True, False or a plain function"
            raise WrongTypeError.of("progress", progress, problem)
        return Progress(waits, self._callbacks.guarded(progress, "progress"))

    def _tasks(self) -> list[Task]:
        for each in () if self._name.endswith("_async") else self._given:
            if (refuse := getattr(each, "refuse_blocking", None)) is not None:
                refuse(f"await {self._name}_async(...)")
        left = deadline_left()
        return Preparation(
            bound=left if self._max_wait is None else TimeBound(self._max_wait).within(left),
            stop=self._stop,
            grouping=self._grouping,
            callbacks=self._callbacks,
            progress=self._progress,
            called_at=time.monotonic(),
            caller=self._caller,
            function=self._name,
            reads=iter(range(MOST_READS_OF_BATCH)),
        ).tasks(self.waits)

    def _schedule(self, *stops: CancelEvent) -> Schedule:
        cancels = [*self._cancels, *stops]
        return Schedule(self._threads, cancels=cancels, cancel_rest_after=self.cancel_rest_after)

    def _turns(self, tasks: Sequence[Task], sink: Sink, *stops: CancelEvent) -> Run:
        run = self._schedule(*stops)
        return turns(run, tasks, ThreadExecutor(run.now, marked_context(), stop=self._stop), sink)

    def _in_thread(self, tasks: Sequence[Task], sink: Sink, ready: IdleQueue[Any]) -> Run:
        def work() -> None:
            for _ in self._turns(tasks, sink, self._stop):
                pass

        return run_in_thread(work, self._stop, ready)

    async def _run_async(self, sink: Sink) -> None:
        tasks, run = self._tasks(), self._schedule()
        executor = LoopExecutor(run.now, marked_context(), self._stop)
        await run_waits_async(run, tasks, executor, sink)

    def _noted(self, tell: Sink) -> Sink:
        def sink(task: Task) -> None:
            self._note(task)
            tell(task)

        return sink

    def _note(self, task: Task) -> None:
        result = task.result
        assert result is not None, "the task has ended"
        if isinstance(self._given[task.number], HasWait) and isinstance(result, ResponseOutcome):
            result = result.response  # the outcome of what was waited for
        elif isinstance(result, WaiterError):
            # Judges of callables have one.
            result.last_value = getattr(task.run.judge, "last_value", None)
        self._results[task.number] = result
        if self._progress is not None:
            self._callbacks.post(partial(self._progress.ended, task.number), result)


def _call_rest(ready: IdleQueue[Any]) -> None:
    """Call the callbacks that are left in the queue of a run that is over."""
    with contextlib.ExitStack() as stack:
        # Not a loop: one that raises, such as by Ctrl-C, must not keep the others from their turn.
        items = [ready.get() for _ in range(ready.qsize())]
        for item in reversed(items):
            if callable(item):
                stack.callback(item)


def _checked(waits: Any, name: str) -> tuple[list[Any], list[Wait | CallableWait]]:
    """Return the waits as given, and as they are run.

    Raises:
        TypeError: not waits, or not all on clients of the kind that `name` calls.
        ValueError: a wait that is given twice.
    """
    if isinstance(waits, Wait) or not isinstance(waits, Iterable):
        raise wrong_type("waits", waits, "an iterable of Wait objects")
    given: list[Any] = []
    checked: list[Wait | CallableWait] = []
    places: dict[int, int] = {}
    first_of_kind: dict[bool, int] = {}
    for index, each in enumerate(waits):
        wait = each.as_wait() if isinstance(each, HasWait) else each
        if not isinstance(wait, (Wait, CallableWait)):
            place = Keyword(f"waits[{index}]", "waits")
            raise wrong_type(place, wait, "a Wait, a ConditionWait or an Operation")
        first = places.setdefault(id(each), index)
        if first != index:
            raise ValueError(f"waits[{index}] and waits[{first}] are the same object: {each!r}")
        given.append(each)
        checked.append(wait)
        if isinstance(wait, Wait):
            first_of_kind.setdefault(is_async(type(wait.client)), index)
        elif wait.is_async and not name.endswith("_async"):
            raise TypeError(f"waits[{index}] is on a coroutine function: use {name}_async")
    if len(first_of_kind) > 1:
        raise TypeError(
            f"waits[{first_of_kind[True]}] is on an asynchronous client, others are on blocking "
            "ones: they cannot be waited on together"
        )
    if True in first_of_kind and not name.endswith("_async"):
        raise TypeError(f"waits[0] is on an asynchronous client: use {name}_async, in its loop")
    _tell_apart(checked)
    return given, checked


def _tell_apart(waits: list[Wait | CallableWait]) -> None:
    """Put copies with longer labels in place of waits that differ only in parts of ARNs."""
    places = {
        index: wait
        for index, wait in enumerate(waits)
        if isinstance(wait, Wait) and "arn:" in str(wait.parameters)
    }
    labels = [(wait.label, wait.whole_label) for wait in places.values()]
    for index, (short, _), label in zip(places, labels, told_apart(labels), strict=True):
        if label != short:
            waits[index] = copied = copy.copy(places[index])
            copied.given_label = label

"""Drives the open waits of a store."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from sys import intern
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from botocore.model import OperationModel
from botocore.session import get_session

from ..batch.background import WaitPool
from ..batch.tasks import Task
from ..batch.wait import Wait
from ..calls.clock import IdleQueue
from ..changes.effects import unchanged_by
from ..changes.stops import MOST_STOPS, Stop, StopsAfter
from ..common.arguments import callback, count, seconds, unknown
from ..common.errors import logger
from ..common.wrong_arguments import Keyword, WrongValueError, wrong_type
from ..engine.delays import KnownTime, is_sound_time
from ..engine.machine import Policy
from ..engine.wait_event import WaitEvent
from ..exceptions import WaiterCancelledError
from ..history import MOST_TIMES, HistoryKey, with_times
from ..outcome import WaiterOutcome
from .begun import BegunRow, Held, begun_of, process_name, stop_at_end, unanswered
from .operation import (
    OperationError,
    StoreError,
    UnableError,
    UnusableError,
    path_of,
    problem,
    unreadable,
)
from .representation import end_of, progress_of, timeout_of, unable
from .stored_operation import OpenStore
from .stored_row import ENDED, FREE, OPEN, SUCCEEDED, LeaseLostError, Row, Seal, loaded
from .stored_wait import MakeClient, WaitMaker, check_row

if TYPE_CHECKING:
    from .sql import Database

# --- how a worker drives the waits of a store ----------------------------------------------------


@dataclass(slots=True)
class WorkOptions:
    """The arguments of `Store.work` and `fleet.run` that say how to work; see there.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: botocore has no such service, or a number is too small.
    """

    lease: Any
    batch_size: int
    max_open: int
    threads: int
    calls_per_second: Any
    make_client: MakeClient

    def __post_init__(self) -> None:
        self.lease = seconds("lease", self.lease)
        for name in ("batch_size", "max_open", "threads"):
            setattr(self, name, count(name, getattr(self, name)))
        self.calls_per_second = _call_rates(self.calls_per_second)
        callback("make_client", self.make_client)


def _call_rates(value: Any) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong_type("calls_per_second", value, "a mapping such as {'ec2': 20}")
    known = get_session().get_available_services() if value else []
    for service in value:
        if service not in known:
            problem = f": {unknown(service, known, 'service')}"
            raise WrongValueError.of("calls_per_second", service, problem)
    option = "calls_per_second"
    names = {name: Keyword(f"{option}[{name!r}]", option) for name in value}
    return {name: float(seconds(names[name], rate)) for name, rate in value.items()}


# --- what a worker knows of waits -----------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Driven:
    """A wait that a worker drives."""

    id: str
    kind: str
    deadline: float
    """Its end by the clock of the worker."""
    stored: OperationModel | None = None
    """What it polls, if its response is stored."""
    task: Task | None = None
    timeout: Exception | None = None
    """The error that it ends with if it was called or polled before and no worker can go on."""
    change: tuple[dict[str, Any], float] | None = None
    """To be written: what the last attempt changed, and when it was."""
    result: WaiterOutcome[Any] | BaseException | None = None
    """To be written: how it ended."""
    begun: BegunRow | None = None
    """The row, if what was begun is stopped after a time-out."""
    mutation: OperationModel | None = None
    """The operation of its call, where it is an outcome that this had nothing to change."""
    last_change: dict[str, Any] | None = None
    """Of the attempt that ended the wait: written with the end, because its state cannot be resumed
    by the worker that takes over from one that was killed between the two."""


_IS_END: Final = {SUCCEEDED: True, "failed": True, "timed_out": False, "attempts_used_up": False}
"""By the state of a row: whether the wait ended, or its time."""

KEY: Final = ("service", "waiter", "region")


class RowTimes:
    """The times of the ended rows of a store, read once for each kind of wait."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database, self._seal = database, seal
        self._known: dict[tuple[Any, ...], tuple[KnownTime, ...]] = {}

    def policy(self, row: Row, wait: Wait, *, is_begun: bool) -> Policy:
        """Return the policy of a wait, with the times of its kind if its row asks for them."""
        asked = loaded(row["policy"], "policy")
        if not asked.get("delay_history"):
            return wait.policy
        names = [*(row[name] or "" for name in KEY), asked.get("delay_kind") or ""]
        key = HistoryKey._make((*names, is_begun))
        if key not in self._known:
            filters = {name: row[name] for name in KEY if row[name] is not None}
            ended = self._database.list({"state": "done", **filters}, None, MOST_TIMES)
            self._known[key] = tuple(self._times(ended, key.kind, is_begun=is_begun))
        has_longest = bool(asked.get("max_delay_given"))
        return with_times(wait.policy, self._known[key], key, has_longest=has_longest)

    def _times(self, rows: list[Row], kind: str, *, is_begun: bool) -> Iterator[KnownTime]:
        for row in rows:
            # A damaged row tells nothing.
            with contextlib.suppress(OperationError, TypeError, AttributeError):
                seconds, is_end = row["elapsed"], _IS_END.get(row["state"])
                if is_end is None or row["attempts"] < 2 or not is_sound_time(seconds):
                    continue
                own = loaded(row["policy"], "policy").get("delay_kind") or ""
                if own == kind and (begun_of(row, self._seal) is not None) is is_begun:
                    yield KnownTime(seconds, is_end)


# --- the worker ----------------------------------------------------------------------------------

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks for new waits."""

WRITE_INTERVAL: Final = 0.05
"""Seconds between two writes: attempts of that time share a transaction."""

RENEWALS: Final = 3
"""Renewals within the time of a lease."""

UNABLE_FOR: Final = 60.0
"""Seconds in which a worker that could not drive a wait takes no other of its kind."""

MOST_UNREADABLE: Final = 20
"""Waits that a worker cannot decrypt before it takes none of their kinds any more."""

STOP_LIMIT: Final = 2.0
"""The most seconds that an access to the store may take when the worker has to end."""


class Worker:
    """Drives the open waits of a store, as many as it may hold.

    One thread (the caller's) talks to the store, another steps the waits. What is written is
    fenced by the lease (see `sql.database`): if the lease was lost, none of it takes effect. The
    stop event ends `run`; `metadata` shows the name. The clock is that of the store.
    """

    def __init__(
        self,
        store: OpenStore,
        options: WorkOptions,
        *,
        name: str | None,
        stop_event: threading.Event,
    ) -> None:
        self._database, self._seal, self._watcher = store.database, store.seal, store.watcher
        self._clock = store.clock
        self._options = options
        self._name = name or process_name()
        # The generation of every wait that is driven here.
        self._lease = 0
        self._maker = WaitMaker(options.make_client, store.seal)
        self._stop = stop_event
        self._pool = WaitPool(threads=options.threads)
        self._driven: dict[str, Driven] = {}
        # Bound to the worker once. A second bound method then binds each wait, in a third of the
        # memory of a `partial`.
        self._on_attempt, self._on_end = self._attempted, self._has_ended
        # What cannot be driven here, waits by `id` or by `kind`: until when, and why.
        self._unable: dict[str, tuple[float, UnableError]] = {}
        # The rows that owe a stop which is being made here.
        self._stopping: set[str] = set()
        # Ends calls that are repeated because their process is gone.
        self._calls_end = threading.Event()
        # Guards what both threads change: what has to be written of a wait, and these two.
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self._to_give_back: set[str] = set()
        # Not an event: a signal handler could not set one that its own thread waits for.
        self._news: IdleQueue[None] = IdleQueue()
        self._is_stopping = False
        # Whether the store may know of waits of this lease that are not driven here.
        self._has_unconfirmed_claim = False
        self._renew_at = 0.0
        self._check_at = 0.0
        self._ended = 0

    def run(self, *, until_idle: bool) -> int:
        """Drive waits until the stop event is set; return how many ended.

        With `until_idle` return as soon as nothing is open but what other workers hold.
        """
        self._acquire()
        try:
            while not (self._stop.is_set() or self._is_stopping):
                try:
                    is_idle = self._turn()
                except UnusableError:
                    raise
                except StoreError as error:
                    logger.warning("worker: %s; trying again", error)
                    self._sleep(CHECK_INTERVAL)
                    continue
                if is_idle and until_idle:
                    break
                self._sleep(min(self._check_at, self._renew_at) - self._clock())
        finally:
            failure = self._hand_back()
        if failure is not None:
            raise failure
        return self._ended

    def stop(self) -> None:
        """Let `run` return soon; for signal handlers too."""
        self._is_stopping = True
        self._database.limit_time(STOP_LIMIT)
        self._news.put(None)

    def _sleep(self, seconds: float) -> None:
        """Sleep until there is news, then a moment more: one transaction for several attempts."""
        with contextlib.suppress(queue.Empty):
            self._news.get(timeout=max(0.0, seconds))
            if not self._is_stopping:
                self._stop.wait(WRITE_INTERVAL)
            while True:
                self._news.get_nowait()

    def _turn(self) -> bool:
        """Do what is due in the store; return whether nothing is open."""
        self._renew_if_due()
        self._write()
        if self._has_unconfirmed_claim:
            # A claim whose answer was lost: no worker would drive its waits while the lease lasts.
            self._database.release(self._lease)
            self._replace_lease()
        self._give_back()
        if self._clock() < self._check_at:
            return False
        # Cancelled, or driven by another worker.
        self._drop(self._database.lost(self._lease, list(self._driven)))
        if rates := self._options.calls_per_second:
            # An equal share of what all workers have together.
            workers = max(1, len(self._database.leases()))
            self._pool.limit_calls({name: rate / workers for name, rate in rates.items()})
        self._has_unconfirmed_claim = True
        try:
            is_full = self._claim()
        except LeaseLostError:
            self._replace_lease()
            return False
        self._has_unconfirmed_claim = False
        self._check_at = self._clock() + (0.0 if is_full else CHECK_INTERVAL)
        return not (self._driven or self._stopping)

    def _acquire(self) -> None:
        seconds = self._options.lease
        self._lease = self._database.acquire(self._name, seconds)
        self._renew_at = self._clock() + seconds / RENEWALS

    def _renew_if_due(self) -> None:
        before, seconds = self._clock(), self._options.lease
        if before < self._renew_at:
            return
        if self._database.renew(self._lease, seconds):
            self._renew_at = before + seconds / RENEWALS
        else:
            self._replace_lease()

    def _replace_lease(self) -> None:
        """Drop all waits, which others drive now, and begin a new lease."""
        logger.warning(
            "worker: the lease was lost; %d waits were released to other workers", len(self._driven)
        )
        self._drop(list(self._driven))
        self._acquire()
        self._has_unconfirmed_claim = False

    def _give_back(self) -> None:
        """Let any worker go on with the waits whose service cannot be connected to from here."""
        with self._lock:
            asked = {key: self._driven[key] for key in self._to_give_back & self._driven.keys()}
            # What has happened since `_write` is written first, in the next turn.
            keys = {
                key for key, each in asked.items() if each.change is None and each.result is None
            }
            self._to_give_back = asked.keys() - keys
        if keys:
            self._drop(keys)
            changes = [{"id": key, **FREE} for key in keys]
            self._has_unconfirmed_claim = True
            self._database.write(self._lease, changes)
            self._has_unconfirmed_claim = False
            # Other workers may take them first.
            self._check_at = self._clock() + CHECK_INTERVAL

    def _drop(self, keys: Iterable[str]) -> None:
        """Stop driving waits, and write nothing more of them."""
        for key in keys:
            with self._lock:
                task = self._driven.pop(key).task
            if task is not None:
                self._pool.cancel(task)

    def _hand_back(self) -> StoreError | None:
        """Free the waits that are open; return why that failed, if it did."""
        self._is_stopping = True
        self._database.limit_time(STOP_LIMIT)
        self._pool.close()
        self._calls_end.set()
        try:
            self._write()
            self._database.release(self._lease)
        except StoreError as error:
            logger.warning("worker: %s; others take over when the lease ends", error)
            return error
        finally:
            self._database.limit_time(None)
        return None

    def _claim(self) -> bool:
        """Take over waits; return whether there may be more."""
        options = self._options
        most = min(options.batch_size, options.max_open - len(self._driven))
        if most <= 0:
            return False
        with self._lock:
            now = self._clock()
            self._unable = {k: found for k, found in self._unable.items() if found[0] > now}
            without = {*self._unable, *self._stopping}
        claimed, clock = self._database.claim(self._lease, options.lease, most, without)
        rows = [row for row in claimed if row["state"] == OPEN]
        # Read after the claim, which may have waited for a lock before it read its clock.
        now = self._clock()
        # All of them count as driven from now on, before the first wait is made.
        for row in rows:
            self._driven[row["id"]] = self._held(row, now - clock)
        times = RowTimes(self._database, self._seal)
        for row in rows:
            self._prepare(row, clock, now, times)
            # Making a client may take half a second.
            self._renew_if_due()
        # A renewal that came too late has dropped them.
        found = [self._driven[row["id"]] for row in rows if row["id"] in self._driven]
        prepared = [(each.task, MethodType(self._on_end, each)) for each in found if each.task]
        if prepared:
            self._pool.add(prepared)
        for row in claimed[len(rows) :]:
            self._stop_owed(row)
        return len(rows) == most

    def _stop_owed(self, row: Row) -> None:
        """Make the stop that an ended wait owes; leave it to others if that cannot be done here."""
        try:
            begun = begun_of(row, self._seal)
            if begun is None or (stop := begun.trait.stop) is None or begun.told_stop is None:
                # Who ended it could not read that none was asked for.
                self._database.write(ENDED, [{"id": row["id"], "owes": None, "lease": None}])
                return
            self._seal.refuse_plain(row["parameters"])
            if stop.resource and row["lease"] != self._lease:
                reason = "it names the resource, and the worker of the wait has ended"
                self._stopped(begun, Stop(stop.operation, "not made", reason))
            # What finds no place here now is still owed.
            elif len(self._stopping) < MOST_STOPS:
                client = self._maker.client_of(row)
                with self._lock:
                    self._stopping.add(row["id"])
                begun.stop_in_thread(client, partial(self._stopped, begun))
        except OperationError as error:
            what = row["id" if error.code == "unreadable" else "kind"]
            with self._lock:
                self._unable[what] = self._clock() + UNABLE_FOR, UnableError(*error.args)
            self._database.write(ENDED, [{"id": row["id"], "lease": None}])

    def _stopped(self, begun: BegunRow, stop: Stop) -> None:
        try:
            self._database.write(ENDED, [begun.with_stop(stop)])
        # Whatever the caller's `encrypt` raises, too: the row owes it as before.
        except Exception as error:
            failed = UnableError("unavailable", f"its stop was not kept: {type(error).__name__}")
            # Another object: the thread of the worker may go through this one.
            left = self._clock() + UNABLE_FOR, failed
            self._unable = {**self._unable, begun.row["id"]: left}
        with self._lock:
            self._stopping.discard(begun.row["id"])
        self._news.put(None)

    def _held(self, row: Row, to_here: float) -> Driven:
        """Return what this worker keeps of a row; a damaged one has its end already."""
        try:
            check_row(row)
        except OperationError as error:
            damaged = Driven(row["id"], "", 0.0)
            self._set_result(damaged, error)
            return damaged
        deadline = row["deadline"] + to_here
        return Driven(row["id"], intern(row["kind"]), deadline)

    def _prepare(self, row: Row, clock: float, began: float, times: RowTimes) -> None:
        """Make the wait of a row ready to start; let it end if it cannot be run."""
        driven = self._driven.get(row["id"])
        if driven is None or driven.result is not None:
            return
        try:
            age = clock - row["machine_at"]
            if row["kind"] in self._unable:
                raise self._unable[row["kind"]][1]
            wait, begun = self._maker.wait_of(row)
            if begun is not None and begun.answer is None:
                age = clock - row["created"] + self._clock() - began
                self._go_on_calling(driven, begun, wait, age)
                return
            if begun is not None and begun.no_change_ok:
                driven.mutation = begun.mutation_on(wait.client)
            if begun is not None and begun.stop_on_timeout:
                driven.begun = begun
            driven.stored = wait.operation if row["include_response"] else None
            # Without the times the wait goes on as well.
            with contextlib.suppress(StoreError):
                wait.policy = times.policy(row, wait, is_begun=begun is not None)
            wait.age = row["elapsed"] + age
            driven.task = self._pool.prepared(
                wait,
                MethodType(self._on_attempt, driven),
                state=row["machine"],
                digest=intern(row["digest"]),
                seconds_ago=max(0.0, age + self._clock() - began),
            )
        except OperationError as error:
            driven.timeout = timeout_of(row) if row["attempts"] else None
            with contextlib.suppress(OperationError):
                driven.timeout = driven.timeout or unanswered(row, self._seal)
            if isinstance(error, UnableError):
                # Written if the wait ends: its time is over.
                driven.last_change = stop_at_end(row, "stop_on_timeout", self._seal)
            self._set_result(driven, error)
        # A damaged state may make any function fail; only the wait of that row ends.
        except Exception as error:
            problem = f"its state cannot be read: {type(error).__name__}"
            self._set_result(driven, unreadable(problem))

    def _go_on_calling(self, driven: Driven, begun: BegunRow, wait: Wait, age: float) -> None:
        """Repeat a call whose process is gone, if that is safe; its outcome is unknown if not."""

        def end(error: Exception) -> None:
            if not self._is_stopping:
                self._set_result(driven, error)

        driven.timeout = begun.unknown_answer()
        held = Held(wait, self._database, self._lease, driven.deadline, self._clock)
        if not begun.go_on(held, age, self._calls_end, end):
            with self._lock:
                self._to_give_back.add(driven.id)
            self._news.put(None)

    def _attempted(self, driven: Driven, event: WaitEvent) -> None:
        # Runs in the thread of the waits, as `_has_ended` does.
        task = driven.task
        assert task is not None, "a wait that was polled was begun"
        change = {"machine": task.run.stored_state(), **progress_of(event, 0.0)}
        error = change.pop("last_error", None)
        # The caller's `encrypt` may fail: a wait is not held up by what is only shown.
        with contextlib.suppress(Exception):
            change |= {} if error is None else {"last_error": self._seal.closed(error)}
        with self._lock:
            if self._driven.get(driven.id) is not driven:
                return
            if driven.change is not None:
                # Its error is the last one unless this attempt has another.
                change = {**driven.change[0], **change}
            if event.next_delay is None:
                driven.last_change = change
                return
            driven.change = change, self._clock()
            self._changed.add(driven.id)
            if task.run.is_unreachable:
                self._to_give_back.add(driven.id)
            else:
                # It was to be given back, and connects after all.
                self._to_give_back.discard(driven.id)
        task.run.forget_response()
        self._news.put(None)

    def _has_ended(self, driven: Driven, task: Task) -> None:
        # Handing back ends the calls in flight: their waits go on elsewhere.
        if isinstance(task.result, WaiterCancelledError) and self._is_stopping:
            return
        result: Any = task.result
        if driven.mutation is not None:
            result = unchanged_by(driven.mutation, result) or result
        # A last call without an answer counts as an attempt, but no event told of it.
        last = {"attempts": task.run.attempts, "elapsed": task.run.elapsed}
        driven.last_change = (driven.last_change or {}) | last
        not_here = unable(result) if isinstance(result, BaseException) else None
        begun = driven.begun
        if begun and (not_here or StopsAfter(timeout=True).includes(result)):

            def end(stop: Stop) -> None:
                # The caller's `encrypt` may fail: the wait ends all the same.
                with contextlib.suppress(Exception):
                    driven.last_change = {**(driven.last_change or {}), **begun.with_stop(stop)}
                self._set_result(driven, not_here or result)

            if not_here:
                # Written if the wait ends: its time is over.
                end(Stop(begun.effect.stop or "", "owed"))
            else:
                begun.stop_in_thread(task.connections.client, end)
        else:
            self._set_result(driven, not_here or result)

    def _set_result(self, driven: Driven, result: WaiterOutcome[Any] | BaseException) -> None:
        with self._lock:
            driven.result = result
            self._changed.add(driven.id)
            if isinstance(result, UnableError):
                self._leave_to_others(driven, result)
        self._news.put(None)

    def _leave_to_others(self, driven: Driven, error: UnableError) -> None:
        # One row may be damaged so that it cannot be decrypted. Many tell of another key.
        is_one = error.code == "unreadable" and len(self._unable) < MOST_UNREADABLE
        what = driven.id if is_one else driven.kind
        if what not in self._unable:
            left = f"{path_of({'id': driven.id})} is" if is_one else "waits of this kind are"
            logger.warning("worker: %s; %s left to others for %g s", error, left, UNABLE_FOR)
            self._unable[what] = self._clock() + UNABLE_FOR, error

    def _write(self) -> None:
        """Write what has changed: first the attempts, then the ends.

        Nothing is forgotten before it is written, whatever interrupts this.
        """
        with self._lock:
            changed = [self._driven[key] for key in self._changed & self._driven.keys()]
            attempts = [(each, each.change) for each in changed if each.change is not None]
            results = [(each, each.result) for each in changed if each.result is not None]
            self._changed = {each.id for each, _ in (*attempts, *results)}
        now = self._clock()
        changes = []
        for driven, (change, moment) in attempts:
            age = now - moment
            new = {"machine_at": -age, "next_attempt": change["next_attempt"] - age}
            changes.append({**change, "id": driven.id, **new})
        if changes:
            self._database.write(self._lease, changes)
            with self._lock:
                for driven, written in attempts:
                    if driven.change is written:
                        driven.change = None
        if results:
            self._write_ends(results)

    def _write_ends(
        self, results: Iterable[tuple[Driven, WaiterOutcome[Any] | BaseException]]
    ) -> None:
        now = self._clock()
        ends, backs = [], []
        for driven, result in results:
            if isinstance(result, UnableError) and now < driven.deadline:
                back = {"id": driven.id, **FREE}
                # The caller's `encrypt` may fail: others go on all the same.
                with contextlib.suppress(Exception):
                    back["last_error"] = self._seal.closed(problem(result.code, result.args[1]))
                backs.append(back)
            else:
                known = driven.timeout if isinstance(result, UnableError) else None
                end = end_of(driven.id, known or result, self._seal, driven.stored)
                ends.append({**(driven.last_change or {}), **end})
        self._ended += self._database.write(self._lease, ends) if ends else 0
        if backs:
            self._database.write(self._lease, backs)
        with self._lock:
            for driven, _ in results:
                del self._driven[driven.id]
        if not self._driven:
            self._check_at = 0.0
        self._watcher.check()

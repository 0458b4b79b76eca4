"""Drives the open operations of a store."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..engine.wait_event import WaitEvent
from ..exceptions import WaiterCancelledError
from ..many.wait import Wait
from ..outcome import ResponseOutcome, WaiterOutcome
from ..runtime.background import TaskEnd
from ..runtime.tasks import Task
from .error_codes import OperationError, StoreError
from .in_memory import progress_of
from .lease import Lease, LeaseLostError
from .operation import json_text
from .representation import error_json, response_json
from .stored_operation import Row, path_of
from .stored_wait import ClientDescription, rebuilt, response_without_sensitive, unsealed
from .tables import SUCCEEDED
from .wait_pool import WaitPool

if TYPE_CHECKING:
    from .store import Store

logger = logging.getLogger("boto_waiters_plus")

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks for new operations."""

WRITE_INTERVAL: Final = 0.05
"""Seconds between two writes: attempts of that time share a transaction."""

RENEWALS: Final = 3
"""Renewals within the time of a lease."""

MakeClient = Callable[[ClientDescription], Any]


class _Driven:
    """An operation that the worker drives."""

    __slots__ = ("include_response", "last_change", "task", "wait")

    def __init__(self, wait: Wait | None, *, include_response: bool) -> None:
        self.wait = wait
        self.include_response = include_response
        self.task: Task | None = None
        # Of the attempt that ended the wait: written with the end, because its state cannot be
        # resumed by the worker that takes over from one that was killed between the two.
        self.last_change: dict[str, Any] = {}


class Worker:
    """Drives the open operations of a store, as many as it may hold.

    One thread (the caller's) talks to the store, another steps the waits. What is written is
    fenced by the lease (see `lease`): if the lease was lost, nothing of it is taken.

    Args:
        store: has the operations.
        name: the name of the worker, as `metadata` shows it.
        lease: seconds after which others take over from a worker that does not renew its lease.
        batch_size: operations that are claimed at once.
        max_open: operations that are driven at once.
        threads: calls in flight at once.
        calls_per_second: of all workers of the store together, by service.
        make_client: makes the client of a description.
        stop_event: ends `run`.
    """

    def __init__(
        self,
        store: Store,
        *,
        name: str | None,
        lease: float,
        batch_size: int,
        max_open: int,
        threads: int,
        calls_per_second: Mapping[str, float],
        make_client: MakeClient,
        stop_event: threading.Event,
    ) -> None:
        self._store = store
        self._lease_seconds = lease
        self._lease = Lease(store.database, name or f"{socket.gethostname()}:{os.getpid()}", lease)
        self._batch_size = batch_size
        self._max_open = max_open
        self._make_client = make_client
        self._stop = stop_event
        self._pool = WaitPool(threads=threads)
        self._calls_per_second = calls_per_second
        self._clients: dict[ClientDescription, Any] = {}
        self._driven: dict[str, _Driven] = {}
        # What has to be written, by operation: the last attempt and its time; how it ended.
        self._lock = threading.Lock()
        self._attempts: dict[str, tuple[dict[str, Any], float]] = {}
        self._results: dict[str, Any] = {}
        # Not an event: a signal handler could not set one that its own thread waits for.
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_stopping = False
        # The wall clock and the monotonic clock at the last renewal.
        self._clocks: tuple[float, float] | None = None
        self._renew_at = 0.0
        self._check_at = 0.0
        self._ended = 0

    def run(self, *, until_idle: bool) -> int:
        """Drive operations until the stop event is set; return how many ended.

        Args:
            until_idle: return as soon as nothing is open but what other workers hold.
        """
        self._lease.acquire()
        self._renew_at = time.monotonic() + self._lease_seconds / RENEWALS
        try:
            while not (self._stop.is_set() or self._is_stopping):
                try:
                    is_idle = self._turn()
                except StoreError as error:
                    logger.warning("worker: %s; trying again", error)
                    self._sleep(CHECK_INTERVAL)
                    continue
                if is_idle and until_idle:
                    break
                self._sleep(min(self._check_at, self._renew_at) - time.monotonic())
        finally:
            self._hand_back()
        return self._ended

    def stop(self) -> None:
        """Let `run` return soon; for signal handlers too."""
        self._is_stopping = True
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
        if time.monotonic() < self._check_at:
            return False
        self._drop_lost()
        self._share_calls()
        try:
            is_full = self._claim()
        except LeaseLostError:
            self._replace_lease()
            return False
        self._check_at = time.monotonic() + (0.0 if is_full else CHECK_INTERVAL)
        return not self._driven

    # --- the lease ----------------------------------------------------------------------------

    def _renew_if_due(self) -> None:
        if time.monotonic() < self._renew_at:
            return
        before = time.monotonic()
        now = self._lease.renew()
        if now is None:
            self._replace_lease()
        elif self._clocks is not None:
            jump = (now - self._clocks[0]) - (before - self._clocks[1])
            if abs(jump) > self._lease_seconds:
                logger.warning("worker: the wall clock jumped by %.1f s", jump)
                self._lease.renew(clock_jump=jump)
        self._clocks = None if now is None else (now, before)
        self._renew_at = before + self._lease_seconds / RENEWALS

    def _replace_lease(self) -> None:
        """Drop all waits, which others drive now, and begin a new lease."""
        logger.warning("worker: the lease was lost; %d waits are dropped", len(self._driven))
        for key in list(self._driven):
            self._drop(key)
        self._lease.acquire()

    def _drop_lost(self) -> None:
        """Drop the waits that were cancelled, or that another worker drives."""
        if self._lease.number_driven() == len(self._driven):
            return
        driven = self._lease.driven()
        for key in [key for key in self._driven if key not in driven]:
            self._drop(key)

    def _share_calls(self) -> None:
        """Take an equal share of the calls per second that all workers have together."""
        if self._calls_per_second:
            workers = self._lease.workers()
            shares = {name: rate / workers for name, rate in self._calls_per_second.items()}
            self._pool.limit_calls(shares)

    def _drop(self, key: str) -> None:
        task = self._driven.pop(key).task
        with self._lock:
            self._attempts.pop(key, None)
            self._results.pop(key, None)
        if task is not None:
            self._pool.cancel(task)

    def _hand_back(self) -> None:
        self._is_stopping = True
        self._pool.close()
        try:
            self._write()
            self._lease.release()
        except StoreError as error:
            logger.warning("worker: %s; others take over when the lease ends", error)

    # --- operations that begin ----------------------------------------------------------------

    def _claim(self) -> bool:
        """Take over operations; return whether there may be more."""
        most = min(self._batch_size, self._max_open - len(self._driven))
        if most <= 0:
            return False
        rows, now = self._lease.claim(most)
        began = time.monotonic()
        prepared = []
        for row in rows:
            prepared += self._prepared(row, now - row["machine_at"], began)
            # Making a client may take half a second.
            self._renew_if_due()
        # A renewal that came too late has dropped them.
        driven = {each.task for each in self._driven.values()}
        prepared = [each for each in prepared if each[0] in driven]
        if prepared:
            self._pool.start(prepared)
        return len(rows) == most

    def _prepared(self, row: Row, age: float, began: float) -> list[tuple[Task, TaskEnd]]:
        """Return the wait of a row, ready to start; nothing if it cannot be run."""
        key, driven = row["id"], _Driven(None, include_response=row["include_response"])
        self._driven[key] = driven
        if age < -self._lease_seconds:
            logger.warning("worker: %s was stored later than now: was a clock set?", path_of(row))
        try:
            driven.wait = self._wait_of(row)
            task, on_end = self._pool.prepared(
                driven.wait,
                lambda task, event: self._attempted(key, driven, task, event),
                lambda task: self._has_ended(key, driven, task),
                state=row["machine"],
                seconds_ago=max(0.0, age + time.monotonic() - began),
            )
        except OperationError as error:
            return self._not_started(key, error)
        except (ValueError, TypeError) as error:
            problem = f"its state cannot be read: {type(error).__name__}"
            return self._not_started(key, OperationError("unreadable", problem))
        driven.task = task
        return [(task, on_end)]

    def _not_started(self, key: str, error: OperationError) -> list[tuple[Task, TaskEnd]]:
        self._results[key] = error
        self._news.put(None)
        return []

    def _wait_of(self, row: Row) -> Wait:
        parameters = unsealed(
            row["parameters"], self._store.decrypt, is_encrypted=row["is_encrypted"]
        )
        description = ClientDescription(
            row["service"], row["region"], row["profile"], row["endpoint"], row["client_settings"]
        )
        client = self._clients.get(description)
        if client is None:
            client = self._clients[description] = self._make_client(description)
        return rebuilt(client, row, parameters)

    # --- in the thread of the waits -----------------------------------------------------------

    def _attempted(self, key: str, driven: _Driven, task: Task, event: WaitEvent) -> None:
        progress = progress_of(event, 0.0)
        change = {
            "machine": task.run.stored_state(),
            "machine_at": 0.0,
            "attempts": progress.attempts,
            "elapsed": progress.elapsed,
            "state_seen": progress.state_seen,
            "next_attempt": progress.next_attempt,
        }
        with self._lock:
            if self._driven.get(key) is not driven:
                return
            if event.next_delay is None:
                driven.last_change = change
                self._attempts.pop(key, None)
                return
            self._attempts[key] = change, time.monotonic()
        task.run.forget_response()
        self._news.put(None)

    def _has_ended(self, key: str, driven: _Driven, task: Task) -> None:
        # Handing back ends the calls in flight: their waits go on elsewhere.
        if isinstance(task.result, WaiterCancelledError) and self._is_stopping:
            return
        # A last call without an answer counts as an attempt, but no event told of it.
        driven.last_change |= {"attempts": task.run.attempts, "elapsed": task.run.elapsed}
        with self._lock:
            if self._driven.get(key) is driven:
                self._results[key] = task.result
        self._news.put(None)

    # --- writing ------------------------------------------------------------------------------

    def _write(self) -> None:
        """Write what has changed: first the attempts, then the ends."""
        with self._lock:
            attempts, self._attempts = self._attempts, {}
            results = dict(self._results)
        now = time.monotonic()
        if attempts:
            changes = [{"id": key, **change} for key, (change, _) in attempts.items()]
            try:
                self._lease.write(changes, [now - moment for _, moment in attempts.values()])
            except StoreError:
                with self._lock:
                    self._attempts = {**attempts, **self._attempts}
                raise
        if results:
            self._write_ends(results)
            with self._lock:
                for key in results:
                    del self._driven[key], self._results[key]
            if not self._driven:
                self._check_at = 0.0
            self._store.watcher.check()

    def _write_ends(self, results: Mapping[str, Any]) -> None:
        ends = [self._end_of(key, result) for key, result in results.items()]
        # Those without a last attempt have fewer columns.
        for columns in {frozenset(end) for end in ends}:
            alike = [end for end in ends if end.keys() == columns]
            self._ended += self._lease.write(alike, [0.0] * len(alike))

    def _end_of(self, key: str, result: Any) -> dict[str, Any]:
        response = error = None
        if isinstance(result, BaseException):
            body = error_json(result)
            state, error = body["code"], json_text(body)
        else:
            state, response = SUCCEEDED, _response_text(self._driven[key], result)
        ended = self._driven[key].last_change
        ended = {**ended, "id": key, "state": state, "response": response, "error": error}
        return {**ended, "ended": 0.0, "lease": None, "next_attempt": None}


def _response_text(driven: _Driven, outcome: WaiterOutcome[Any]) -> str:
    response = None
    if driven.include_response and isinstance(outcome, ResponseOutcome):
        assert driven.wait is not None, "a wait that ended was begun"
        shape = driven.wait.operation.output_shape
        response = response_without_sensitive(shape, outcome.response)
    return json.dumps(response_json(outcome, response), separators=(",", ":"), default=str)


@contextlib.contextmanager
def ended_by_sigterm(worker: Worker) -> Iterator[None]:
    """Let SIGTERM end a worker while the block runs, if this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

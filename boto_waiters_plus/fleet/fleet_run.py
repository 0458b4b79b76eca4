"""One run on a cluster: places the shards, stores waits as there is room, reports their ends."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

import distributed
from distributed import Worker, get_worker
from distributed.core import Status

from ..batch.callbacks import Callbacks
from ..batch.schedule import DEFAULT_THREADS
from ..batch.wait import Wait
from ..common.arguments import callback
from ..common.errors import logger
from ..common.process import start_thread
from ..operations import Operation, Store, StoreError
from ..operations.operation import UnusableError, id_of
from ..operations.store import check_background
from ..operations.stored_wait import ClientDescription, NewRows
from ..operations.worker import Worker as StoreWorker
from ..operations.worker import WorkOptions

# --- what runs on a worker of the cluster: a worker of the store, until nothing is left for it

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks of whether a shard has to end."""

LONGEST_IDLE: Final = 30.0
"""Seconds without an open wait after which a shard ends by itself: its run may be dead."""

_STOPS: Final[dict[str, threading.Event]] = {}
"""What ends the shards of this process, by the names of their runs."""

_ALIVE: Final = (Status.running, Status.paused)


def host() -> str:
    """Return the name of this machine, where it is called."""
    return socket.gethostname()


def stop(run_name: str) -> None:
    """End the shards of a run in this process, also one that has not begun."""
    _STOPS.setdefault(run_name, threading.Event()).set()


def drive_shard(store_arguments: tuple[Any, ...], options: WorkOptions, run_name: str) -> int:
    """Drive waits of the store in this worker; return how many ended.

    It ends when the run ends, when the worker closes, and when nothing has been open for a while.
    In the first two cases, what is open is handed back at once. The arguments of the store are its
    URL, `encrypt` and `decrypt`.
    """
    worker = get_worker()
    stopped = _STOPS.setdefault(run_name, threading.Event())
    url, encrypt, decrypt = store_arguments
    store = Store(url, encrypt=encrypt, decrypt=decrypt)
    start_thread(lambda: _stop_when_over(stopped, worker, store), "shard")
    try:
        driver = StoreWorker(store, options, name=worker.address, stop_event=stopped)
        return driver.run(until_idle=False)
    finally:
        stopped.set()
        _STOPS.pop(run_name, None)
        store.close()


def _stop_when_over(stopped: threading.Event, worker: Worker, store: Store) -> None:
    used = time.monotonic()
    while not stopped.wait(CHECK_INTERVAL):
        # The database may come back.
        with contextlib.suppress(StoreError):
            if store.database.list({"state": "open"}, None, 1):
                used = time.monotonic()
        if worker.status not in _ALIVE or time.monotonic() - used > LONGEST_IDLE:
            stopped.set()


# --- the run, in the process that starts it ------------------------------------------------------

wait_for_futures: Any = distributed.wait
"""Untyped there."""

TURN: Final = 0.5
"""Seconds between two checks of the cluster and the store."""

STORED_AT_ONCE: Final = 1000
"""Waits that are stored in one transaction."""

STOP_GRACE: Final = 10.0
"""Seconds that the shards have to end at the end of a run."""


@dataclass(frozen=True, slots=True)
class FleetProgress:
    """How far a run is.

    Attributes:
        ended: operations that were yielded, or are about to be.
        open: waits of the store that are open.
        shards: workers of the cluster that drive waits.
        elapsed: seconds since the start of the run.
    """

    ended: int
    open: int
    shards: int
    elapsed: float


def run(
    waits_or_store: Iterable[Wait] | Store,
    /,
    *,
    client: Any,
    in_store: Store | None = None,
    max_open: int = 10_000,
    threads: int = DEFAULT_THREADS,
    batch_size: int = 100,
    lease: float | timedelta = 30,
    calls_per_second: Mapping[str, float] | None = None,
    make_client: Callable[[ClientDescription], Any] = ClientDescription.make,
    include_response: bool = False,
    progress: Callable[[FleetProgress], object] | None = None,
) -> Iterator[Operation]:
    """Drive waits on all workers of a Dask cluster, and yield each operation when it has ended.

    Every worker of the cluster gets one shard; so does a worker that joins later. When the lease of
    a worker that dies ends, the other shards continue its waits from their stored state.

    The waits are taken from `waits_or_store` as there is room for them, so that a generator of any
    length needs no memory; the time of a wait begins then. The cluster is serviced only between
    items: a caller who keeps an item for minutes should hand it to a thread. Closing the iterator
    stops the shards; open waits stay in the store, and another `run` continues them.

    Args:
        waits_or_store: `Wait` objects, or a store whose open waits are to be driven.
        client: a `distributed.Client`.
        in_store: where `Wait` objects are stored; every worker of the cluster must reach it.
        max_open: waits that a shard drives at once; more are taken when some have ended.
        threads: calls that a shard has in flight at once.
        batch_size: waits that a shard claims at once.
        lease: seconds that a shard may be silent before others take over.
        calls_per_second: the limit for all shards together, by the name of a service; see
            `Store.work`.
        make_client: makes a client on a worker; see `Store.work`.
        include_response: whether the responses that end `Wait` objects are stored.
        progress: called about twice a second with a `FleetProgress`.

    Raises:
        TypeError, ValueError: an argument is wrong, or the cluster has no workers. If
            `waits_or_store` is a list, its waits are checked too, before anything starts.
        StoreError: the store does not answer.
        ImportError: `distributed` is not installed.
        Exception: while iterating: what a shard raised, such as a `StoreError` on a worker that
            does not reach the store.
    """
    store, waits = _source(waits_or_store, in_store)
    if store.database.url is None:
        raise ValueError("a store in memory cannot be shared by processes: give it a file")
    options = WorkOptions(lease, batch_size, max_open, threads, calls_per_second, make_client)
    told = None if progress is None else callback("progress", progress)
    started = FleetRun(
        store, waits, client, options, include_response=include_response, progress=told
    )
    return started.operations()


def _source(source: Any, in_store: Any) -> tuple[Store, Iterator[Wait] | None]:
    """Return the store, and the waits that are to be stored; None: they are there."""
    if isinstance(source, Store):
        if in_store is not None:
            raise TypeError("in_store is for Wait objects; a store needs no other")
        return source, None
    if isinstance(source, Wait) or not isinstance(source, Iterable):
        name = type(source).__name__
        raise TypeError(f"waits_or_store must be Wait objects or a Store, not {name}")
    if not isinstance(in_store, Store):
        raise TypeError("Wait objects need in_store: an operations.Store that all workers reach")
    if isinstance(source, (list, tuple)):
        for wait in source:
            check_background(wait)
    return in_store, iter(source)


class FleetRun:
    """One run; see `fleet.run` for the arguments, and for what is raised."""

    def __init__(
        self,
        store: Store,
        waits: Iterator[Wait] | None,
        client: Any,
        options: WorkOptions,
        *,
        include_response: bool,
        progress: Callable[[FleetProgress], object] | None,
    ) -> None:
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise TypeError("client must be a distributed.Client without asynchronous=True")
        self._store = store
        self._waits: Iterator[Wait] = iter(()) if waits is None else waits
        self._client = cast("Any", client)  # Its methods have the types of both kinds at once.
        seal = store.seal
        # The `repr` of the URL, which Dask may log, has no password.
        self._store_arguments = store.database.url, seal.encrypt, seal.decrypt
        self._options = options
        self._include_response = include_response
        self._callbacks = Callbacks()
        self._progress = progress and self._callbacks.guarded(progress, "progress")
        self._name = f"boto-waiters-{uuid.uuid4().hex}"
        self._shards: dict[str, Any] = {}
        # What is to be stored, with its ids: again, if no answer comes.
        self._pending: NewRows | None = None
        self._fed_all = waits is None
        self._ended = 0
        workers = set(self._client.nthreads())
        if not workers:
            raise ValueError("the cluster of client has no workers")
        self._check_hosts(workers)
        # Before a shard is placed: what it ends at once has to be reported, too.
        self._open = store.database.open_ids()

    def operations(self) -> Generator[Operation, None, None]:
        """Yield each operation when it has ended."""
        began = time.monotonic()
        try:
            while True:
                self._place_shards()
                ended: list[Operation] = []
                try:
                    ended = self._turn()
                except UnusableError:
                    raise
                except StoreError as error:
                    logger.warning("fleet: %s; trying again", error)
                self._ended += len(ended)
                if self._progress is not None:
                    numbers = self._ended, len(self._open), len(self._shards)
                    self._progress(FleetProgress(*numbers, time.monotonic() - began))
                yield from ended
                if self._fed_all and not self._open:
                    break
                if self._fed_all or not self._room():
                    time.sleep(TURN)
        finally:
            self._end()
        self._callbacks.warn()

    def _turn(self) -> list[Operation]:
        """Store waits as there is room; return the operations that have ended."""
        # First: an error of it loses nothing that has ended.
        self._feed()
        now_open = self._store.database.open_ids()
        ended = self._store.ended(self._open - now_open)
        self._open = now_open
        return ended

    def _feed(self) -> None:
        room = self._room()
        if self._fed_all or not room:
            return
        if self._pending is None:
            waits = itertools.islice(self._waits, min(room, STORED_AT_ONCE))
            self._pending = self._store.rows_of(waits, include_response=self._include_response)
        paths = self._store.add_rows(self._pending)
        self._fed_all = not paths
        self._pending = None
        self._open.update(map(id_of, paths))

    def _room(self) -> int:
        return max(0, len(self._shards) * self._options.max_open - len(self._open))

    def _place_shards(self) -> None:
        """Let each worker have one shard; raise what a shard raised."""
        workers = set(self._client.nthreads())
        for address in self._shards.keys() - workers:
            logger.warning("fleet: worker %s is gone; others go on with its waits", address)
            self._shards.pop(address).cancel()
        for address in [each for each, shard in self._shards.items() if shard.done()]:
            self._shards.pop(address).result()
        new = workers - self._shards.keys()
        self._check_hosts(new)
        for address in new:
            self._shards[address] = self._client.submit(
                drive_shard,
                self._store_arguments,
                self._options,
                self._name,
                key=f"{self._name}-{uuid.uuid4().hex}",
                workers=[address],
                pure=False,
            )

    def _check_hosts(self, workers: set[str]) -> None:
        """Refuse a SQLite file that a worker on another machine would look for."""
        if not self._store.database.is_local or not workers:
            return
        # One that has gone meanwhile is left to the next turn.
        names = self._client.run(host, workers=list(workers), on_error="ignore")
        others = sorted({str(name) for name in names.values()} - {host()})
        if others:
            raise ValueError(
                f"workers run on {', '.join(others)}, and the store is a SQLite file of this "
                "machine: use a store on PostgreSQL"
            )

    def _end(self) -> None:
        shards, self._shards = self._shards, {}
        # A cluster that is closed has no shards.
        with contextlib.suppress(OSError, RuntimeError, distributed.TimeoutError):
            reached = self._client.run(stop, self._name, on_error="ignore")
            # The shard of a worker that has just gone would never end.
            left = [shard for address, shard in shards.items() if address in reached]
            wait_for_futures(left, timeout=STOP_GRACE)

"""One run on a cluster: places the shards, stores waits as there is room, reports their ends."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final

import distributed

from ..many.callbacks import Callbacks
from ..many.wait import Wait
from ..operations import Operation, Store, StoreError
from .shard import ShardOptions, drive, host, stop

wait_for_futures: Any = distributed.wait
"""Untyped there."""

logger = logging.getLogger("boto_waiters_plus")

TURN: Final = 0.5
"""Seconds between two checks of the cluster and the store."""

STORED_AT_ONCE: Final = 1000
"""Waits that are stored in one transaction."""

STOP_GRACE: Final = 10.0
"""Seconds that the shards have to end at the end of a run."""


@dataclass(frozen=True, slots=True)
class FleetProgress:
    """How far a run is."""

    ended: int
    """Operations that were yielded, or are about to be."""
    open: int
    """Operations of the store that are open."""
    shards: int
    """Workers of the cluster that drive operations."""
    elapsed: float
    """Seconds since the start of the run."""


class FleetRun:
    """One run; see `fleet.run` for the arguments.

    Raises:
        StoreError: the store does not answer.
        TypeError: not a blocking Dask client.
        ValueError: the cluster has no workers, or not all of them can open the store.
    """

    def __init__(
        self,
        store: Store,
        waits: Iterator[Wait] | None,
        client: Any,
        options: ShardOptions,
        *,
        include_response: bool,
        progress: Callable[[FleetProgress], object] | None,
    ) -> None:
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise TypeError("client must be a distributed.Client without asynchronous=True")
        self._store = store
        self._waits: Iterator[Wait] = iter(()) if waits is None else waits
        # Any: its methods are typed for both kinds of client at once.
        self._client: Any = client
        self._options = options
        self._include_response = include_response
        self._callbacks = Callbacks()
        self._progress = progress and self._callbacks.guarded(progress, "progress")
        self._name = f"boto-waiters-{uuid.uuid4().hex}"
        self._shards: dict[str, Any] = {}
        # Those that could not be stored when their turn came.
        self._pending: list[Wait] = []
        self._fed_all = waits is None
        self._ended = 0
        workers = self._workers()
        if not workers:
            raise ValueError("the cluster of client has no workers")
        self._check_hosts(workers)
        # Before a shard is placed: what it ends at once has to be reported, too.
        self._open = store.open_paths()

    def operations(self) -> Generator[Operation, None, None]:
        """Yield each operation when it has ended."""
        began = time.monotonic()
        try:
            while True:
                self._place_shards()
                ended: list[Operation] = []
                try:
                    ended = self._turn()
                except StoreError as error:
                    logger.warning("fleet: %s; trying again", error)
                self._ended += len(ended)
                if self._progress is not None:
                    elapsed = time.monotonic() - began
                    self._progress(
                        FleetProgress(self._ended, len(self._open), len(self._shards), elapsed)
                    )
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
        now_open = self._store.open_paths()
        ended = self._store.ended(list(self._open - now_open))
        self._open = now_open
        return ended

    def _feed(self) -> None:
        room = self._room()
        if self._fed_all or not room:
            return
        if not self._pending:
            self._pending = list(itertools.islice(self._waits, min(room, STORED_AT_ONCE)))
        paths = self._store.start_all(self._pending, include_response=self._include_response)
        self._fed_all = not paths
        self._pending = []
        self._open.update(paths)

    def _room(self) -> int:
        return max(0, len(self._shards) * self._options.max_open - len(self._open))

    # --- the cluster ------------------------------------------------------------------------

    def _workers(self) -> set[str]:
        return set(self._client.nthreads())

    def _place_shards(self) -> None:
        """Let each worker have one shard; raise what a shard raised."""
        workers = self._workers()
        for address in self._shards.keys() - workers:
            logger.warning("fleet: worker %s is gone; others go on with its waits", address)
            self._shards.pop(address).cancel()
        for address in [each for each, shard in self._shards.items() if shard.done()]:
            self._shards.pop(address).result()
        new = workers - self._shards.keys()
        self._check_hosts(new)
        for address in new:
            self._shards[address] = self._client.submit(
                drive,
                self._options,
                self._name,
                key=f"{self._name}-{uuid.uuid4().hex}",
                workers=[address],
                pure=False,
            )

    def _check_hosts(self, workers: set[str]) -> None:
        """Refuse a SQLite file that a worker on another machine would look for.

        Raises:
            ValueError: there is such a worker.
        """
        if self._options.url.get_backend_name() != "sqlite" or not workers:
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
        shards, self._shards = list(self._shards.values()), {}
        # A cluster that is closed has no shards.
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            self._client.run(stop, self._name, on_error="ignore")
            wait_for_futures(shards, timeout=STOP_GRACE)

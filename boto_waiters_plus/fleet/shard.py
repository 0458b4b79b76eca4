"""What runs on a worker of the cluster: a worker of the store, until nothing is left for it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from distributed import Worker, get_worker
from distributed.core import Status
from sqlalchemy import URL

from ..operations import Store, StoreError
from ..operations.stored_wait import Cipher, ClientDescription
from ..runtime.process import start_thread

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks of whether a shard has to end."""

LONGEST_IDLE: Final = 30.0
"""Seconds without an open operation after which a shard ends by itself: its run may be dead."""

_STOPS: Final[dict[str, threading.Event]] = {}
"""What ends the shards of this process, by the names of their runs."""

_ALIVE: Final = (Status.running, Status.paused)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOptions:
    """What all shards of a run have in common; see `fleet.run`."""

    url: URL
    """The store. Its `repr`, which Dask may log, has no password."""
    decrypt: Cipher | None
    max_open: int
    threads: int
    batch_size: int
    lease: float
    calls_per_second: Mapping[str, float]
    make_client: Callable[[ClientDescription], Any]


def host() -> str:
    """Return the name of this machine, where it is called."""
    return socket.gethostname()


def stop(run_name: str) -> None:
    """End the shards of a run in this process, also one that has not begun."""
    _STOPS.setdefault(run_name, threading.Event()).set()


def drive(options: ShardOptions, run_name: str) -> int:
    """Drive operations of the store in this worker; return how many ended.

    It ends when the run ends, when the worker closes, and when nothing has been open for a while.
    In the first two cases, what is open is handed back at once.

    Args:
        options: of the run.
        run_name: for `stop`.
    """
    worker = get_worker()
    stopped = _STOPS.setdefault(run_name, threading.Event())
    store = Store(options.url, decrypt=options.decrypt)
    start_thread(lambda: _stop_when_over(stopped, worker, store), "shard")
    try:
        return store.work(
            lease=options.lease,
            batch_size=options.batch_size,
            max_open=options.max_open,
            threads=options.threads,
            calls_per_second=options.calls_per_second or None,
            worker_name=worker.address,
            make_client=options.make_client,
            stop_event=stopped,
        )
    finally:
        stopped.set()
        _STOPS.pop(run_name, None)
        store.close()


def _stop_when_over(stopped: threading.Event, worker: Worker, store: Store) -> None:
    used = time.monotonic()
    while not stopped.wait(CHECK_INTERVAL):
        # The database may come back.
        with contextlib.suppress(StoreError):
            if store.has_open():
                used = time.monotonic()
        if worker.status not in _ALIVE or time.monotonic() - used > LONGEST_IDLE:
            stopped.set()

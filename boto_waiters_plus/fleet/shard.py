"""What runs on a worker of the cluster: a worker of the store, until nothing is left for it."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import distributed
from distributed import Worker, get_client, get_worker
from distributed.core import Status
from sqlalchemy import URL

from ..operations import Store, StoreError
from ..operations.stored_wait import Cipher, ClientDescription
from ..runtime.process import start_thread

logger = logging.getLogger("boto_waiters_plus")

DaskEvent: Any = distributed.Event
"""Untyped there."""

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks of whether a shard has to end."""

LONGEST_IDLE: Final = 30.0
"""Seconds without an open operation after which a shard ends by itself: its run may be dead."""

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


def drive(options: ShardOptions, stop_name: str) -> int:
    """Drive operations of the store in this worker; return how many ended.

    It ends when the run ends, when the worker closes, and when nothing has been open for a while.
    In the first two cases, what is open is handed back at once.

    Args:
        options: of the run.
        stop_name: the name of the Dask event that ends the shards of the run.
    """
    worker, ending = get_worker(), DaskEvent(stop_name, client=get_client())
    stop = threading.Event()
    store = Store(options.url, decrypt=options.decrypt)
    start_thread(lambda: _stop_when_over(stop, worker, ending, store), "shard")
    try:
        return store.work(
            lease=options.lease,
            batch_size=options.batch_size,
            max_open=options.max_open,
            threads=options.threads,
            calls_per_second=options.calls_per_second or None,
            worker_name=worker.address,
            make_client=options.make_client,
            stop_event=stop,
        )
    finally:
        stop.set()
        store.close()


def _stop_when_over(stop: threading.Event, worker: Worker, ending: Any, store: Store) -> None:
    used = time.monotonic()
    while not stop.wait(CHECK_INTERVAL):
        if worker.status not in _ALIVE:
            break
        try:
            if ending.is_set():
                break
            if store.has_open():
                used = time.monotonic()
        except StoreError:
            continue
        # The scheduler is gone, and the worker closes; Dask has many words for that.
        except Exception as error:
            logger.warning("fleet: no word from the scheduler: %s; the shard ends", error)
            break
        if time.monotonic() - used > LONGEST_IDLE:
            break
    stop.set()

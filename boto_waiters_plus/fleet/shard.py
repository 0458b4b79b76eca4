"""What runs on a worker of the cluster: a worker of the store, until nothing is left for it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import fields
from typing import Any, Final

from distributed import Worker, get_worker
from distributed.core import Status

from ..common.process import start_thread
from ..operations import Store, StoreError
from ..operations.worker import WorkOptions

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
        return store.work(
            **{each.name: getattr(options, each.name) for each in fields(options)},
            worker_name=worker.address,
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
            if store.backend.list({"state": "open"}, None, 1):
                used = time.monotonic()
        if worker.status not in _ALIVE or time.monotonic() - used > LONGEST_IDLE:
            stopped.set()

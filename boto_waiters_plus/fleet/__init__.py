"""A store's waits on a Dask cluster: one long-running shard on each of its workers.

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1) as cluster:
        for operation in fleet.run(waits, client=cluster.get_client(), in_store=store):
            print(operation.path, operation.exception() or "succeeded")

Dask places the shards; the store says which shard has which wait. A shard is a worker of the store
(`Store.work`): it claims waits in batches, runs them with one scheduler, as `wait_all` does, and
writes under its lease. There is no Dask task for a wait or a poll.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from ..arguments import callback
from ..many.wait import Wait
from ..operations import Operation, Store
from ..operations.client_description import ClientDescription
from ..operations.in_memory import check_background
from ..operations.work_options import WorkOptions
from ..runtime.schedule import DEFAULT_THREADS

try:
    from .fleet_run import FleetProgress, FleetRun
except ImportError as missing:
    if (missing.name or "").partition(".")[0] not in ("dask", "distributed"):
        raise
    raise ImportError(
        "boto_waiters_plus.fleet requires distributed; install it with: "
        "pip install 'boto-waiters-plus[fleet]'"
    ) from missing

__all__ = ["FleetProgress", "run"]


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
    if store.backend.url is None:
        raise ValueError("a store in memory cannot be shared by processes: give it a file")
    options = WorkOptions.checked(locals())
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

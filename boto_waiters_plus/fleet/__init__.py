"""A store's waits on a Dask cluster: one long-running shard on each of its workers.

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1) as cluster:
        for operation in fleet.run(waits, client=cluster.get_client(), in_store=store):
            print(operation.path, operation.exception() or "succeeded")

Dask places the shards; the store says which shard has which wait. A shard is a worker of the store
(`Store.work`): it claims waits in batches, runs them with one scheduler, as `wait_all` does, and
writes under its lease. There is no Dask task for a wait or a poll.
"""

from __future__ import annotations

from ..common.errors import refuse_missing

try:
    from .fleet_run import FleetProgress, run
except ImportError as missing:
    refuse_missing("boto_waiters_plus.fleet", "fleet", missing)

__all__ = ["FleetProgress", "run"]

"""Tests that go through all of `data/`.

The nightly `catalog` runs them for each service, the gate for those whose definitions or effects
have changed since the last full run (`tools/data_digests.py`).
"""

import pytest
from data_digests import changed_services, service_of

from boto_waiters_plus.definitions.smithy import service_key


def is_changed(service_id):
    """Return whether the definitions or effects of a service are others than in that run."""
    return service_key(service_id) in changed_services()


def by_service(rows):
    """Return rows that begin with a shape id, for `parametrize`: all, and those that changed."""
    nightly = pytest.mark.nightly(subject="catalog")
    changed = [row for row in rows if service_of(row[0]) in changed_services()]
    ids = ["-".join(map(str, row)) for row in rows]
    of_all = (
        pytest.param(*row, id=name, marks=nightly) for row, name in zip(rows, ids, strict=True)
    )
    return [*of_all, *(pytest.param(*row, id=f"changed {row[0]} {row[1]}") for row in changed)]

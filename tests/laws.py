"""Tests that go through all of `data/`.

The nightly `catalog` runs them for each service, the gate for those whose definitions or effects
have changed since the last full run (`tools/data_digests.py`).
"""

import pytest
from data_digests import changed_services, service_of


def is_changed(service_id):
    """Return whether the definitions or effects of a service are others than in that run."""
    return service_id.replace("-", "") in changed_services()


def by_service(rows):
    """Return the rows, which begin with a shape id, for `parametrize`."""
    nightly = pytest.mark.nightly(subject="catalog")
    return [
        pytest.param(*row, marks=() if service_of(row[0]) in changed_services() else nightly)
        for row in rows
    ]

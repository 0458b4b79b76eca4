"""The pytest fixture `virtual_time`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .virtual import VirtualClock
from .virtual import virtual_time as open_virtual_time


@pytest.fixture
def virtual_time() -> Iterator[VirtualClock]:
    """No real time passes in waits during the test; gives the clock."""
    with open_virtual_time() as clock:
        yield clock

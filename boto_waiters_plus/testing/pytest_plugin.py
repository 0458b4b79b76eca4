"""The pytest fixture `virtual_time`.

Every test session loads this module, so it imports nothing until a test asks for the fixture.
PYTEST_DONT_REWRITE: it may be imported before pytest starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .virtual import VirtualClock


@pytest.fixture
def virtual_time() -> Iterator[VirtualClock]:
    """Let no real time pass in waits during the test; gives the clock."""
    from .virtual import virtual_time as open_virtual_time  # noqa: PLC0415 - see above

    with open_virtual_time() as clock:
        yield clock

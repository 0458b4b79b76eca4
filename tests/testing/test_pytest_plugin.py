"""The fixture `virtual_time`, which comes with the installed package."""

import importlib.metadata
import time

from boto_waiters_plus.runtime.clock import SYSTEM_TIME, current_time
from boto_waiters_plus.testing import VirtualClock


def test_fixture_gives_the_clock_of_an_open_virtual_time(virtual_time):
    assert isinstance(virtual_time, VirtualClock)
    assert current_time() is virtual_time
    time.sleep(1000)
    assert virtual_time.now == 1000


def test_without_the_fixture_time_is_real():
    assert current_time() is SYSTEM_TIME


def test_plugin_is_registered_by_the_package():
    entry_points = importlib.metadata.entry_points(group="pytest11")
    [found] = [point for point in entry_points if point.name == "boto_waiters_plus"]
    assert found.value == "boto_waiters_plus.testing.pytest_plugin"

"""The fixture `virtual_time`, which comes with the installed package."""

import json
import subprocess
import sys
import time

import pytest

from boto_waiters_plus import testing
from boto_waiters_plus.runtime.clock import current_time
from boto_waiters_plus.testing import VirtualClock


def test_the_fixture_gives_the_open_clock(virtual_time):
    assert isinstance(virtual_time, VirtualClock)
    assert current_time() is virtual_time
    time.sleep(1000)
    assert virtual_time.now == 1000


def test_the_plugin_imports_nothing_but_itself():
    """Every test session of every project loads it, whether or not it uses the fixture."""
    script = (
        "import json, sys, pytest, logging, importlib;"
        "before = set(sys.modules);"
        "import boto_waiters_plus.testing.pytest_plugin;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    package = "boto_waiters_plus"
    assert json.loads(run.stdout) == [
        package,
        f"{package}.testing",
        f"{package}.testing.pytest_plugin",
    ]


def test_every_name_of_testing_is_lazy_and_listed():
    assert set(testing.__all__) <= set(dir(testing))
    assert all(getattr(testing, name) for name in testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        testing.nothing  # noqa: B018 - the access raises

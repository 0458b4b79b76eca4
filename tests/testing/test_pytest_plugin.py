"""The fixture `virtual_time`, which comes with the installed package."""

import json
import os
import subprocess
import sys
import time

import pytest

from boto_waiters_plus import testing
from boto_waiters_plus.calls.clock import current_time
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


def test_workers_of_xdist_have_clocks_of_their_own(tmp_path):
    pytest.importorskip("xdist")
    lines = "import time\n\ndef test_it(virtual_time):\n    time.sleep(1000)\n"
    lines += "    assert virtual_time.now == 1000\n"
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(lines)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert "2 passed" in run.stdout, run.stdout


IMPORTED_BEFORE = """
import boto_waiters_plus.testing.pytest_plugin
boto_waiters_plus.install()
import sys, pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider"]))
"""


def test_pytest_starts_where_the_package_was_imported_before(tmp_path):
    # As pip records the package; an installed one is found as well.
    record = tmp_path / "boto_waiters_plus-0.dist-info"
    record.mkdir()
    plugin = "boto_waiters_plus = boto_waiters_plus.testing.pytest_plugin"
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: boto-waiters-plus\nVersion: 0\n")
    (record / "entry_points.txt").write_text(f"[pytest11]\n{plugin}\n")
    files = ("__init__.py", "testing/__init__.py", "testing/pytest_plugin.py")
    (record / "RECORD").write_text("".join(f"boto_waiters_plus/{name},,\n" for name in files))
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "test_it.py").write_text("def test_it(virtual_time):\n    assert virtual_time\n")
    run = subprocess.run(
        [sys.executable, "-c", IMPORTED_BEFORE],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert "1 passed" in run.stdout

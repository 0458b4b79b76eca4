"""The fixture `virtual_time`, which comes with the installed package."""

import pytest
from hooks.new_process import output_of

from boto_waiters_plus import testing


def test_every_name_of_testing_is_lazy_and_listed():
    assert set(testing.__all__) <= set(dir(testing))
    assert all(getattr(testing, name) for name in testing.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        testing.nothing  # noqa: B018 - the access raises


PLUGIN = "boto_waiters_plus.testing.pytest_plugin"
SESSION = f"""
import sys, pytest, logging, importlib
before = set(sys.modules)
import {PLUGIN}
found = sorted(set(sys.modules) - before)
of_install = ("boto_waiters_plus.common", "boto_waiters_plus.hooks", "boto_waiters_plus.settings")
ours = [each for each in found if each.startswith("boto") and not each.startswith(of_install)]
assert ours == ["boto_waiters_plus", "boto_waiters_plus.testing", "{PLUGIN}"], found
boto_waiters_plus.install()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider"]))
"""


def test_pytest_loads_the_plugin_and_nothing_else(tmp_path):
    """Also where the package was imported before, by every test session of every project."""
    # As pip records the package; an installed one is found as well.
    record = tmp_path / "boto_waiters_plus-0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: boto-waiters-plus\nVersion: 0\n")
    (record / "entry_points.txt").write_text(f"[pytest11]\nboto_waiters_plus = {PLUGIN}\n")
    files = ("__init__.py", "testing/__init__.py", "testing/pytest_plugin.py")
    (record / "RECORD").write_text("".join(f"boto_waiters_plus/{name},,\n" for name in files))
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "test_it.py").write_text("def test_it(virtual_time):\n    assert virtual_time\n")
    assert "1 passed" in output_of(SESSION, path=[str(tmp_path)], folder=tmp_path)

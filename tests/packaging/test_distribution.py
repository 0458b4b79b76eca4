"""The package as it is installed: its version, its data, its names, what it imports."""

import importlib.metadata
import importlib.util
import inspect
import json
import pkgutil
import pydoc
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from hooks.new_process import run

import boto_waiters_plus

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(boto_waiters_plus.__file__).parent
NAMES = boto_waiters_plus.__all__
PUBLIC = {
    *("conditions", "fleet", "idempotency", "many", "operations", "progress", "signals"),
    *("telemetry", "testing", "typed", "validation"),
}
"""The submodules of docs/api, and those of their own pages."""
EXTRAS = {"fleet": "distributed", "telemetry": "opentelemetry"}

OTHERS = ("boto3", "botocore", "aiobotocore", "urllib3", "wrapt", "asyncio", "ssl")


HINTS = """
import json, sys
import boto_waiters_plus as bwp

first = sorted(sys.modules)
found = {}
for name in json.loads(sys.argv[1]):
    try:
        getattr(bwp, name)
    except AttributeError as error:
        found[name] = str(error)
print(json.dumps([found, [name for name in sys.modules if name not in first], dir(bwp)]))
"""


def test_a_public_submodule_is_loaded_on_access_and_kept_by_a_reload():
    code = """
        import importlib, json, pickle, sys
        import boto_waiters_plus as bwp

        given = {name: f"boto_waiters_plus.{name}" for name in json.loads(sys.argv[1])}
        early = [name for name, module in given.items() if module in sys.modules]
        loaded = [x for x, module in given.items() if getattr(bwp, x) is sys.modules[module]]
        names = [bwp.operations.start.__name__, bwp.typed.s3.enable.__name__]
        same = pickle.loads(pickle.dumps(bwp.begin))
        again = importlib.reload(bwp)
        kept = [again is bwp, again.begin is same, *(hasattr(again, x) for x in ("signals", "x"))]
        print(json.dumps([early, loaded, names, kept]))
    """
    names = sorted(name for name in PUBLIC if name not in EXTRAS)
    expected = [[], names, ["start", "enable"], [True, True, True, False]]
    assert run(code, json.dumps(names)) == expected


def test_a_name_of_a_submodule_says_its_import():
    homes = {}
    for module in sorted(PUBLIC - {*EXTRAS, "typed"}):
        found = import_module(f"boto_waiters_plus.{module}")
        homes |= {name: found for name in found.__all__ if name not in NAMES}
    assert {"call_once", "wait_for", "start", "virtual_time"} <= homes.keys()
    given = json.dumps([*homes, "nothing", "engine", "__wrapped__"])
    hints, imported, _ = run(HINTS, given)
    problem = "module 'boto_waiters_plus' has no attribute"
    for name in ("nothing", "engine", "__wrapped__"):
        assert hints.pop(name) == f"{problem} {name!r}"
    assert hints.keys() == homes.keys()
    for name, hint in hints.items():
        told, _, code = hint.partition(": write ")
        assert told == f"{problem} {name!r}"
        scope = {}
        exec(code.strip("`"), scope)
        assert scope[name] is getattr(homes[name], name)
    assert {name.partition(".")[0] for name in imported}.isdisjoint((*OTHERS, "boto_waiters_plus"))


def test_a_misspelt_name_has_pythons_own_guess():
    with pytest.raises(AttributeError) as caught:
        boto_waiters_plus.wait_untill  # noqa: B018 - it raises
    # Of these Python guesses.
    assert (caught.value.name, caught.value.obj) == ("wait_untill", boto_waiters_plus)


@pytest.mark.parametrize("spec", [None, SimpleNamespace(loader=None)])
def test_a_name_is_missing_also_where_no_source_is(spec, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    with pytest.raises(AttributeError, match=r"'boto_waiters_plus' has no attribute 'call_once'$"):
        boto_waiters_plus.call_once  # noqa: B018 - it raises


def test_dir_has_what_is_public():
    # In a fresh process, and after everything was loaded.
    for names in (run(HINTS, "[]")[2], dir(boto_waiters_plus)):
        public = {name for name in names if not name.startswith("__")}
        assert public == PUBLIC | {*NAMES} - {"__version__"}
    assert all(hasattr(boto_waiters_plus, name) for name in NAMES)
    submodules = {module.name for module in pkgutil.iter_modules(boto_waiters_plus.__path__)}
    assert submodules.isdisjoint(NAMES)


@pytest.mark.parametrize(("module", "package"), EXTRAS.items())
def test_a_submodule_without_its_extra_breaks_no_introspection(module, package, monkeypatch):
    own = f"boto_waiters_plus.{module}."
    for name in [each for each in sys.modules if f"{each}.".startswith(own)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delattr(boto_waiters_plus, module, raising=False)
    assert not hasattr(boto_waiters_plus, module)
    assert {name for name, _ in inspect.getmembers(boto_waiters_plus)} >= {*NAMES}
    assert "wait_until" in pydoc.plain(pydoc.render_doc(boto_waiters_plus))
    with pytest.raises(AttributeError, match="install it with"):
        getattr(boto_waiters_plus, module)
    with pytest.raises(ModuleNotFoundError, match="install it with"):
        exec(f"from boto_waiters_plus import {module}")


def test_installed_package_has_its_version_and_says_it_is_typed():
    assert importlib.metadata.version("boto-waiters-plus") == boto_waiters_plus.__version__
    files = importlib.metadata.files("boto-waiters-plus") or []
    editable = not any(str(file).endswith("outcome.py") for file in files)
    assert editable or any(str(file).endswith("py.typed") for file in files)


@pytest.mark.skipif(PACKAGE.parent == ROOT, reason="the checkout is imported")
def test_data_of_the_wheel_are_those_of_the_checkout():
    paths = sorted((ROOT / "data").glob("*.json"))
    with zipfile.ZipFile(PACKAGE / "data.zip") as data:
        assert sorted(data.namelist()) == [path.name for path in paths]
        for path in paths:
            assert data.read(path.name) == path.read_bytes(), path.name

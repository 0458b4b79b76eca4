"""`install` beside all that import systems do, on a package made for it."""

import importlib
import importlib.machinery
import importlib.util
import sys
from types import FunctionType, SimpleNamespace

import pytest
import wrapt

import boto_waiters_plus as bwp

NAME = "aiobotocore.waiter"
SOURCE = "class AIOWaiter:\n    async def wait(self): ...\n"


def forget(forgotten):
    for name in [each for each in sys.modules if each.partition(".")[0] == "aiobotocore"]:
        forgotten(sys.modules, name)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The folder of a package that is named as aiobotocore, and not imported yet."""
    forget(monkeypatch.delitem)
    folder = tmp_path / "aiobotocore"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "waiter.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    forget(dict.pop)


def is_extended(module):
    return type(vars(module.AIOWaiter)["wait"]) is wrapt.FunctionWrapper


def test_module_is_extended_each_time_it_is_loaded(package):
    bwp.install()
    module = importlib.import_module(NAME)
    assert is_extended(module)
    assert importlib.reload(module) is module
    assert is_extended(module)
    # As eventlet and gevent do, to import a patched copy.
    del sys.modules[NAME]
    copied = importlib.import_module(NAME)
    assert copied is not module
    assert is_extended(copied)
    # No trace of the hook is left.
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader
    assert module.__spec__.loader is module.__loader__


def test_a_module_that_is_found_is_extended_when_it_is_executed(package):
    bwp.install()
    spec = importlib.util.find_spec(NAME)
    assert isinstance(spec.loader, importlib.machinery.SourceFileLoader)
    assert spec.loader.get_source(NAME) == SOURCE
    assert spec.loader.path == spec.origin == str(package / "waiter.py")
    assert NAME not in sys.modules
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert is_extended(module)


def test_missing_modules_and_namespace_packages_pass_through(package):
    (package / "waiter.py").unlink()
    bwp.install()
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}'"):
        importlib.import_module(NAME)
    (package / "waiter").mkdir()
    importlib.invalidate_caches()
    assert list(importlib.import_module(NAME).__path__) == [str(package / "waiter")]


def test_module_that_fails_raises_its_own_error_and_can_be_tried_again(package):
    path = package / "waiter.py"
    path.write_text("raise RuntimeError('broken')")
    bwp.install()
    with pytest.raises(RuntimeError, match=r"^broken$"):
        importlib.import_module(NAME)
    path.write_text(SOURCE + "# mended, and of another size\n")
    importlib.invalidate_caches()
    assert is_extended(importlib.import_module(NAME))


def test_module_that_cannot_be_extended_is_logged_and_imported(package, caplog):
    (package / "waiter.py").write_text("class AIOWaiter: ...\n")
    bwp.install()
    assert importlib.import_module(NAME).AIOWaiter
    [record] = caplog.records
    assert (record.levelname, record.exc_info[0]) == ("ERROR", KeyError)


@pytest.mark.parametrize("ours_first", [True, False])
def test_other_hook_that_asks_all_finders_is_called_too(package, ours_first):
    others = []
    if ours_first:
        bwp.install()
    wrapt.when_imported(NAME)(others.append)
    bwp.install()
    module = importlib.import_module(NAME)
    assert others == [module]
    assert is_extended(module)
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader


PATH_FINDER = importlib.machinery.PathFinder


def test_a_tool_that_removes_the_first_finder_removes_its_own(package, monkeypatch):
    before, of_a_tool = list(sys.meta_path), SimpleNamespace(find_spec=lambda *_: None)
    monkeypatch.setattr(sys, "meta_path", [of_a_tool, *before])
    bwp.install()
    assert sys.meta_path.pop(0) is of_a_tool
    assert is_extended(importlib.import_module(NAME))
    bwp.uninstall()
    assert sys.meta_path == before


def without_path_finder(finders):
    stand_in = SimpleNamespace(find_spec=PATH_FINDER.find_spec)
    return [*(each for each in finders if each is not PATH_FINDER), stand_in]


@pytest.mark.parametrize("others", [reversed, without_path_finder])
def test_other_finders_do_not_matter(package, monkeypatch, others):
    monkeypatch.setattr(sys, "meta_path", [*others(sys.meta_path)])
    bwp.install()
    assert is_extended(importlib.import_module(NAME))
    bwp.uninstall()


def test_a_copy_under_a_prefix_is_left_alone(package):
    (package / "botocore").mkdir()
    (package / "botocore" / "waiter.py").write_text("class Waiter:\n    def wait(self): ...\n")
    bwp.install()
    waiter = importlib.import_module("aiobotocore.botocore.waiter").Waiter
    assert type(vars(waiter)["wait"]) is FunctionType


def test_uninstall_extends_no_module_any_more(package):
    before = list(sys.meta_path)
    for _ in range(2):
        bwp.install()
    [ours] = [each for each in sys.meta_path if each not in before]
    assert sys.meta_path.index(ours) == sys.meta_path.index(PATH_FINDER) - 1
    for _ in range(2):
        bwp.uninstall()
    assert sys.meta_path == before
    assert not is_extended(importlib.import_module(NAME))

"""`ImportHook` beside all that import systems do, on modules made for it."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import wrapt

from boto_waiters_plus.hooks.import_hook import ImportHook

SOURCE = "loaded = True\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder on `sys.path`; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("hooked"):
            del sys.modules[name]


@pytest.fixture
def watch(place):
    """Watch modules; returns what the hook was called with."""
    hooks = []

    def watch(*names, act=None):
        seen = []
        hook = ImportHook(names, act or seen.append)
        hook.put_in_place()
        hooks.append(hook)
        return seen

    yield watch
    for hook in hooks:
        hook.remove()


def write(folder, *names):
    for name in names:
        path = folder.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE)
    importlib.invalidate_caches()


def test_hook_is_called_once_the_module_is_loaded(place, watch):
    write(place, "hooked_a", "hooked_b")
    loaded = []
    watch("hooked_a", act=lambda module: loaded.append(module.loaded))
    importlib.import_module("hooked_b")
    assert loaded == []
    importlib.import_module("hooked_a")
    importlib.import_module("hooked_a")
    assert loaded == [True]


def test_imported_module_keeps_no_trace_of_the_hook(place, watch):
    write(place, "hooked_a")
    watch("hooked_a")
    module = importlib.import_module("hooked_a")
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader
    assert module.__spec__.loader is module.__loader__


def test_name_below_a_prefix_is_another_module(place, watch):
    write(place, "hooked_vendor.__init__", "hooked_vendor.hooked_a")
    seen = watch("hooked_a")
    importlib.import_module("hooked_vendor.hooked_a")
    assert seen == []


def test_finding_without_importing_calls_nothing(place, watch):
    write(place, "hooked_a")
    seen = watch("hooked_a")
    spec = importlib.util.find_spec("hooked_a")
    assert isinstance(spec.loader, importlib.machinery.SourceFileLoader)
    assert spec.loader.get_source("hooked_a") == SOURCE
    assert spec.loader.path == spec.origin == str(place / "hooked_a.py")
    assert seen == []
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert seen == [module]
    assert spec.loader is module.__loader__


def test_reload_calls_the_hook_again(place, watch):
    write(place, "hooked_a")
    seen = watch("hooked_a")
    module = importlib.import_module("hooked_a")
    assert importlib.reload(module) is module
    assert seen == [module, module]
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader


def test_module_that_was_forgotten_is_hooked_again(place, watch):
    """As eventlet and gevent do, to import a patched copy."""
    write(place, "hooked_a")
    seen = watch("hooked_a")
    first = importlib.import_module("hooked_a")
    del sys.modules["hooked_a"]
    second = importlib.import_module("hooked_a")
    assert first is not second
    assert seen == [first, second]


def test_modules_of_a_zip_file_are_hooked(place, watch, monkeypatch):
    archive = place / "modules.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("hooked_a", "hooked_b"):
            file.writestr(f"{name}.py", SOURCE)
    monkeypatch.syspath_prepend(str(archive))
    seen = watch("hooked_a")
    module = importlib.import_module("hooked_a")
    importlib.import_module("hooked_b")
    assert seen == [module]
    assert module.__loader__.archive == str(archive)


def test_namespace_package_passes_through(place, watch):
    write(place, "hooked_space.hooked_a")
    seen = watch("hooked_space", "hooked_space.hooked_a")
    package = importlib.import_module("hooked_space")
    assert list(package.__path__) == [str(place / "hooked_space")]
    module = importlib.import_module("hooked_space.hooked_a")
    assert seen == [module]


def test_missing_module_is_missing(watch):
    seen = watch("hooked_missing")
    with pytest.raises(ModuleNotFoundError, match="No module named 'hooked_missing'"):
        importlib.import_module("hooked_missing")
    assert importlib.util.find_spec("hooked_missing") is None
    assert seen == []


def test_module_that_fails_raises_its_own_error_and_can_be_tried_again(place, watch):
    path = place / "hooked_a.py"
    path.write_text("raise RuntimeError('broken')")
    seen = watch("hooked_a")
    with pytest.raises(RuntimeError, match=r"^broken$"):
        importlib.import_module("hooked_a")
    assert "hooked_a" not in sys.modules
    path.write_text(SOURCE + "# mended, and of another size\n")
    importlib.invalidate_caches()
    assert [importlib.import_module("hooked_a")] == seen


def test_error_of_the_hook_is_logged_and_the_import_goes_on(place, watch, caplog):
    write(place, "hooked_a")

    def fail(module):
        raise LookupError("of ours")

    watch("hooked_a", act=fail)
    assert importlib.import_module("hooked_a").loaded
    [record] = caplog.records
    assert record.levelname == "ERROR"
    assert "hooked_a.py'>; it stays as it is without install()" in record.getMessage()
    assert "LookupError: of ours" in caplog.text


class Finder(importlib.abc.MetaPathFinder):
    """A finder of another's for one module."""

    def __init__(self, loader):
        self.loader = loader

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self.loader) if name == "hooked_a" else None


class LegacyLoader:
    """A loader of the time before `exec_module`."""

    def load_module(self, name):
        module = sys.modules[name] = type(sys)(name)
        module.__loader__ = self
        module.loaded = True
        return module


@pytest.mark.filterwarnings("ignore::ImportWarning", "ignore::DeprecationWarning")
@pytest.mark.skipif(sys.version_info >= (3, 15), reason="Python knows exec_module alone")
def test_loader_without_exec_module_is_hooked(watch, monkeypatch):
    loader = LegacyLoader()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder(loader)])
    seen = watch("hooked_a")
    module = importlib.import_module("hooked_a")
    assert seen == [module]
    assert module.__spec__.loader is module.__loader__ is loader


def test_loader_that_is_a_class_is_hooked(watch, monkeypatch):
    class Loader:
        @staticmethod
        def create_module(spec):
            return None

        @staticmethod
        def exec_module(module):
            module.loaded = True

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder(Loader)])
    seen = watch("hooked_a")
    module = importlib.import_module("hooked_a")
    assert seen == [module]
    assert module.__loader__ is Loader


class LegacyFinder:
    """A finder of the time before `find_spec`."""

    def find_module(self, name, path=None):
        return LegacyLoader() if name == "hooked_a" else None


@pytest.mark.filterwarnings("ignore::ImportWarning", "ignore::DeprecationWarning")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python knows find_spec alone")
def test_finder_without_find_spec_is_left_to_the_import_system(place, watch, monkeypatch):
    write(place, "hooked_a")
    monkeypatch.setattr(sys, "meta_path", [LegacyFinder(), *sys.meta_path])
    watch("hooked_a")
    assert type(importlib.import_module("hooked_a").__loader__) is LegacyLoader


@pytest.mark.parametrize("ours_first", [True, False])
def test_other_hook_that_asks_all_finders_is_called_too(place, watch, ours_first):
    name = f"hooked_{ours_first}"
    write(place, name)
    others = []
    if ours_first:
        seen = watch(name)
    wrapt.when_imported(name)(others.append)
    if not ours_first:
        seen = watch(name)
    module = importlib.import_module(name)
    assert seen == others == [module]
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader


def test_lazy_module_is_hooked_when_it_is_loaded(place, watch):
    write(place, "hooked_a")
    seen = watch("hooked_a")
    spec = importlib.util.find_spec("hooked_a")
    loader = spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert seen == []
    assert module.loaded
    assert seen == [module]


def test_twenty_threads_that_import_at_once_get_hooked_modules(place, watch):
    names = [f"hooked_{index}" for index in range(5)]
    for index, name in enumerate(names):
        # Each imports the next, so that threads wait for one another.
        following = f"import {names[index + 1]}\n" if index < 4 else ""
        (place / f"{name}.py").write_text(f"import time\ntime.sleep(0.01)\n{following}done = False")
    importlib.invalidate_caches()
    calls = []

    def act(module):
        calls.append(module.__name__)
        module.done = True

    watch(*names, act=act)
    barrier = threading.Barrier(20)

    def import_one(index):
        barrier.wait(10)
        return importlib.import_module(names[index % 5]).done

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(import_one, range(20))) == [True] * 20
    assert sorted(calls) == names


def test_removed_hook_is_called_no_more(place):
    write(place, "hooked_a", "hooked_b")
    seen = []
    before = list(sys.meta_path)
    hook = ImportHook(["hooked_a", "hooked_b"], seen.append)
    for _ in range(3):
        hook.put_in_place()
    assert sys.meta_path == [hook, *before]
    hook.remove()
    hook.remove()
    assert sys.meta_path == before
    importlib.import_module("hooked_a")
    assert seen == []

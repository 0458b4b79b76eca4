"""`ImportHook` beside all that import systems do, on modules made for it."""

import importlib
import importlib.machinery
import importlib.util
import sys

import pytest
import wrapt

from boto_waiters_plus.hooks.import_hook import ImportHook

SOURCE = "loaded = True\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder on `sys.path` with two modules; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("hooked_a", "hooked_b"):
        (tmp_path / f"{name}.py").write_text(SOURCE)
    importlib.invalidate_caches()
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


def test_hook_is_called_each_time_the_module_is_loaded(watch):
    loaded = []
    watch("hooked_a", act=lambda module: loaded.append(module.loaded))
    importlib.import_module("hooked_b")
    assert loaded == []
    module = importlib.import_module("hooked_a")
    importlib.import_module("hooked_a")
    assert loaded == [True]
    assert importlib.reload(module) is module
    # As eventlet and gevent do, to import a patched copy.
    del sys.modules["hooked_a"]
    assert importlib.import_module("hooked_a") is not module
    assert loaded == [True] * 3
    # No trace of the hook is left.
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader
    assert module.__spec__.loader is module.__loader__


def test_finding_without_importing_calls_nothing(place, watch):
    seen = watch("hooked_a")
    spec = importlib.util.find_spec("hooked_a")
    assert isinstance(spec.loader, importlib.machinery.SourceFileLoader)
    assert spec.loader.get_source("hooked_a") == SOURCE
    assert spec.loader.path == spec.origin == str(place / "hooked_a.py")
    assert seen == []
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert seen == [module]


def test_missing_modules_and_namespace_packages_pass_through(place, watch):
    (place / "hooked_space").mkdir()
    seen = watch("hooked_missing", "hooked_space")
    with pytest.raises(ModuleNotFoundError, match="No module named 'hooked_missing'"):
        importlib.import_module("hooked_missing")
    package = importlib.import_module("hooked_space")
    assert list(package.__path__) == [str(place / "hooked_space")]
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


def test_error_of_the_hook_is_logged_and_the_import_goes_on(watch, caplog):
    def fail(module):
        raise LookupError("of ours")

    watch("hooked_a", act=fail)
    assert importlib.import_module("hooked_a").loaded
    [record] = caplog.records
    assert (record.levelname, record.exc_info[0]) == ("ERROR", LookupError)


@pytest.mark.parametrize("ours_first", [True, False])
def test_other_hook_that_asks_all_finders_is_called_too(place, watch, ours_first):
    # wrapt's hook cannot be removed, so that each needs a name.
    name = f"hooked_{ours_first}"
    (place / f"{name}.py").write_text(SOURCE)
    others = []
    if ours_first:
        seen = watch(name)
    wrapt.when_imported(name)(others.append)
    if not ours_first:
        seen = watch(name)
    module = importlib.import_module(name)
    assert seen == others == [module]
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader


def test_removed_hook_is_called_no_more(place):
    seen, before = [], list(sys.meta_path)
    hook = ImportHook(["hooked_a"], seen.append)
    for _ in range(2):
        hook.put_in_place()
    assert sys.meta_path == [hook, *before]
    for _ in range(2):
        hook.remove()
    assert sys.meta_path == before
    importlib.import_module("hooked_a")
    assert seen == []

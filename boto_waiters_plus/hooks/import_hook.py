"""Calls a function after chosen modules are imported, at any time and from anywhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

from ..common.errors import logger

_OF_THE_INTERPRETER: Final = (BuiltinImporter, FrozenImporter)


class ImportHook:
    """A finder for `sys.meta_path` that calls a function after each import, reloads included.

    It finds nothing itself: it asks the other finders, and stands in for the loader that they found
    until the module is loaded. Modules are named exactly, so that a copy that another package
    ships under a prefix of its own is not one of them. An error of the function is logged, and the
    import goes on.

    Args:
        names: the modules.
        act: called with the module, in the thread that imports it, before the import returns.
    """

    def __init__(self, names: Iterable[str], act: Callable[[ModuleType], object]) -> None:
        self._names = frozenset(names)
        self._act = act
        # Other hooks ask all finders too. By thread: several may import at once.
        self._asking = threading.local()

    def put_in_place(self) -> None:
        """Call the function from now on."""
        if any(finder is self for finder in sys.meta_path):
            return
        # Directly before the path finder, and those that stand in for it in packed programs. Not
        # first: a test tool puts its own finder there, and later removes the first one.
        path_finder = next(
            (i for i, each in enumerate(sys.meta_path) if each is PathFinder), len(sys.meta_path)
        )
        before = sys.meta_path[:path_finder]
        places = [i for i, each in enumerate(before) if each in _OF_THE_INTERPRETER]
        sys.meta_path.insert(max(places, default=-1) + 1, self)

    def remove(self) -> None:
        """Call the function no more."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find, with a loader that calls the function."""
        asking = self._asking.__dict__
        if name not in self._names or name in asking:
            return None
        asking[name] = True
        try:
            spec = self._found_by_others(name, path, target)
        finally:
            del asking[name]
        # A namespace package has no loader, and an old loader has no `exec_module`.
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec, self._after_import)  # type: ignore[assignment]  # its attributes are the loader's
        return spec

    def _found_by_others(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        finders = list(sys.meta_path)
        # Those in front were asked.
        for finder in finders[finders.index(self) + 1 :] if self in finders else ():
            find_spec = getattr(finder, "find_spec", None)
            if find_spec is None:
                # A finder of the protocol before `find_spec`: the import system knows how to ask.
                return None
            spec: ModuleSpec | None = find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _after_import(self, module: ModuleType) -> None:
        try:
            self._act(module)
        # Whatever it is, the program must get the module that it imports.
        except Exception:
            logger.exception("cannot extend %s; it stays as it is without install()", module)


class _Loader:
    """A loader that stands in a spec until the module is loaded, and leaves no trace then."""

    def __init__(self, spec: ModuleSpec, after_import: Callable[[ModuleType], None]) -> None:
        self._loader: Any = spec.loader
        self._spec = spec
        self._after_import = after_import

    # To code that finds a spec without importing the module, this looks like the loader itself.
    @property  # type: ignore[misc]  # not a member that classes usually define
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # no setter
        return type(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_loader"], name)

    def exec_module(self, module: ModuleType) -> None:
        current: Any = self._spec.loader
        if current is self:
            self._spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._after_import(module)

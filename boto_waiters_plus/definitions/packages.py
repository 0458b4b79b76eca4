"""Definitions in installed packages: the entry points of group `boto_waiters_plus.definitions`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..exceptions import WaiterDefinitionError
from .files import load_layers
from .overlays import Layer

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "boto_waiters_plus.definitions"

logger = logging.getLogger("boto_waiters_plus")


@cache
def installed_layers() -> tuple[Sequence[Layer], WaiterDefinitionError | None]:
    """Return what installed packages define, and the error of the first that cannot be used.

    The definitions and overlays are in the order of the names of the entry points, for every
    service. They are read once per process.
    """
    layers: list[Layer] = []
    problem: WaiterDefinitionError | None = None
    for entry_point in entry_points():
        try:
            layers += _load(entry_point)
        except WaiterDefinitionError as error:  # noqa: PERF203 - of one package
            logger.warning("refused: %s", error)
            problem = problem or error.with_traceback(None)
    return layers, problem


def entry_points() -> list[EntryPoint]:
    """Return the entry points of the group, by their names."""
    if not any(map(_may_have_entry_points, sys.path)):
        return []
    # 7 ms where 180 packages are installed, and 20 for the import: only where there is one.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return sorted(entry_points(group=GROUP), key=lambda each: each.name)


def _may_have_entry_points(folder: str) -> bool:
    """Return whether a package in a folder of `sys.path` may have an entry point of the group."""
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in entries]
    except OSError:
        # An archive: only `importlib.metadata` can tell.
        return Path(folder).is_file()
    texts = (
        _text_of(f"{folder or '.'}/{name}/entry_points.txt")
        for name in names
        if name.endswith((".dist-info", ".egg-info"))
    )
    return any(GROUP.encode() in text for text in texts)


def _text_of(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - half the time of pathlib
            return file.read()
    except OSError:
        return b""


def _load(entry_point: EntryPoint) -> Iterator[Layer]:
    """Yield what an entry point stands for: a package's files, or what `definitions=` takes."""
    try:
        loaded = entry_point.load()
    # Whatever the code of a package raises, it must not break the waits of all services.
    except Exception as error:
        raise _error(entry_point, f"{type(error).__name__}: {error}") from error
    source: Any = list(getattr(loaded, "__path__", ())) or loaded
    if isinstance(source, type(sys)):
        raise _error(entry_point, "a module without a folder of files; name one of its members")
    yield from load_layers(source)


def _error(entry_point: EntryPoint, problem: str) -> WaiterDefinitionError:
    dist = getattr(entry_point, "dist", None)
    place = "" if dist is None else f" of {dist.metadata['Name']}"
    source = f"entry point {entry_point.name!r}{place}"
    return WaiterDefinitionError(f"{entry_point.value} cannot be loaded: {problem}", source=source)

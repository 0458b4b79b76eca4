"""Definitions in installed packages: the entry points of group `boto_waiters_plus.definitions`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any, Final

from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from .files import load_definitions

GROUP: Final = "boto_waiters_plus.definitions"

logger = logging.getLogger("boto_waiters_plus")


@cache
def installed_definitions() -> tuple[Sequence[WaiterDefinition], WaiterDefinitionError | None]:
    """Return what installed packages define, and the error of the first that cannot be used.

    The definitions are in the order of the names of the entry points, for every service. They are
    read once per process.
    """
    definitions: list[WaiterDefinition] = []
    problems: list[WaiterDefinitionError] = []
    for entry_point in _entry_points(problems):
        try:
            definitions += _load(entry_point)
        except WaiterDefinitionError as error:  # noqa: PERF203 - of one package
            problems.append(error.with_traceback(None))
    for problem in problems:
        logger.warning("refused: %s", problem)
    return definitions, next(iter(problems), None)


def _entry_points(problems: list[WaiterDefinitionError]) -> Sequence[EntryPoint]:
    try:
        return sorted(entry_points(group=GROUP), key=attrgetter("name"))
    # A malformed file of any installed package must not break the waits of all services.
    except Exception as error:
        text = f"their entry points cannot be read: {type(error).__name__}: {error}"
        problems.append(WaiterDefinitionError(text, source="installed packages"))
        return ()


def _load(entry_point: EntryPoint) -> Iterable[WaiterDefinition]:
    """Return what an entry point stands for: a package's files, or what `definitions=` takes."""
    try:
        loaded = entry_point.load()
    # Whatever the code of a package raises, it must not break the waits of all services.
    except Exception as error:
        raise _error(entry_point, f"{type(error).__name__}: {error}") from error
    source: Any = list(getattr(loaded, "__path__", ())) or loaded
    if isinstance(source, type(sys)):
        raise _error(entry_point, "a module without a folder of files; name one of its members")
    return load_definitions(source)


def _error(entry_point: EntryPoint, problem: str) -> WaiterDefinitionError:
    dist = getattr(entry_point, "dist", None)
    place = "" if dist is None else f" of {dist.metadata['Name']}"
    source = f"entry point {entry_point.name!r}{place}"
    return WaiterDefinitionError(f"{entry_point.value} cannot be loaded: {problem}", source=source)

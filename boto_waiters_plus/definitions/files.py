"""Load definitions from files, folders, dicts and installed packages, in any of the formats."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..common.errors import WaiterDefinitionError, logger, missing_extra
from ..engine.model import WaiterDefinition
from .parsing import Place
from .smithy import WAITABLE, parse_model, refuse_conflicts, service_key
from .waiters2 import unread_waiters2

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MAX_FILE_SIZE = 10_000_000
"""Bytes. The largest of AWS's own Smithy models is smaller."""

SUFFIXES = (".json", ".smithy")
"""The suffixes that a folder is searched for. A `.smithy` file is Smithy IDL."""

SEARCH_PATH_FILE = "smithy-waiters-1"
"""The name, without `.json`, of a file of definitions on botocore's search path."""

Source = str | os.PathLike[str] | Mapping[str, Any] | WaiterDefinition


def load_definitions(source: Source | Iterable[Source]) -> tuple[WaiterDefinition, ...]:
    """Load waiter definitions in Smithy JSON AST, Smithy IDL or botocore's `waiters-2` form.

    Args:
        source: a file, a folder (every `.json` and `.smithy` file below it that holds waiters), a
            dict in one of the two JSON forms, a definition, or several of these.

    Returns:
        The definitions, in the order in which they were found.

    Raises:
        WaiterDefinitionError: a file cannot be read, has no waiter, or breaks a rule of the
            specification (sections "Waiter names" to "PathComparator enum"). The message names
            file, waiter and acceptor.
    """
    definitions = tuple(_definitions(source))
    _refuse_conflicts(definitions)
    return definitions


def _refuse_conflicts(definitions: Iterable[WaiterDefinition]) -> None:
    """Refuse waiters of one service whose names conflict.

    A definition without a service is for any; whether it conflicts depends on the client.
    """
    by_service: dict[str, list[WaiterDefinition]] = {}
    for definition in definitions:
        if definition.service is not None:
            by_service.setdefault(service_key(definition.service), []).append(definition)
    for group in by_service.values():
        refuse_conflicts(group)


def _definitions(source: Source | Iterable[Source]) -> Iterable[WaiterDefinition]:
    if isinstance(source, WaiterDefinition):
        return (source,)
    if isinstance(source, Mapping):
        return parse_waiters(source, source="dict")
    if source == "":
        problem = 'the path is empty; pass "." for the working directory'
        raise WaiterDefinitionError(problem, source="definitions")
    if isinstance(source, (str, os.PathLike)):
        return _load_path(Path(source))
    if isinstance(source, Iterable):
        return [definition for part in source for definition in _definitions(part)]
    raise WaiterDefinitionError(
        f"definitions must be a path or a dict, not {type(source).__name__}", source="definitions"
    )


def parse_waiters(
    document: Any, *, source: str, service: str | None = None
) -> list[WaiterDefinition]:
    """Parse a document as `parse_document`, and refuse a Smithy model without waiters."""
    definitions = parse_document(document, source=source, service=service)
    if not definitions and "smithy" in document:
        raise Place(source).error(f"no shape has the trait {WAITABLE}")
    return definitions


def parse_document(
    document: Any, *, source: str, service: str | None = None
) -> list[WaiterDefinition]:
    """Parse the waiters of one document in either JSON form."""
    place = Place(source)
    if not isinstance(document, Mapping):
        raise place.error("a document of waiters must be a JSON object")
    if "smithy" in document:
        if document["smithy"] not in ("1.0", "2", "2.0"):
            raise place.error("smithy must be the version 1.0 or 2.0")
        return parse_model(document, source=source, service=service)
    if "waiters" in document:
        unread = unread_waiters2(document, source=source, service=service)
        definitions = [waiter.read() for waiter in unread]
        refuse_conflicts(definitions)
        return definitions
    raise place.error('neither Smithy JSON AST ("smithy": "2.0") nor waiters-2 ("waiters": {...})')


def _load_path(path: Path) -> Iterable[WaiterDefinition]:
    place = Place(str(path))
    if path.is_dir():
        definitions: list[WaiterDefinition] = []
        for file in files_below(path):
            document, _ = parse_text(read_text(file), file)
            if isinstance(document, Mapping) and ("smithy" in document or "waiters" in document):
                service = _service_by_path(file)
                definitions += parse_document(document, source=str(file), service=service)
        if not definitions:
            raise place.error("no waiter definitions in this folder")
        return definitions
    document, _ = parse_text(read_text(path), path)
    return parse_waiters(document, source=str(path), service=_service_by_path(path))


def files_below(folder: Path) -> list[Path]:
    """Return the files in a folder that may hold waiters, in the order of their paths.

    Links to folders are followed. A folder that is reached in several ways is read once, and one
    that contains `folder` is not read through a link.
    """
    root = Path(os.path.realpath(folder))
    files: list[Path] = []
    seen: set[Path] = set()
    folders = deque([folder])
    while folders:
        current = folders.popleft()
        target = Path(os.path.realpath(current))
        if target in seen or target in root.parents:
            continue
        seen.add(target)
        # As for other searches, a folder that may not be read is passed over.
        is_readable = os.access(current, os.R_OK | os.X_OK)
        for path in current.iterdir() if is_readable else ():
            if not path.is_dir():
                files += [path] if path.suffix in SUFFIXES else []
            elif path.is_symlink():
                folders.append(path)
            else:
                # Before all links, so that errors name files by their own paths.
                folders.appendleft(path)
    return sorted(files)


def parse_text(text: str, file: Path) -> tuple[Any, Mapping[tuple[str | int, ...], int] | None]:
    """Return the document in a file, and of Smithy IDL the offset of each part; see `parse_idl`.

    Raises:
        WaiterDefinitionError: the text is neither JSON nor Smithy IDL, lark is not installed, or an
            object of JSON has a member twice.
    """
    place = Place(str(file))
    if file.suffix == ".smithy":
        try:
            # lark is optional; most files are no IDL.
            from .idl import parse_idl  # noqa: PLC0415
        except ImportError as error:
            raise place.error(missing_extra("Smithy IDL", "idl", error)) from error
        return parse_idl(text, source=str(file))
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except RecursionError as error:
        raise place.error("nested too deeply") from error
    except ValueError as error:
        raise place.error(f"not JSON: {error}") from error
    return document, None


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        WaiterDefinitionError: the file cannot be read, is too large, or is not UTF-8 text.
    """
    place = Place(str(path).replace("\0", "\\0"))
    if "\0" in str(path):
        raise place.error("a path cannot contain a NUL character")
    try:
        if path.exists() and not path.is_file():
            raise place.error("cannot be read: not a regular file")
        if path.stat().st_size > MAX_FILE_SIZE:
            raise place.error(f"larger than {MAX_FILE_SIZE} bytes")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise place.error("not UTF-8 text") from error
    except OSError as error:
        raise place.error(f"cannot be read: {error.strerror or error}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"member {twice!r} occurs twice")
    return members


def _service_by_path(path: Path) -> str | None:
    """Return the service in a path: `<service>/<version>/waiters-2.json` or `<service>.json`."""
    by_folder = path.stem.startswith(("waiters-2", SEARCH_PATH_FILE))
    name = path.parent.parent.name if by_folder else path.stem
    return name if name and (by_folder or _is_service(name)) else None


def _is_service(name: str) -> bool:
    """Return whether botocore has a service with this name."""
    return any((Path(folder) / "data" / name).is_dir() for folder in _botocore_folders())


@functools.cache
def _botocore_folders() -> tuple[str, ...]:
    # botocore is looked for and not imported: it may be imported after others have patched `ssl`.
    spec = importlib.util.find_spec("botocore")
    return tuple(spec.submodule_search_locations or ()) if spec is not None else ()


# --- definitions in installed packages: the entry points of group `boto_waiters_plus.definitions`

GROUP: Final = "boto_waiters_plus.definitions"


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
    # The import takes 7 ms (20 without urllib3), and `install` reads no packages.
    from importlib.metadata import entry_points  # noqa: PLC0415

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

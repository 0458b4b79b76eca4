"""Documents to check, and where in a file each part of them is written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ..definitions.files import SUFFIXES
from ..definitions.idl import parse_idl_with_offsets
from ..exceptions import WaiterDefinitionError
from .events import Locate, Location, Step

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+')


class Document:
    """One document of JSON, or of Smithy IDL as JSON has it.

    Args:
        data: its content.
        source: the file it was read from, if it was.
        text: the file's text.
        offsets: where in the text its parts are, if the text is no JSON.
    """

    def __init__(
        self,
        data: Any,
        source: str | None = None,
        text: str = "",
        offsets: Mapping[tuple[Step, ...], int] | None = None,
    ) -> None:
        self.data = data
        self.source = source
        self._text = text
        self._given_offsets = offsets

    @property
    def is_smithy(self) -> bool:
        """Whether it is JSON AST; a waiters-2 document has no such member."""
        return isinstance(self.data, Mapping) and "smithy" in self.data

    def locate(self, path: tuple[Step, ...]) -> Location | None:
        """Where the part with this path is written, or the nearest around it that is there."""
        if self.source is None:
            return None
        while path and path not in self._offsets:
            path = path[:-1]
        offset = self._offsets.get(path, 0)
        line = self._text.count("\n", 0, offset) + 1
        return Location(self.source, line, offset - self._text.rfind("\n", 0, offset))

    def locate_below(self, *start: Step) -> Locate:
        """Like `locate`, for paths that begin somewhere inside the document."""
        return lambda path: self.locate((*start, *path))

    @cached_property
    def _offsets(self) -> Mapping[tuple[Step, ...], int]:
        if self._given_offsets is not None:
            return self._given_offsets
        return dict(_offsets(self._text))


class UnreadableDocumentError(ValueError):
    """A file that cannot be read, or is neither JSON nor Smithy IDL."""

    def __init__(self, problem: str, location: Location) -> None:
        super().__init__(problem)
        self.location = location


def read_documents(path: str | os.PathLike[str]) -> Iterator[Document]:
    """The documents of a file, or of every file of waiters below a folder.

    Raises:
        UnreadableDocumentError: a file cannot be read, or is neither JSON nor Smithy IDL.
    """
    if not Path(path).is_dir():
        yield _read(Path(path))
        return
    for file in sorted(file for file in Path(path).rglob("*") if file.suffix in SUFFIXES):
        document = _read(file)
        if isinstance(document.data, Mapping) and {"smithy", "waiters"} & document.data.keys():
            yield document


def _read(path: Path) -> Document:
    source = str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".smithy":
            return Document(*_idl(text, source))
        return Document(json.loads(text, object_pairs_hook=_no_duplicates), source, text)
    except json.JSONDecodeError as error:
        place = Location(source, error.lineno, error.colno)
        raise UnreadableDocumentError(f"Not JSON: {error.msg}", place) from error
    except UnicodeDecodeError as error:
        raise UnreadableDocumentError("Not UTF-8 text", Location(source)) from error
    except RecursionError as error:
        raise UnreadableDocumentError("Nested too deeply", Location(source)) from error
    except _DuplicateError as error:
        raise UnreadableDocumentError(str(error), Location(source)) from error
    except OSError as error:
        problem = f"Cannot be read: {error.strerror or error}"
        raise UnreadableDocumentError(problem, Location(source)) from error


def _idl(text: str, source: str) -> tuple[Any, str, str, Mapping[tuple[Step, ...], int]]:
    try:
        model, offsets = parse_idl_with_offsets(text, source=source)
    except WaiterDefinitionError as error:
        place = Location(source, getattr(error.__cause__, "line", None))
        raise UnreadableDocumentError(error.problem, place) from error
    return model, source, text, offsets


class _DuplicateError(ValueError):
    """A member that an object has twice: of two waiters of a name one would be lost unseen."""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _DuplicateError(f"Member `{name}` occurs twice in one object")
        members[name] = value
    return members


def _offsets(text: str) -> Iterator[tuple[tuple[Step, ...], int]]:
    """Paths of a JSON text with offsets: of a member its name's, of an element its own."""
    path: list[Step] = []
    in_object: list[bool] = []
    at_name = False
    for match in _TOKEN.finditer(text):
        part = match[0]
        if part in "}]":
            in_object.pop()
            if path:
                path.pop()
            at_name = False
        elif part == ",":
            at_name = in_object[-1]
            if not at_name:
                path[-1] = int(path[-1]) + 1
        elif at_name:
            path[-1:] = [json.loads(part)]
            yield tuple(path), match.start()
            at_name = False
        else:
            if path and isinstance(path[-1], int):
                yield tuple(path), match.start()
            if part in "{[":
                in_object.append(part == "{")
                at_name = part == "{"
                path.append("" if at_name else 0)

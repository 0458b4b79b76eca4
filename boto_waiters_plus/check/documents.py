"""Documents to check, and where in a file each part of them is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import botocore

from ..definitions.files import parse_text, read_text
from ..definitions.parsing import as_mapping
from ..service.places import numbers_of
from .events import Finding, Location, Severity, ValidationEvent
from .model import UNKNOWN, ModelledError, OperationShapes

PathStep = str | int
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+')


@dataclass(eq=False)
class Document:
    """A document of JSON, or of Smithy IDL in the form of JSON.

    Args:
        data: its content.
        source: the file it was read from, if it was.
        text: the text of a JSON file.
        offsets: where in the text its parts are; by default they are found in JSON text.
    """

    data: Any
    source: str | None = None
    text: str = ""
    offsets: Mapping[tuple[PathStep, ...], int] | None = None

    def locate(self, path: tuple[PathStep, ...]) -> Location | None:
        """Return where the part with this path is written, or the nearest part around it."""
        if self.source is None:
            return None
        while path and path not in self._offsets:
            path = path[:-1]
        offset = self._offsets.get(path, 0)
        line = self.text.count("\n", 0, offset) + 1
        return Location(self.source, line, offset - self.text.rfind("\n", 0, offset))

    @cached_property
    def _offsets(self) -> Mapping[tuple[PathStep, ...], int]:
        return dict(_offsets(self.text)) if self.offsets is None else self.offsets


@dataclass(frozen=True, slots=True)
class Target:
    """A shape with a trait of waiters: what events are about."""

    shape: str | None
    document: Document | None = None
    path: tuple[PathStep, ...] = ()
    """The path of the trait's value in the document."""

    def event(
        self,
        severity: Severity,
        event_id: str,
        message: str,
        *,
        waiter: str | None = None,
        acceptor: int | None = None,
    ) -> ValidationEvent:
        """Return an event about the shape, a waiter of it, or an acceptor of that waiter."""
        path = self.path if waiter is None else (*self.path, waiter)
        if acceptor is not None:
            path += ("acceptors", acceptor)
            message = f"Waiter `{waiter}`, acceptor {acceptor}: {message}"
        location = self.document.locate(path) if self.document else None
        return ValidationEvent(severity, event_id, self.shape, message, location)

    def finding(self, waiter: str, finding: Finding) -> ValidationEvent:
        """Return the event for what a rule finds in a waiter."""
        severity, rule, message, acceptor = finding
        if rule != "WaitableTrait":
            rule += f".{waiter}" if acceptor is None else f".{waiter}.{acceptor}"
            message = message if acceptor is not None else f"Waiter `{waiter}`: {message}"
        return self.event(severity, rule, message, waiter=waiter, acceptor=acceptor)


def read_document(path: Path) -> Document:
    """Read a file.

    Raises:
        WaiterDefinitionError: the file cannot be read, or is neither JSON nor Smithy IDL.
    """
    text = read_text(path)
    data, offsets = parse_text(text, path)
    return Document(data, str(path), text, offsets)


def _offsets(text: str) -> Iterator[tuple[tuple[PathStep, ...], int]]:
    """Yield the paths in a JSON text with the offset of each: for a member, that of its name."""
    path: list[PathStep] = []
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


# --- definitions that were written for a newer botocore than the installed one -------------------
# A model states the version in its metadata:
#
#     "metadata": {"boto.waiters": {"botocore": "1.44.5"}}
#
# Where the installed botocore is older and lacks an operation, a member, a value of an enumeration
# or an error, the event becomes a NOTE, because the newer botocore most likely has it. Problems
# that do not depend on shapes (a path that does not parse, no success state) keep their severity.


def newer_than_installed(metadata: Iterable[Any]) -> str | None:
    """Return the newest version of botocore in the metadata, if it is newer than the installed."""
    newest = max(filter(None, map(_version_in, metadata)), key=numbers_of, default="")
    return newest if numbers_of(newest) > numbers_of(botocore.__version__) else None


def downgraded(
    rules: Callable[[OperationShapes], Iterable[ValidationEvent]],
    operation: OperationShapes,
    version: str,
) -> Iterator[ValidationEvent]:
    """Yield what rules find in an operation; events that depend on its shapes become notes.

    Args:
        rules: the rules.
        operation: the operation as the installed botocore has it.
        version: the newer botocore.
    """
    unknown = replace(
        operation,
        input=UNKNOWN,
        output=UNKNOWN,
        errors=(ModelledError(shape="#"),),
        other_errors=(),
        known=False,
    )
    with_any_shapes = set(rules(unknown))
    for event in rules(operation):
        yield event if event in with_any_shapes else as_note(event, version)


def as_note(event: ValidationEvent, version: str | None) -> ValidationEvent:
    """Return the event as a note that names the newer botocore; as it is if there is none."""
    if version is None or event.severity <= Severity.NOTE:
        return event
    text = f"{event.message} (botocore {botocore.__version__}; written for {version})"
    return replace(event, severity=Severity.NOTE, message=text)


def _version_in(metadata: Any) -> str | None:
    version = as_mapping(as_mapping(metadata).get("boto.waiters")).get("botocore")
    return version if isinstance(version, str) and version[:1].isdecimal() else None

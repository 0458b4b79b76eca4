"""Definitions that were written for a newer botocore than the installed one.

A model states the version in its metadata:

    "metadata": {"boto.waiters": {"botocore": "1.44.5"}}

Where the installed botocore is older and lacks an operation, a member, a value of an enumeration or
an error, the event becomes a NOTE, because the newer botocore most likely has it. Problems that do
not depend on shapes (a path that does not parse, no success state) keep their severity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import botocore

from ..definitions.parsing import as_mapping
from .events import Severity, ValidationEvent
from .shapes import UNKNOWN, ModelledError, OperationShapes

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def newer_than_installed(metadata: Iterable[Any]) -> str | None:
    """Return the newest version of botocore in the metadata, if it is newer than the installed."""
    newest = max(filter(None, map(_version_in, metadata)), key=_numbers, default=None)
    is_newer = newest is not None and _numbers(newest) > _numbers(botocore.__version__)
    return newest if is_newer else None


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
    return version if isinstance(version, str) and _NUMBERS.match(version) else None


def _numbers(version: str) -> tuple[int, ...]:
    found = _NUMBERS.match(version)
    return tuple(map(int, found[0].split("."))) if found else ()

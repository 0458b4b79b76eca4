"""Definitions that were written from a newer botocore than the installed one.

A model says so in its metadata:

    "metadata": {"boto.waiters": {"botocore": "1.44.5"}}

Where the installed botocore is older, an operation, a member, a value of an enumeration or an error
that it lacks has come since, most likely, and that is a NOTE. What is wrong whatever the shapes
are (a path that does not parse, a waiter that has no success state) stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import botocore

from .events import Severity, ValidationEvent
from .shapes import Kind, ModelledError, Operation, Shape

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def newer_than_installed(metadata: Iterable[Any]) -> str | None:
    """The newest version of botocore in the metadata of models, if it is not installed yet."""
    found = [version for each in metadata if (version := _version_in(each)) is not None]
    newest = max(found, key=_numbers, default=None)
    if newest is None or _numbers(newest) <= _numbers(botocore.__version__):
        return None
    return newest


def lowered(
    rules: Callable[[Operation], Iterable[ValidationEvent]], operation: Operation, version: str
) -> Iterator[ValidationEvent]:
    """What rules say of an operation, as notes where an older botocore's shapes are the reason.

    Args:
        rules: what they say of an operation.
        operation: the operation as the installed botocore has it.
        version: of the botocore that has what this one lacks.
    """
    anyway = set(rules(_unknown(operation)))
    for event in rules(operation):
        yield event if event in anyway else as_note(event, version)


def as_note(event: ValidationEvent, version: str) -> ValidationEvent:
    """The event as a note that tells of the newer botocore."""
    if event.severity <= Severity.NOTE:
        return event
    text = f"{event.message} (botocore {botocore.__version__}; written from {version})"
    return replace(event, severity=Severity.NOTE, message=text)


def _unknown(operation: Operation) -> Operation:
    """The operation with shapes of which nothing is known, and an error that nobody names."""
    shape = Shape("", Kind.UNKNOWN, dict)
    error = ModelledError(shape="#")
    return replace(
        operation, input=shape, output=shape, errors=(error,), other_errors=(), known=False
    )


def _version_in(metadata: Any) -> str | None:
    ours = metadata.get("boto.waiters") if isinstance(metadata, Mapping) else None
    version = ours.get("botocore") if isinstance(ours, Mapping) else None
    return version if isinstance(version, str) and _NUMBERS.match(version) else None


def _numbers(version: str) -> tuple[int, ...]:
    found = _NUMBERS.match(version)
    return tuple(map(int, found[0].split("."))) if found else ()

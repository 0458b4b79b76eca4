"""Validation events as GitHub's annotations and as SARIF."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from .. import __version__
from ..engine.redaction import printable
from ..validation import Severity, ValidationEvent

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {
    Severity.ERROR: "error",
    Severity.DANGER: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}
"""SARIF's levels; GitHub has `notice` in place of `note`."""


def print_events(
    events: Sequence[ValidationEvent], output: str, command: str, text_of: Callable[..., str]
) -> None:
    """Print the events of a command as its `--output` says: by `text_of`, for GitHub, or SARIF."""
    if output == "sarif":
        print(json.dumps(sarif(events, command), indent=2))
    else:
        for event in events:
            # It quotes a file, which must not break the line or send the terminal escape codes.
            print(printable(text_of(event)) if output == "text" else github_line(event))


def github_line(event: ValidationEvent) -> str:
    """Return the workflow command that annotates the line of a file."""
    level = {"note": "notice"}.get(_LEVELS[event.severity], _LEVELS[event.severity])
    places = {"file": event.source, "line": event.line, "col": event.column, "title": event.id}
    known = [f"{name}={_escaped(str(value), ':,')}" for name, value in places.items() if value]
    # Without a file, the operation says what the event is about.
    place = f"{event.shape}: " if event.shape and not event.source else ""
    return f"::{level} {','.join(known)}::{_escaped(place + event.message)}"


def sarif(events: Sequence[ValidationEvent], command: str) -> dict[str, Any]:
    """Return a SARIF 2.1.0 document of one run of a command."""
    rules = dict.fromkeys(_rule(event) for event in events)
    driver = {
        "name": f"boto-wait {command}",
        "version": __version__,
        "rules": [{"id": rule} for rule in rules],
    }
    results = [
        {
            "ruleId": _rule(event),
            "level": _LEVELS[event.severity],
            "message": {
                "text": f"{event.shape}: {event.message}" if event.shape else event.message
            },
            "locations": [_location(event)] if event.source else [],
        }
        for event in events
    ]
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _rule(event: ValidationEvent) -> str:
    return event.id.partition(".")[0]


def _location(event: ValidationEvent) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": event.source}}
    if event.line is not None:
        place["region"] = {"startLine": event.line, "startColumn": event.column or 1}
    return {"physicalLocation": place}


def _escaped(text: str, more: str = "") -> str:
    """Escape what ends a workflow command, or a property of it, or moves a cursor."""
    text = printable(text)
    for character in "%" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text

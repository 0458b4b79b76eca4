"""What a shipped waiter rests on besides the model: `data/evidence.json`, counts, no recordings.

The trait `boto.waiters#evidence` of an operation, which `data/traits.json` defines, has a member
for each of its waiters for which there is something to say. The tags of a waiter say the rest.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..engine.model import GENERATED, WaiterDefinition
from .shipped import shipped_json, shipped_traits
from .smithy import aws_namespace

EVIDENCE = "boto.waiters#evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a shipped waiter."""

    recorded: int = 0
    """Recorded answers of AWS with a state or an error that the waiter reads."""
    documented: int = 0
    """Examples in AWS's documentation with such a state or error."""
    moto: bool = False
    """Whether a real client ran it against a simulation of the service."""
    enum: bool = False
    """Whether every value of the state's enumeration was judged."""
    botocore: bool = False
    """Whether it was converted from botocore's waiter."""
    unread: bool = False
    """Whether a rule wrote it, or a state of it, and no person has read that yet."""

    def in_words(self) -> list[str]:
        """Return what the waiter rests on, the strongest first."""
        said = {
            _counted(self.recorded, "recorded answer"): self.recorded,
            _counted(self.documented, "documentation example"): self.documented,
            "run on moto": self.moto,
            "every value of the enum": self.enum,
            "from botocore": self.botocore,
        }
        found = [text for text, holds in said.items() if holds] or ["model only"]
        return [*found, "not read by a person yet"] if self.unread else found


def evidence_of(definition: WaiterDefinition) -> Evidence:
    """Return what a shipped waiter rests on."""
    service = definition.service or ""
    facts = shipped_traits(EVIDENCE).get(f"{aws_namespace(service)}#{definition.operation}", {})
    tags = definition.tags
    found: Mapping[str, Any] = facts.get(definition.name, {})
    return Evidence(
        recorded=found.get("recorded", 0),
        documented=found.get("documented", 0),
        moto="run-on-moto" in tags,
        enum="enum-checked" in tags or found.get("enum", False),
        botocore=GENERATED in tags,
        unread=(aws_namespace(service), definition.name) in _unread(),
    )


@functools.cache
def _unread() -> frozenset[tuple[str, str]]:
    """Return the namespaces and names of the waiters in `data/unread.json`."""
    services = shipped_json("unread.json")
    return frozenset(
        (aws_namespace(service), what.partition(" ")[0])
        for service, kinds in services.items()
        for kind in ("states", "waiters")
        for what in kinds.get(kind, ())
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

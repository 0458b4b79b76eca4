"""The further reads that tell why a wait failed, where the polled response does not.

They are listed in `data/explains.json` by the polled operation, by the trait
`boto.waiters#explains`, which `data/traits.json` defines.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .shipped import shipped_traits

EXPLAINS: Final = "boto.waiters#explains"

_VARIABLE: Final = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRead:
    """One read of the same service; its paths see the outputs of the reads before it."""

    operation: str
    name: str
    """What later paths call its output."""
    parameters: Mapping[str, str]
    """By parameter: a path. Where one gives nothing, false or empty, the read is not made."""
    options: Mapping[str, str]
    """By parameter: a path; a parameter that is null is left out."""
    values: Mapping[str, str]
    """By name: a path on what is known after the read, in order; see `Explanation.values`."""
    text: str | None
    """A path to the cause; None: the read only leads to another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What tells why a wait failed that polls an operation."""

    values: Mapping[str, str]
    """By name: a path whose value later paths see by that name, inside a filter as `$name`."""
    reads: tuple[CauseRead, ...]
    """At most two of them are made."""
    otherwise: str | None
    """A path to what the polled response says, where no read tells the cause."""

    @classmethod
    def of(cls, trait: Mapping[str, Any]) -> Explanation:
        """Read a valid trait."""
        reads = [
            CauseRead(
                operation=each["operation"],
                name=each.get("as", each["operation"]),
                parameters=each["parameters"],
                options=each.get("options", {}),
                values=each.get("values", {}),
                text=each.get("text"),
            )
            for each in trait["reads"]
        ]
        return cls(
            values=trait.get("values", {}), reads=tuple(reads), otherwise=trait.get("otherwise")
        )


def with_values(path: str, values: Mapping[str, Any]) -> str:
    """Return a path with the value of each `$name` as a literal: a filter sees its item only."""

    def literal(match: re.Match[str]) -> str:
        text = json.dumps(values.get(match[1]), default=str).replace("`", "\\u0060")
        return f"`{text}`"

    return _VARIABLE.sub(literal, path)


@functools.cache
def shipped_explanations() -> Mapping[str, Explanation]:
    """Return what `data/explains.json` lists, by the shape id of the polled operation."""
    traits = shipped_traits("explains.json", EXPLAINS)
    return {shape_id: Explanation.of(trait) for shape_id, trait in traits.items()}

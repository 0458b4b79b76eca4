"""Operations that may be polled by a definition from outside: `data/pollable.json`.

A person read each; `tools/pollable.py` lists the operations of a newer botocore that nobody has
read yet.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .shipped import read_shipped


class PollableList(NamedTuple):
    """What a person decided, by the hyphenised id of a service."""

    allowed: Mapping[str, str]
    """Operations by their verbs: `Get Key User, List Keys`."""
    refused: Mapping[str, Mapping[str, str]]
    """Operations that botocore or their names call reads, and why they are not polled."""

    def allows(self, service_id: str, operation: str) -> bool:
        """Return whether an operation may be polled from outside."""
        return operation in from_groups(self.allowed.get(service_id, ""))

    def reason(self, service_id: str, operation: str) -> str | None:
        """Return why an operation is never polled; None if nothing is known against it."""
        return self.refused.get(service_id, {}).get(operation)


@functools.cache
def pollable_list() -> PollableList:
    """Return what `data/pollable.json` says; without the file nothing is allowed."""
    text = read_shipped("pollable.json")
    body: dict[str, Any] = {} if text is None else json.loads(text)
    return PollableList(body.get("allowed", {}), body.get("refused", {}))


def from_groups(text: str) -> frozenset[str]:
    """Return the names in `Get Key User, List Keys, =Other`: by their verbs, or each as it is."""
    groups = [group.split() for group in text.split(", ")] if text else []
    return frozenset(
        name if verb == "=" else verb + name for verb, *names in groups for name in names
    )

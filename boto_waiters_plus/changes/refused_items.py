"""What the answer of a call refuses, though its status is 200, and what it has taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jmespath

from ..definitions.changes import RefusedItems


def refused_and_accepted(trait: RefusedItems, call: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was refused, and what was taken, as the paths of an effect see them.

    Args:
        trait: where the answer tells it.
        call: the `input` and `output` of the call.

    Returns:
        `refused`, a list of `id`, `code` and `message`, and `accepted`, a list; None where nothing
        tells what was taken.
    """
    document = {"call": call}
    refused = [
        {
            name: None if path is None else jmespath.search(path, item)
            for name, path in (("id", trait.id), ("code", trait.code), ("message", trait.message))
        }
        for item in jmespath.search(trait.path, document) or ()
    ]
    ids = {each["id"] for each in refused if isinstance(each["id"], str)}
    if trait.accepted is not None:
        given = jmespath.search(trait.accepted, document) or []
    else:
        given = next(_lists_with(ids, call["input"]), None) if ids else None
    accepted = [each for each in given if each not in ids] if given else given
    # Where nothing was refused, an empty list tells nothing.
    return {"refused": refused, "accepted": accepted if accepted or refused else None}


def _lists_with(ids: set[str], value: Any) -> Iterator[list[str]]:
    """Yield the lists of texts in the input of a call that have all of these.

    A list of structures is one of texts for each member.
    """
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _lists_with(ids, each)
    elif isinstance(value, list):
        items = [each if isinstance(each, Mapping) else {"": each} for each in value]
        for name in dict.fromkeys(name for item in items for name in item):
            texts = [each[name] for each in items if isinstance(each.get(name), str)]
            if ids <= {*texts}:
                yield texts
        for item in items:
            yield from _lists_with(ids, item)

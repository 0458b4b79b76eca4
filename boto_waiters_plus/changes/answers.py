"""What the answer of a call refuses, and what an answer shows in place of what was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import jmespath
from jmespath.visitor import TreeInterpreter

from ..definitions.changes import RefusedItems
from ..engine.acceptors import Acceptor, AcceptorState, InputOutputMatcher
from ..engine.redaction import MAX_ITEMS, shown

# --- what the answer of a call refuses, though its status is 200, and what it has taken ----------


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


# --- what a call asked for, and what is there instead --------------------------------------------

NOT_KEPT: Final = "(sensitive)"
"""What acceptors see in place of a sensitive parameter."""

_ASKED_FOR = ["call", "input"]


def unmet_goal(acceptors: Sequence[Acceptor], document: Mapping[str, Any]) -> str | None:
    """Return the parameters of a call that an answer shows with another value, in words.

    Args:
        acceptors: of the effect, whose successes compare the two.
        document: `output` of the poll, and `call`.
    """
    texts: dict[str, str] = {}
    for acceptor in acceptors:
        matcher = acceptor.matcher
        if acceptor.state is AcceptorState.SUCCESS and isinstance(matcher, InputOutputMatcher):
            for name, asked, there in _compared(
                jmespath.compile(matcher.matcher.path).parsed, document
            ):
                is_other = asked not in (None, NOT_KEPT, there) and there is not None
                if is_other and (wanted := shown(asked)) and (found := shown(there)):
                    texts[name] = f"{name} {wanted}, is {found}"
    return f"asked for {'; '.join([*texts.values()][:MAX_ITEMS])}" if texts else None


def _compared(node: Any, document: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the value asked for and the one that is there for each comparison."""
    children = node["children"]
    if node["type"] == "comparator" and node["value"] == "eq":
        for asked, there in (children, children[::-1]):
            names = _names(asked)
            if names[:2] == _ASKED_FOR and _names(there)[:1] == ["output"]:
                values = (TreeInterpreter().visit(each, document) for each in (asked, there))
                yield names[-1], *values
    for child in children:
        yield from _compared(child, document)


def _names(node: Any) -> list[str]:
    """Return the members that an expression passes from its root; [] if it is no plain path."""
    if node["type"] == "field":
        return [node["value"]]
    if node["type"] in ("subexpression", "index_expression"):
        return [name for child in node["children"] for name in _names(child)]
    return []

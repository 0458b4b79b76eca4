"""What a call asked for, and what is there instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import jmespath
from jmespath.visitor import TreeInterpreter

from ..engine.acceptors import Acceptor, AcceptorState, InputOutputMatcher
from ..engine.redaction import MAX_ITEMS, shown

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

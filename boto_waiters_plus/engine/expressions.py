"""JMESPath expressions as plain functions.

Waiters use little of the language: members, chains of them, projections, flattening. These are
closures here, a few times as fast as walking the syntax tree; an expression that has anything
else in it is left to jmespath as a whole. Either way the result is jmespath's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jmespath
import jmespath.parser

Function = Callable[[Any], Any]


def compiled(text: str) -> Function:
    """The expression as a function of a document.

    Raises:
        jmespath.exceptions.JMESPathError: not an expression.
    """
    parsed: jmespath.parser.ParsedResult = jmespath.compile(text)
    try:
        return _function(parsed.parsed) or parsed.search
    except RecursionError:
        # Its evaluation fails in the same way, which is told there.
        return parsed.search


def _function(node: Mapping[str, Any]) -> Function | None:
    """The node as a function; None if something in it is left to jmespath."""
    kind, children = node["type"], node.get("children", ())
    if kind == "identity":
        return _identity
    if kind == "field":
        return _field(node["value"])
    if kind not in _COMPOSED:
        return None
    functions = [_function(child) for child in children]
    known = [function for function in functions if function is not None]
    return _COMPOSED[kind](*known) if len(known) == len(functions) else None


def _identity(value: Any) -> Any:
    return value


def _field(name: str) -> Function:
    def field(value: Any) -> Any:
        # As jmespath does it: whatever has members by name, and null of anything else.
        try:
            return value.get(name)
        except AttributeError:
            return None

    return field


def _chain(*steps: Function) -> Function:
    if len(steps) == 2:
        first, second = steps
        return lambda value: second(first(value))

    def chain(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return chain


def _flatten(base: Function) -> Function:
    def flatten(value: Any) -> Any:
        found = base(value)
        if not isinstance(found, list):
            return None
        merged: list[Any] = []
        for item in found:
            if isinstance(item, list):
                merged += item
            else:
                merged.append(item)
        return merged

    return flatten


def _projection(base: Function, each: Function) -> Function:
    def project(value: Any) -> Any:
        found = base(value)
        if not isinstance(found, list):
            return None
        # null is left out, by the definition of a projection.
        return [result for item in found if (result := each(item)) is not None]

    return project


_COMPOSED: dict[str, Callable[..., Function]] = {
    "subexpression": _chain,
    "flatten": _flatten,
    "projection": _projection,
}

"""What a message of a queue says, and whether a JMESPath expression takes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

import jmespath
from jmespath.functions import Functions

logger = logging.getLogger("boto_waiters_plus")

_KNOWN_FUNCTIONS: Final = frozenset(Functions.FUNCTION_TABLE)


def event_of(body: str) -> Any:
    """The event in a message's body.

    A notification of SNS is taken out of its envelope. An event of EventBridge is its own body.

    Returns:
        What the JSON says; text that is no JSON (CloudFormation's notifications are none) as it is.
    """
    value = _parsed(body)
    if isinstance(value, Mapping) and value.get("Type") == "Notification":
        inner = value.get("Message")
        if isinstance(inner, str):
            return _parsed(inner)
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    # Nested deeper than Python's stack is no JSON of an event either.
    except (ValueError, RecursionError):
        return text


class Match:
    """A JMESPath expression that takes an event, or does not.

    Args:
        expression: it takes an event on which it is true: not null, false, or empty.
        name: the argument, for messages.

    Raises:
        TypeError: the expression is no text.
        ValueError: it is no JMESPath, or calls a function that JMESPath does not have.
    """

    __slots__ = ("_compiled", "_has_complained", "expression")

    def __init__(self, expression: str, name: str = "match") -> None:
        if not isinstance(expression, str):
            raise TypeError(
                f"{name} must be a JMESPath expression, not {type(expression).__name__}"
            )
        try:
            self._compiled = jmespath.compile(expression)
        # jmespath raises RecursionError and builtin errors beside its own.
        except Exception as error:
            raise ValueError(f"{name} is not a JMESPath expression: {error}") from error
        for function in _functions(self._compiled.parsed):
            # Evaluated, it would be an error on every event, and the signal would never come.
            if function not in _KNOWN_FUNCTIONS:
                raise ValueError(f"{name}: JMESPath has no function {function!r}")
        self.expression = expression
        self._has_complained = False

    def takes(self, event: Any) -> bool:
        """Whether the expression is true on the event; one that cannot be evaluated is not."""
        try:
            return _is_true(self._compiled.search(event))
        # jmespath raises builtin TypeError and RecursionError beside errors of its own.
        except Exception as error:
            if not self._has_complained:
                self._has_complained = True
                # The type only: the text of a jmespath error quotes the value it stumbled on.
                logger.debug(
                    "a signal's match cannot be evaluated on an event (%s): not matched",
                    type(error).__name__,
                )
            return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and self.expression == other.expression

    def __hash__(self) -> int:
        return hash(self.expression)


def _is_true(value: Any) -> bool:
    """Truth as JMESPath has it: 0 is true."""
    return not (value is None or value is False or value in ("", [], {}))


def _functions(tree: Any) -> Iterator[str]:
    """The functions that an expression calls."""
    rest = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, Mapping):
            if node["type"] == "function_expression":
                yield node["value"]
            # The bounds of a slice are numbers, or nothing, among its children.
            rest += node.get("children", ())

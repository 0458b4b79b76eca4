"""The event in a message of a queue, and JMESPath expressions that match events."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Mapping
from typing import Any

import jmespath
from jmespath.functions import Functions
from jmespath.lexer import Lexer

logger = logging.getLogger("boto_waiters_plus")


def event_of(body: str) -> Any:
    """Return the event in a message's body.

    The body is the event itself (EventBridge), or SNS's envelope around it.

    Returns:
        The parsed JSON; the text if it is not JSON, as CloudFormation's notifications.
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
    # RecursionError: nested deeper than Python's stack.
    except (ValueError, RecursionError):
        return text


class EventPattern:
    """A JMESPath expression on events.

    Args:
        expression: matches an event on which it is true: not null, false, or empty.

    Raises:
        TypeError: the expression is not a string.
        ValueError: it is not JMESPath, or calls a function that JMESPath does not have.
    """

    def __init__(self, expression: str) -> None:
        if not isinstance(expression, str):
            raise TypeError(f"match must be a JMESPath expression, not {type(expression).__name__}")
        try:
            self._compiled = jmespath.compile(expression)
        # jmespath raises RecursionError and builtin errors besides its own.
        except Exception as error:
            raise ValueError(f"match is not a JMESPath expression: {error}") from error
        for token, following in itertools.pairwise(Lexer().tokenize(expression)):
            # An unknown function would fail on every event, so that no event would ever match.
            is_call = token["type"] == "unquoted_identifier" and following["type"] == "lparen"
            if is_call and token["value"] not in Functions.FUNCTION_TABLE:
                raise ValueError(f"match: JMESPath has no function {token['value']!r}")
        self.expression = expression
        self._has_logged = False

    def matches(self, event: Any) -> bool:
        """Return whether the event matches; not if the expression cannot be evaluated on it."""
        try:
            value = self._compiled.search(event)
        # jmespath raises builtin TypeError and RecursionError besides errors of its own.
        except Exception as error:
            if not self._has_logged:
                self._has_logged = True
                # The type only: the text of a jmespath error quotes the value.
                logger.debug(
                    "the match of a signal cannot be evaluated on an event (%s): no match",
                    type(error).__name__,
                )
            return False
        # In JMESPath 0 is true.
        return not (value is None or value is False or value in ("", [], {}))

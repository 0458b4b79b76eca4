"""Acceptors from lists of states, for waiters that are made in one call.

A path without a projection may lead to a string or to a list of strings, which only a model tells.
Without one, such a path has acceptors for both; a response matches those of one kind only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jmespath

from .acceptors import Acceptor, AcceptorState, OutputMatcher, PathComparator, PathMatcher

_TEXT_FUNCTIONS = ("join", "to_string", "type")
_PLAIN = re.compile(r"[\w .:/@-]+\Z", re.ASCII)


def state_acceptors(
    path: str,
    success: Sequence[str],
    failure: Sequence[str],
    *,
    every: bool,
    is_list: bool | None = None,
    reason: str | None = None,
) -> Iterator[Acceptor]:
    """Yield acceptors that succeed and fail on states; success is decided first.

    Args:
        path: the expression for the state, or for a list of states.
        success: the states that are success.
        failure: the states that are failure: of a list, any of them is enough.
        every: whether all states of a list have to be in `success`, or any of them.
        is_list: whether the path gives a list, where it has no projection; None if not known.
        reason: the expression for the service's reason for a failure.

    Raises:
        ValueError: `path` or `reason` is not a JMESPath expression.
    """
    root = _root("path", path)
    if reason is not None:
        _root("reason", reason)
    projections = _projections(root)
    if is_list is None or projections:
        is_list = _gives_list(root, projections)
    as_list = path + "[]" * (projections - 1) if is_list else f"[{path}][]"
    for state, values in ((AcceptorState.SUCCESS, success), (AcceptorState.FAILURE, failure)):
        message = reason if state is AcceptorState.FAILURE else None
        of_all = every and state is AcceptorState.SUCCESS
        some, all_of = PathComparator.ANY_STRING_EQUALS, PathComparator.ALL_STRING_EQUALS
        if not is_list:
            for value in values:
                yield _acceptor(state, path, value, PathComparator.STRING_EQUALS, message)
        if is_list is not False:
            for value in values:
                yield _acceptor(state, as_list, value, all_of if of_all else some, message)
            if of_all and len(values) > 1:
                others = " && ".join(f"@ != {_literal(value)}" for value in values)
                # An empty list has no first element.
                mixed = f"({as_list} | [0]) != `null` && ({as_list} | [?{others}]) == `[]`"
                yield _acceptor(state, mixed, "true", PathComparator.BOOLEAN_EQUALS)


def _acceptor(
    state: AcceptorState,
    path: str,
    expected: str,
    comparator: PathComparator,
    message: str | None = None,
) -> Acceptor:
    matcher = PathMatcher(path=path, expected=expected, comparator=comparator)
    return Acceptor(state=state, matcher=OutputMatcher(matcher), message=message)


def _literal(value: str) -> str:
    """Return a string as a JMESPath literal."""
    if _PLAIN.match(value):
        return f"'{value}'"
    return "`" + json.dumps(value).replace("`", "\\`") + "`"


def _root(name: str, expression: str) -> Any:
    """Return the part of a parsed expression that gives its value; `name` is the argument's."""
    try:
        node: Any = jmespath.compile(expression).parsed
    # jmespath lets RecursionError and other builtin errors through.
    except Exception as error:
        text = f"{name} {expression[:80]!r} is not a JMESPath expression: {error}"
        raise ValueError(text) from error
    while node["type"] == "pipe":
        node = node["children"][-1]
    return node


def _gives_list(root: Any, projections: int) -> bool | None:
    """Return whether an expression gives a list; None if that depends on the response."""
    if root["type"] == "function_expression" and root["value"] in _TEXT_FUNCTIONS:
        return False
    return True if projections else None


def _projections(node: Any) -> int:
    """Return how many projections an expression ends in, each inside the one before.

    The value of `a[*].b[*].c` is a list of lists; that of `a[].b[].c` is one list.
    """
    found = 0
    while node["type"].endswith("projection"):
        found += 1
        node = node["children"][1]
    return found

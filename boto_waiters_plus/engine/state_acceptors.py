"""Acceptors from lists of states, for waiters that are made in one call.

A path without a projection may lead to a string or to a list of strings, which only a model tells.
Without one, such a path has acceptors for both; a response matches those of one kind only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jmespath

from ..common.arguments import text
from ..common.labels import common_start
from ..common.wrong_arguments import WrongValueError, wrong_type
from .acceptors import Acceptor, AcceptorState, OutputMatcher, PathComparator, PathMatcher

_TEXT_FUNCTIONS = ("join", "to_string", "type")
_PLAIN = re.compile(r"[\w .:/@-]+\Z", re.ASCII)

# What may follow the items of a list in a path: members, indexes and projections of all items.
_MEMBERS = re.compile(r'\.([\w".-]|\[(\d+|\*)?\])+')


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
        reason: the expression for the service's reason for a failure. Of a list, the reason of an
            item in the failure state is read; where that item is not known, a reason is read only
            if the list has one item.

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
    kinds = ((AcceptorState.SUCCESS, success, None), (AcceptorState.FAILURE, failure, reason))
    for state, values, message in kinds:
        of_all = every and state is AcceptorState.SUCCESS
        some, all_of = PathComparator.ANY_STRING_EQUALS, PathComparator.ALL_STRING_EQUALS
        if not is_list:
            for value in values:
                yield _acceptor(state, path, value, PathComparator.STRING_EQUALS, message)
        if is_list is not False:
            for value in values:
                comparator = all_of if of_all else some
                of_item = message and _reason_of_item(path, as_list, value, message)
                yield _acceptor(state, as_list, value, comparator, of_item)
            if of_all and len(values) > 1:
                others = " && ".join(f"@ != {_literal(value)}" for value in values)
                # An empty list has no first element.
                mixed = f"({as_list} | [0]) != `null` && ({as_list} | [?{others}]) == `[]`"
                yield _acceptor(state, mixed, "true", PathComparator.BOOLEAN_EQUALS)


def words_with_paths(name: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Return the words of what is reported, each with its path; `name` is the argument's.

    Raises:
        TypeError: not texts by a text.
        ValueError: a word is empty, or a path is not a JMESPath expression.
    """
    if not isinstance(value, Mapping):
        raise wrong_type(name, value, "JMESPath expressions by a word each")
    for word, path in value.items():
        if not text(name, word):
            raise WrongValueError.of(name, word, " has an empty word")
        _root(name, text(name, path))
    return tuple(value.items())


def _acceptor(
    state: AcceptorState,
    path: str,
    expected: str,
    comparator: PathComparator,
    message: str | None = None,
) -> Acceptor:
    matcher = PathMatcher(path=path, expected=expected, comparator=comparator)
    return Acceptor(state=state, matcher=OutputMatcher(matcher), message=message)


def _reason_of_item(path: str, states: str, state: str, reason: str) -> str:
    """Return the expression for the reason of the first item in a state.

    Args:
        path, states: the expression for the list of states, as given and flattened.
        state: the state.
        reason: the expression for the reasons. If it does not begin with the same list as `path`,
            a list of reasons is read only where there is one state.
    """
    if not _projections(_root("reason", reason)):
        return reason
    common, text = path.replace("[*]", "[]"), reason.replace("[*]", "[]")
    items, brackets, _ = common[: common_start([common, text])].rpartition("[]")
    member, text = common[len(items) + 2 :], text[len(items) + 2 :]
    if not brackets or not all(map(_MEMBERS.fullmatch, (member, text))):
        return f"length({states}) == `1` && ({reason})"
    value = _literal(state)
    compared = f"not_null({member[1:]}) == {value}"
    if "[]" in member:
        compared = f"contains([{member[1:]}][], {value})"
    return f"{items}[?{compared}][]{text} | [0]"


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
        problem = f"{name} {expression[:80]!r} is not a JMESPath expression: {error}"
        raise WrongValueError(problem, argument=name, value=expression) from error
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

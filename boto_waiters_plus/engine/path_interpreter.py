"""Evaluation of expressions with the comparisons of the JMESPath specification.

jmespath.py differs from it in three places: it orders strings, where JMESPath gives null; below the
top level it compares as Python does (`[1] == [true]`); and so does its `contains`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import jmespath
from jmespath.functions import Functions, signature
from jmespath.visitor import Options, TreeInterpreter


def _equal(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; a number never equals a boolean."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class _Functions(Functions):
    @signature({"types": ["array", "string"]}, {"types": []})
    def _func_contains(self, subject: Any, search: Any) -> bool:
        if isinstance(subject, str):
            return isinstance(search, str) and search in subject
        # Nothing but a string is equal to one.
        return (
            search in subject
            if isinstance(search, str)
            else any(_equal(each, search) for each in subject)
        )


class _Interpreter(TreeInterpreter):
    def visit_comparator(self, node: Any, value: Any) -> bool | None:
        left, right = (self.visit(child, value) for child in node["children"])
        match node["value"]:
            case "eq":
                return _equal(left, right)
            case "ne":
                return not _equal(left, right)
            case operator if _is_number(left) and _is_number(right):
                return bool(self.COMPARATOR_FUNC[operator](left, right))
        return None


# It keeps nothing between two evaluations, and threads may share it.
_INTERPRETER: Final = _Interpreter(Options(custom_functions=_Functions()))


def compiled(path: str) -> Callable[[Any], Any]:
    """Return a function that evaluates an expression on a document of JSON values."""
    return partial(_INTERPRETER.visit, jmespath.compile(path).parsed)


def evaluated(node: Any, value: Any) -> Any:
    """Return the value of a parsed expression on a document; None if it cannot be evaluated."""
    try:
        return _INTERPRETER.visit(node, value)
    # jmespath lets TypeError, RecursionError and other builtin errors through.
    except Exception:
        return None

"""PathEvaluation of expressions with the comparisons of the JMESPath specification.

jmespath.py differs from it in three places: it orders strings, where JMESPath gives null; below the
top level it compares as Python does (`[1] == [true]`); and so does its `contains`.

A short expression may be a lot of work: each `[@,@][]` doubles a list. So the steps of all
expressions on one response are counted, and bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import jmespath
from jmespath.exceptions import ArityError, JMESPathTypeError
from jmespath.functions import Functions, signature
from jmespath.visitor import TreeInterpreter

from .redaction import cut, is_number

MOST_STEPS: Final = 500_000
"""Steps of the expressions on one response: nodes that are visited, items that are made."""

_CHARACTERS: Final = 16
"""Characters that count as one item."""

_BITS: Final = 53
"""Bits of a whole number that do: about as many digits."""

_TYPES: Final = {
    "NoneType": "null", "bool": "boolean", "dict": "object", "float": "number", "int": "number",
    "list": "array", "str": "string",
}  # fmt: skip
"""JMESPath's types, where jmespath.py says Python's."""


class TooManyStepsError(Exception):
    """The expressions on a response need more than `MOST_STEPS`."""


EVALUATION_ERRORS: Final = (
    TooManyStepsError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip
"""What an expression ends in that cannot be evaluated: jmespath lets builtin errors through, and
its own are `ValueError`s. Any other, such as a signal handler's, is not about the expression."""


class FailedExpression(NamedTuple):
    """An expression that cannot be evaluated on a response."""

    path: str
    """The expression, cut where it is long."""
    why: str
    """The reason, which quotes no value: it may be secret."""
    is_fault: bool
    """False: a function was given null, and another response may have what it takes."""

    @classmethod
    def of(cls, path: str, error: Exception) -> FailedExpression:
        """Return the problem of an expression whose evaluation ended in this error."""
        path = cut(path)
        match error:
            case JMESPathTypeError():
                given = _TYPES.get(error.actual_type, error.actual_type)
                taken = " or ".join(kind.replace("-", " of ") for kind in error.expected_types)
                why = f"{error.function_name}() takes {taken}, not {given}"
                return cls(path, why, is_fault=given != "null")
            case TooManyStepsError():
                return cls(path, f"more than {MOST_STEPS} steps", is_fault=True)
            case ArityError():
                return cls(path, str(error), is_fault=True)
            case _:
                return cls(path, type(error).__name__, is_fault=True)

    def is_inside(self, other: FailedExpression) -> bool:
        """Return whether this one is the part of the other one that fails."""
        return self.path in other.path and self.why == other.why

    def __str__(self) -> str:
        return f"{self.path} ({self.why})"


def _equal(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; a number never equals a boolean."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return bool(one == other)


class _SpecFunctions(Functions):
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


class PathEvaluation(TreeInterpreter):
    """Evaluates the expressions on one response, and counts their steps.

    `visit` raises TooManyStepsError before it does what is too much.

    Attributes:
        steps_left: the steps that the expressions may still take.
    """

    functions: Functions
    _visits: Mapping[str, Callable[[Any, Any, Any], Any]]

    def __init_subclass__(cls) -> None:
        # A table takes half the time that jmespath.py's lookup does.
        names = [name for name in dir(cls) if name.startswith("visit_")]
        cls._visits = {name.removeprefix("visit_"): getattr(cls, name) for name in names}

    def __init__(self) -> None:
        # Without that of the base class, which would make options and functions for each response.
        self.steps_left = MOST_STEPS

    def visit(self, node: Any, value: Any) -> Any:
        left = self.steps_left = self.steps_left - 1
        if left < 0:
            raise TooManyStepsError
        return self._visits[node["type"]](self, node, value)

    def evaluated(self, node: Any, value: Any) -> Any:
        """Return the value of a node on a document; None if it cannot be evaluated."""
        try:
            found = self.visit(node, value)
            self.spend_on(found)
        except EVALUATION_ERRORS:
            return None
        return found

    def spend_on(self, value: Any) -> None:
        """Count all that a value contains, as often as it does."""
        rest = [value]
        while rest:
            each = rest.pop()
            self._spend(_width(each))
            if isinstance(each, list):
                rest += each
            elif isinstance(each, dict):
                rest += each
                rest += each.values()

    def visit_flatten(self, node: Any, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        if not isinstance(base, list):
            return None
        parts = [each if isinstance(each, list) else [each] for each in base]
        # Many items may be the same long list.
        self._spend(sum(map(len, parts)))
        return [item for part in parts for item in part]

    def visit_slice(self, node: Any, value: Any) -> Any:
        self._spend(_width(value))
        return super().visit_slice(node, value)

    def visit_multi_select_dict(self, node: Any, value: Any) -> Any:
        if value is None:
            return None
        return {child["value"]: self.visit(child, value) for child in node["children"]}

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        name, given = node["value"], [self.visit(child, value) for child in node["children"]]
        self._spend(sum(map(_width, given)))
        match name, given:
            case (("to_string" | "contains"), [subject, *_]):
                self.spend_on(subject)
            case "join", [glue, [*texts]]:
                self._spend(sum(map(_width, texts)) + len(texts) * _width(glue))
            case (("max" | "min" | "sort"), [[*items]]):
                self._spend(sum(map(_width, items)))
            case (("max_by" | "min_by" | "sort_by"), [[*items], key]) if hasattr(key, "expression"):
                self._spend(sum(_width(self.visit(key.expression, each)) for each in items))
        return self.functions.call_function(name, given)

    def _compared(self, node: Any, value: Any) -> tuple[Any, Any]:
        """Return the two values that a node compares."""
        left, right = (self.visit(child, value) for child in node["children"])
        if isinstance(left, (list, dict)) and isinstance(right, (list, dict)):
            self.spend_on(left)
        elif isinstance(left, str) and isinstance(right, str):
            self._spend(_width(left))
        return left, right

    def _spend(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise TooManyStepsError


class SpecEvaluation(PathEvaluation):
    """Compares as the specification does."""

    functions = _SpecFunctions()

    def visit_comparator(self, node: Any, value: Any) -> bool | None:
        left, right = self._compared(node, value)
        match node["value"]:
            case "eq":
                return _equal(left, right)
            case "ne":
                return not _equal(left, right)
            case operator if is_number(left) and is_number(right):
                return bool(self.COMPARATOR_FUNC[operator](left, right))
        return None


class StockEvaluation(PathEvaluation):
    """Compares as jmespath.py does, and so botocore's waiters."""

    functions = Functions()

    def visit_comparator(self, node: Any, value: Any) -> Any:
        values = self._compared(node, value)
        literals = [{"type": "literal", "value": each, "children": []} for each in values]
        compared: Any = {**node, "children": literals}
        return super().visit_comparator(compared, None)


class Path:
    """A compiled expression. Threads may share it."""

    __slots__ = ("_may_repeat", "_node")

    def __init__(self, text: str) -> None:
        self._node: Any = jmespath.compile(text).parsed
        # Only these put one value into another twice.
        repeats = {"multi_select_list", "multi_select_dict"}
        self._may_repeat = not repeats.isdisjoint(kinds_in(self._node))

    def value(self, document: Any, evaluation: PathEvaluation) -> Any:
        """Return the value on a document of JSON values.

        Raises:
            TooManyStepsError: it is too much work, or contains too much.
            Exception: jmespath lets TypeError, RecursionError and other builtin errors through.
        """
        value = evaluation.visit(self._node, document)
        if self._may_repeat:
            evaluation.spend_on(value)
        return value


def kinds_in(tree: Any) -> Iterator[str]:
    """Yield the type of each node of a parsed expression."""
    rest = [tree]
    for node in rest:  # It grows meanwhile.
        # The children of a slice are its bounds: numbers or None.
        if isinstance(node, dict):
            yield node["type"]
            rest += node["children"]


def _width(value: Any) -> int:
    """Return the number of items of a list or an object; for text and numbers, what they count."""
    if isinstance(value, (list, dict)):
        return len(value)
    if isinstance(value, str):
        return len(value) // _CHARACTERS
    return value.bit_length() // _BITS if isinstance(value, int) else 0

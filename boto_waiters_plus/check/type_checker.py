"""The static analysis of JMESPath expressions: Smithy's linter.

It evaluates an expression on sample data and reports what cannot be right. Its rules are those of
Smithy's linter, oddities included: an expression that is clean here is clean there. Values are JSON
values; a value that is not known is `ANY`.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .events import Severity
from .expressions import Evaluator, Expression, ExpressionSyntaxError, Node


class _Unknown(enum.Enum):
    """Values that JSON cannot express, by their types."""

    ANY = "any"
    REFERENCE = "expression"


ANY: Final = _Unknown.ANY

MOST_STEPS: Final = 100_000
"""Nodes that are visited, items that are made or compared, for one expression on its sample."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of an expression."""

    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class LintResult:
    """The result of checking an expression."""

    return_type: str
    problems: tuple[Problem, ...]


# Of each function: a sample of its result and the types of its parameters. `array|string` is either
# type, `array<number>` a list of numbers; `...` repeats the parameter before it. ends_with, max and
# min return numbers in Smithy.
_FUNCTIONS: dict[str, tuple[Any, str]] = {
    "abs": (0, "number"),
    "avg": (0, "array<number>"),
    "ceil": (0, "number"),
    "contains": (False, "array|string any"),
    "ends_with": (0, "string string"),
    "floor": (0, "number"),
    "join": ("", "string array<string>"),
    "keys": ([], "object"),
    "length": (0, "string|array|object"),
    "map": ([], "expression array"),
    "max": (0, "array"),
    "max_by": (0, "array expression"),
    "merge": ({}, "object ..."),
    "min": (0, "array"),
    "min_by": (0, "array expression"),
    "not_null": (ANY, "any any ..."),
    "reverse": ([], "array|string"),
    "sort": ([], "array"),
    "sort_by": ([], "array expression"),
    "starts_with": (False, "string string"),
    "sum": (0, "array<number>"),
    "to_array": ([], "any"),
    "to_number": (0, "any"),
    "to_string": ("", "any"),
    "type": ("", "any"),
    "values": ([], "object"),
}

_ORDER = {
    "lt": ("<", operator.lt),
    "lte": ("<=", operator.le),
    "gt": (">", operator.gt),
    "gte": (">=", operator.ge),
}


_JSON_TYPES: tuple[tuple[Any, str], ...] = (
    (bool, "boolean"),
    (list, "array"),
    (Mapping, "object"),
    (str, "string"),
    ((int, float), "number"),
)


def lint(expression: Expression, current: Any = ANY) -> LintResult:
    """Check an expression on a sample of the value it will be applied to.

    Raises:
        ExpressionSyntaxError: the expression is nested too deeply, or too much work.
    """
    linter = _Linter()
    try:
        result = linter.visit(expression.root, current)
    except RecursionError as error:
        raise ExpressionSyntaxError("nested too deeply") from error
    problems = sorted(linter.problems.values(), key=lambda problem: problem.message)
    return LintResult(type_of(result), tuple(problems))


def type_of(value: Any) -> str:
    """Return the JMESPath type of a value; `any` if it is not known."""
    if value is None:
        return "null"
    for kinds, name in _JSON_TYPES:
        if isinstance(value, kinds):
            return name
    return str(value.value)


class _Linter(Evaluator):
    """Evaluates an expression on sample data."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: dict[tuple[int, Severity, str], Problem] = {}
        self._steps_left = MOST_STEPS

    def visit(self, node: Node, value: Any) -> Any:
        self._spend(1)
        return super().visit(node, value)

    def _spend(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise ExpressionSyntaxError(f"more than {MOST_STEPS} steps on a sample")

    def _report(self, severity: Severity, node: Node, message: str) -> None:
        """Report a problem, but only once for all the elements that a node is evaluated on."""
        self.problems[id(node), severity, message] = Problem(severity, message)

    def _wrong_type(self, node: Node, what: str, value: Any) -> None:
        """Report an operation on a value of the wrong type, unless its type is unknown."""
        if value is not ANY:
            self._report(Severity.DANGER, node, f"{what} performed on {type_of(value)}")

    def visit_literal(self, node: Node, _: Any) -> Any:
        return node["value"]

    def visit_field(self, node: Node, value: Any) -> Any:
        name = node["value"]
        if not isinstance(value, Mapping):
            self._wrong_type(node, f"Object field '{name}' extraction", value)
            return ANY
        if name in value:
            return value[name]
        text = f"Object field '{name}' does not exist in object with properties"
        self._report(Severity.DANGER, node, f"{text} [{', '.join(value)}]")
        return None

    def visit_index(self, node: Node, value: Any) -> Any:
        if isinstance(value, list):
            return value[node["value"]] if -len(value) <= node["value"] < len(value) else None
        self._wrong_type(node, f"Array index '{node['value']}' extraction", value)
        return ANY

    def visit_slice(self, node: Node, value: Any) -> Any:
        return self._list(node, "Slice", value)

    def _list(self, node: Node, what: str, value: Any) -> list[Any]:
        """Return a list as it is; report anything else and return an empty list."""
        if isinstance(value, list):
            return value
        self._wrong_type(node, what, value)
        return []

    def visit_flatten(self, node: Node, value: Any) -> Any:
        flat: list[Any] = []
        for element in self._list(node, "Array flatten", *self.visit_all(node, value)):
            if isinstance(element, list):
                flat += element
            elif element is not None:
                flat.append(element)
        self._spend(len(flat))
        return flat

    def visit_multi_select_list(self, node: Node, value: Any) -> Any:
        return [_stored(each) for each in self.visit_all(node, value)]

    def visit_multi_select_dict(self, node: Node, value: Any) -> Any:
        return {child["value"]: _stored(self.visit(child, value)) for child in node["children"]}

    def visit_and_expression(self, node: Node, value: Any) -> Any:
        left, right = self.visit_all(node, value)
        return right if _truthy(left) else left

    def visit_or_expression(self, node: Node, value: Any) -> Any:
        left, right = self.visit_all(node, value)
        return left if _truthy(left) else right

    def visit_not_expression(self, node: Node, value: Any) -> Any:
        return not _truthy(*self.visit_all(node, value))

    def visit_comparator(self, node: Node, value: Any) -> Any:
        left, right = self.visit_all(node, value)
        if left is ANY:
            return True
        kind = type_of(left)
        if kind != type_of(right):
            return False
        if node["value"] in ("eq", "ne"):
            return self._same(left, right) == (node["value"] == "eq")
        symbol, compare = _ORDER[node["value"]]
        if kind == "number":
            return compare(left, right)
        self._report(Severity.WARNING, node, f"Invalid comparator '{symbol}' for {kind}")
        return None

    def _same(self, left: Any, right: Any) -> bool:
        """Compare two values as JSON does: true is not 1."""
        self._spend(1)
        if isinstance(left, list) and isinstance(right, list):
            return len(left) == len(right) and all(map(self._same, left, right))
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            is_alike = left.keys() == right.keys()
            return is_alike and all(self._same(left[key], right[key]) for key in left)
        return type_of(left) == type_of(right) and bool(left == right)

    def visit_projection(self, node: Node, value: Any) -> Any:
        left, right = node["children"]
        elements = self._list(node, "Array projection", self.visit(left, value))
        # The right side is checked even if there is no element.
        values = [_stored(self.visit(right, element)) for element in elements or [ANY]]
        return values if elements else []

    def visit_value_projection(self, node: Node, value: Any) -> Any:
        left, right = node["children"]
        projected = self.visit(left, value)
        if isinstance(projected, Mapping):
            return [_stored(self.visit(right, element)) for element in projected.values()]
        self._wrong_type(node, "Object projection", projected)
        self.visit(right, ANY)
        return {}

    def visit_filter_projection(self, node: Node, value: Any) -> Any:
        left, right, condition = node["children"]
        elements = self._list(node, "Filter projection", self.visit(left, value))
        values = [
            self.visit(right, element)
            for element in elements or [ANY]
            if _truthy(self.visit(condition, element)) or not elements
        ]
        return [_stored(each) for each in values if each is not None] if elements else []

    def visit_expref(self, node: Node, value: Any) -> Any:
        # Smithy checks the reference on the function's own current node, not on the elements.
        self.visit_all(node, value)
        return _Unknown.REFERENCE

    def visit_function_expression(self, node: Node, value: Any) -> Any:
        name, arguments = node["value"], self.visit_all(node, value)
        if name not in _FUNCTIONS:
            self._report(Severity.ERROR, node, f"Unknown function: {name}")
            return ANY
        result, signature = _FUNCTIONS[name]
        parameters = signature.split()
        required = len(parameters)
        if parameters[-1] == "...":
            required -= 2
            parameters[required:] = parameters[required : required + 1] * (
                len(arguments) - required
            )
        if not required <= len(arguments) == len(parameters):
            text = f"{name} function expected {required} arguments, but was given {len(arguments)}"
            self._report(Severity.ERROR, node, text)
            return result
        for index, (expected, argument) in enumerate(zip(parameters, arguments, strict=True)):
            if (found := _mismatch(expected, argument)) is not None:
                text = f"{name} function argument {index} error: Expected {expected}, but found"
                self._report(Severity.ERROR, node, f"{text} {found}")
        return result


def _mismatch(expected: str, value: Any) -> str | None:
    """Return what a value is if it is not of the expected type."""
    kind = type_of(value)
    if "any" in (expected, kind):
        return None
    if expected.startswith("array<") and isinstance(value, list):
        types = map(type_of, value)
        return next((f"{other} in it" for other in types if f"<{other}>" not in expected), None)
    return None if kind in expected.split("|") else kind


def _stored(value: Any) -> Any:
    """Return a value as an element of a list, where a reference is not known any more."""
    return ANY if value is _Unknown.REFERENCE else value


def _truthy(value: Any) -> bool:
    if isinstance(value, (bool, str, list, Mapping)):
        return bool(value)
    return value is not None

"""The static analysis of JMESPath expressions: Smithy's linter.

It evaluates an expression on sample data and reports what cannot be right. Its rules are those of
Smithy's linter, oddities included: an expression that is clean here is clean there. Values are JSON
values; a value that is not known is `ANY`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .events import Severity
from .expressions import Expression, ExpressionSyntaxError, Node, Position


class _Unknown:
    """A value that JSON cannot express."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


ANY: Final = _Unknown("any")
_REFERENCE: Final = _Unknown("expression")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of an expression."""

    severity: Severity
    message: str
    position: Position

    def __str__(self) -> str:
        return f"{self.message} ({self.position.line}:{self.position.column})"


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

_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def lint(expression: Expression, current: Any = ANY) -> LintResult:
    """Check an expression on a sample of the value it will be applied to.

    Raises:
        ExpressionSyntaxError: the expression is nested too deeply.
    """
    problems: set[Problem] = set()
    try:
        result = _Checker(current, problems).visit(expression.root)
    except RecursionError as error:
        raise ExpressionSyntaxError("nested too deeply") from error
    return LintResult(type_of(result), tuple(sorted(problems, key=str)))


def type_of(value: Any) -> str:
    """Return the JMESPath type of a value; `any` if it is not known."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    for kind, name in ((list, "array"), (Mapping, "object"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "number" if isinstance(value, (int, float)) else str(value.type_name)


class _Checker:
    """Evaluates an expression with one value as the current node."""

    __slots__ = ("_here", "_of_references", "_problems")

    def __init__(self, current: Any, problems: set[Problem], of_references: Any = ANY) -> None:
        self._here = current
        self._problems = problems
        self._of_references = of_references

    def visit(self, node: Node) -> Any:
        """Return a sample of the node's value."""
        return getattr(self, f"_{node.kind}")(node)

    def _on(self, current: Any) -> _Checker:
        return _Checker(current, self._problems)

    def _report(self, severity: Severity, node: Node, message: str) -> None:
        self._problems.add(Problem(severity, message, node.position))

    def _wrong_type(self, node: Node, what: str, value: Any) -> None:
        """Report an operation on a value of the wrong type, unless its type is unknown."""
        if value is not ANY:
            self._report(Severity.DANGER, node, f"{what} performed on {type_of(value)}")

    def _current(self, _: Node) -> Any:
        return self._here

    def _literal(self, node: Node) -> Any:
        return node.value

    def _field(self, node: Node) -> Any:
        if not isinstance(self._here, Mapping):
            self._wrong_type(node, f"Object field '{node.value}' extraction", self._here)
            return ANY
        if node.value in self._here:
            return self._here[node.value]
        names = ", ".join(self._here)
        message = f"Object field '{node.value}' does not exist in object with properties [{names}]"
        self._report(Severity.DANGER, node, message)
        return None

    def _index(self, node: Node) -> Any:
        if not isinstance(self._here, list):
            self._wrong_type(node, f"Array index '{node.value}' extraction", self._here)
            return ANY
        size = len(self._here)
        return self._here[node.value] if -size <= node.value < size else None

    def _slice(self, node: Node) -> Any:
        if isinstance(self._here, list):
            return self._here
        self._wrong_type(node, "Slice", self._here)
        return []

    def _sub(self, node: Node) -> Any:
        left, right = node.children
        return self._on(self.visit(left)).visit(right)

    def _elements(self, node: Node, what: str) -> list[Any]:
        """Return the list on the left of a node; an empty one if there is no list."""
        value = self.visit(node.children[0])
        if isinstance(value, list):
            return value
        self._wrong_type(node, what, value)
        return []

    def _flatten(self, node: Node) -> Any:
        flat: list[Any] = []
        for element in self._elements(node, "Array flatten"):
            if isinstance(element, list):
                flat += element
            elif element is not None:
                flat.append(element)
        return flat

    def _list(self, node: Node) -> Any:
        return [_stored(self.visit(child)) for child in node.children]

    def _hash(self, node: Node) -> Any:
        values = [_stored(self.visit(child)) for child in node.children]
        return dict(zip(node.value, values, strict=True))

    def _and(self, node: Node) -> Any:
        left, right = (self.visit(child) for child in node.children)
        return right if _truthy(left) else left

    def _or(self, node: Node) -> Any:
        left, right = (self.visit(child) for child in node.children)
        return left if _truthy(left) else right

    def _not(self, node: Node) -> Any:
        return not _truthy(self.visit(node.children[0]))

    def _comparator(self, node: Node) -> Any:
        left, right = (self.visit(child) for child in node.children)
        if left is ANY:
            return True
        kind = type_of(left)
        if kind != type_of(right):
            return False
        if node.value in ("==", "!="):
            return _same(left, right) == (node.value == "==")
        if kind == "number":
            return _ORDER[node.value](left, right)
        self._report(Severity.WARNING, node, f"Invalid comparator '{node.value}' for {kind}")
        return None

    def _projection(self, node: Node) -> Any:
        elements = self._elements(node, "Array projection")
        right = node.children[1]
        # The right side is checked even if there is no element.
        values = [_stored(self._on(element).visit(right)) for element in elements or [ANY]]
        return values if elements else []

    def _object_projection(self, node: Node) -> Any:
        left, right = node.children
        value = self.visit(left)
        if not isinstance(value, Mapping):
            self._wrong_type(node, "Object projection", value)
            self._on(ANY).visit(right)
            return {}
        return [_stored(self._on(element).visit(right)) for element in value.values()]

    def _filter(self, node: Node) -> Any:
        _, right, condition = node.children
        elements = self._elements(node, "Filter projection")
        values = []
        for element in elements or [ANY]:
            checker = self._on(element)
            if _truthy(checker.visit(condition)) or not elements:
                values.append(checker.visit(right))
        return [_stored(value) for value in values if value is not None] if elements else []

    def _expref(self, node: Node) -> Any:
        # Smithy checks the reference on the function's own current node, not on the elements.
        self._on(self._of_references).visit(node.children[0])
        return _REFERENCE

    def _function(self, node: Node) -> Any:
        checker = _Checker(self._here, self._problems, of_references=self._here)
        arguments = [checker.visit(child) for child in node.children]
        if node.value not in _FUNCTIONS:
            self._report(Severity.ERROR, node, f"Unknown function: {node.value}")
            return ANY
        result, signature = _FUNCTIONS[node.value]
        parameters = signature.split()
        if parameters[-1] == "...":
            required = len(parameters) - 2
            parameters = parameters[:required] + parameters[-2:-1] * (len(arguments) - required)
        else:
            required = len(parameters)
        if not required <= len(arguments) == len(parameters):
            text = f"{node.value} function expected {required} arguments, but was given"
            self._report(Severity.ERROR, node, f"{text} {len(arguments)}")
            return result
        for index, (child, expected) in enumerate(zip(node.children, parameters, strict=True)):
            if (found := _mismatch(expected, arguments[index])) is not None:
                text = f"{node.value} function argument {index} error: "
                text += f"Expected {expected}, but found {found}"
                self._report(Severity.ERROR, child, text)
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
    """Return a value as an element of a list; there, a reference is not known any more."""
    return ANY if value is _REFERENCE else value


def _truthy(value: Any) -> bool:
    if isinstance(value, (bool, str, list, Mapping)):
        return bool(value)
    return value is not None


def _same(left: Any, right: Any) -> bool:
    """Compare two values as JSON does: true is not 1."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return type_of(left) == type_of(right) and bool(left == right)

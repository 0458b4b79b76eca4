"""Evaluates an expression on sample data and says what cannot be right.

The rules, the texts and the positions are those of Smithy's linter, its oddities included: a
definition that is clean here is clean there. Values are JSON values; what nobody can know is `ANY`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .events import Severity
from .expressions import Expression, ExpressionSyntaxError, Node


class _Unknown:
    """A value that JSON has no word for."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


ANY: Final = _Unknown("any")
_REFERENCE: Final = _Unknown("expression")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in an expression that is wrong, or looks it."""

    severity: Severity
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"[{self.severity}] {self.message} ({self.line}:{self.column})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker found out about an expression."""

    return_type: str
    problems: tuple[Problem, ...]
    """In the alphabetical order of their texts, as Smithy gives them."""


@dataclass(frozen=True, slots=True)
class _Signature:
    """What a function takes and gives.

    Parameters are type names: one, several that will do (`array|string`), or an array of one
    (`array<number>`). `more` is the type of any number of further arguments.
    """

    result: Any
    parameters: tuple[str, ...] = ()
    more: str | None = None

    def complaint(self, name: str, count: int) -> str | None:
        """What is wrong with this many arguments."""
        wanted = len(self.parameters)
        if count < wanted or (self.more is None and count > wanted):
            return f"{name} function expected {wanted} arguments, but was given {count}"
        return None

    def parameter(self, index: int) -> str:
        """The type of an argument."""
        if index < len(self.parameters):
            return self.parameters[index]
        return self.more or "any"


# The result of a function is a sample of its type. ends_with, max and min give numbers in Smithy.
_FUNCTIONS: dict[str, _Signature] = {
    "abs": _Signature(0, ("number",)),
    "avg": _Signature(0, ("array<number>",)),
    "ceil": _Signature(0, ("number",)),
    "contains": _Signature(result=False, parameters=("array|string", "any")),
    "ends_with": _Signature(0, ("string", "string")),
    "floor": _Signature(0, ("number",)),
    "join": _Signature("", ("string", "array<string>")),
    "keys": _Signature([], ("object",)),
    "length": _Signature(0, ("string|array|object",)),
    "map": _Signature([], ("expression", "array")),
    "max": _Signature(0, ("array",)),
    "max_by": _Signature(0, ("array", "expression")),
    "merge": _Signature({}, (), "object"),
    "min": _Signature(0, ("array",)),
    "min_by": _Signature(0, ("array", "expression")),
    "not_null": _Signature(ANY, ("any",), "any"),
    "reverse": _Signature([], ("array|string",)),
    "sort": _Signature([], ("array",)),
    "sort_by": _Signature([], ("array", "expression")),
    "starts_with": _Signature(result=False, parameters=("string", "string")),
    "sum": _Signature(0, ("array<number>",)),
    "to_array": _Signature([], ("any",)),
    "to_number": _Signature(0, ("any",)),
    "to_string": _Signature("", ("any",)),
    "type": _Signature("", ("any",)),
    "values": _Signature([], ("object",)),
}

_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def lint(expression: Expression, current: Any = ANY) -> Verdict:
    """Check an expression against the value it will be applied to.

    Args:
        expression: the expression.
        current: a sample of that value; `ANY` says nothing about it.

    Raises:
        ExpressionSyntaxError: it parses, but is nested too deeply to be followed.
    """
    problems: set[Problem] = set()
    try:
        result = _Checker(current, problems).visit(expression.root)
    except RecursionError as error:
        raise ExpressionSyntaxError("nested too deeply") from error
    return Verdict(type_of(result), tuple(sorted(problems, key=str)))


def type_of(value: Any) -> str:
    """The JMESPath type of a value, `any` where it is not known."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    for kind, name in ((list, "array"), (Mapping, "object"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "number" if isinstance(value, (int, float)) else str(value.type_name)


class _Checker:
    """Visits an expression with one value as the current one."""

    __slots__ = ("_here", "_of_references", "_problems")

    def __init__(self, current: Any, problems: set[Problem], of_references: Any = ANY) -> None:
        self._here = current
        self._problems = problems
        self._of_references = of_references

    def visit(self, node: Node) -> Any:
        """A sample of the node's value."""
        return getattr(self, f"_{node.kind}")(node)

    def _on(self, current: Any) -> _Checker:
        return _Checker(current, self._problems)

    def _report(self, severity: Severity, node: Node, message: str) -> None:
        self._problems.add(Problem(severity, *node.position, message))

    def _danger(self, node: Node, what: str, value: Any) -> None:
        """Complain that something is done to a value of the wrong type, if its type is known."""
        if value is not ANY:
            self._report(Severity.DANGER, node, f"{what} performed on {type_of(value)}")

    def _current(self, _: Node) -> Any:
        return self._here

    def _literal(self, node: Node) -> Any:
        return node.value

    def _field(self, node: Node) -> Any:
        if not isinstance(self._here, Mapping):
            self._danger(node, f"Object field '{node.value}' extraction", self._here)
            return ANY
        if node.value in self._here:
            return self._here[node.value]
        names = ", ".join(self._here)
        message = f"Object field '{node.value}' does not exist in object with properties [{names}]"
        self._report(Severity.DANGER, node, message)
        return None

    def _index(self, node: Node) -> Any:
        if not isinstance(self._here, list):
            self._danger(node, f"Array index '{node.value}' extraction", self._here)
            return ANY
        size = len(self._here)
        return self._here[node.value] if -size <= node.value < size else None

    def _slice(self, node: Node) -> Any:
        if isinstance(self._here, list):
            return self._here
        self._danger(node, "Slice", self._here)
        return []

    def _sub(self, node: Node) -> Any:
        left, right = node.children
        return self._on(self.visit(left)).visit(right)

    def _flatten(self, node: Node) -> Any:
        value = self.visit(node.children[0])
        if not isinstance(value, list):
            self._danger(node, "Array flatten", value)
            return []
        flat: list[Any] = []
        for element in value:
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
        left, right = node.children
        value = self.visit(left)
        if not isinstance(value, list) or not value:
            if not isinstance(value, list):
                self._danger(node, "Array projection", value)
            self._on(ANY).visit(right)
            return []
        return [_stored(self._on(element).visit(right)) for element in value]

    def _object_projection(self, node: Node) -> Any:
        left, right = node.children
        value = self.visit(left)
        if not isinstance(value, Mapping):
            self._danger(node, "Object projection", value)
            self._on(ANY).visit(right)
            return {}
        return [_stored(self._on(element).visit(right)) for element in value.values()]

    def _filter(self, node: Node) -> Any:
        left, right, condition = node.children
        value = self.visit(left)
        if not isinstance(value, list) or not value:
            if not isinstance(value, list):
                self._danger(node, "Filter projection", value)
            checker = self._on(ANY)
            checker.visit(condition)
            checker.visit(right)
            return []
        result = []
        for element in value:
            checker = self._on(element)
            if _truthy(checker.visit(condition)):
                found = checker.visit(right)
                if found is not None:
                    result.append(_stored(found))
        return result

    def _expref(self, node: Node) -> Any:
        # Smithy checks the reference against what the function stands on, not the elements.
        self._on(self._of_references).visit(node.children[0])
        return _REFERENCE

    def _function(self, node: Node) -> Any:
        checker = _Checker(self._here, self._problems, of_references=self._here)
        arguments = [checker.visit(child) for child in node.children]
        signature = _FUNCTIONS.get(node.value)
        if signature is None:
            self._report(Severity.ERROR, node, f"Unknown function: {node.value}")
            return ANY
        complaint = signature.complaint(node.value, len(arguments))
        if complaint is not None:
            self._report(Severity.ERROR, node, complaint)
            return signature.result
        for index, (child, value) in enumerate(zip(node.children, arguments, strict=True)):
            complaint = _mismatch(signature.parameter(index), value)
            if complaint is not None:
                message = f"{node.value} function argument {index} error: {complaint}"
                self._report(Severity.ERROR, child, message)
        return signature.result


def _mismatch(wanted: str, value: Any) -> str | None:
    kind = type_of(value)
    if "any" in (wanted, kind):
        return None
    if wanted.startswith("array<"):
        return _element_mismatch(wanted.removeprefix("array<").removesuffix(">"), value)
    if kind in wanted.split("|"):
        return None
    if "|" in wanted:
        return f"Expected one of [{', '.join(wanted.split('|'))}], but found {kind}"
    return f"Expected argument to be {wanted}, but found {kind}"


def _element_mismatch(wanted: str, value: Any) -> str | None:
    if not isinstance(value, list):
        return f"Expected argument to be an array, but found {type_of(value)}"
    for index, element in enumerate(value):
        if type_of(element) != wanted:
            return f"Expected an array of {wanted}, but found {type_of(element)} at index {index}"
    return None


def _stored(value: Any) -> Any:
    """A value as an element: what a reference refers to is forgotten there."""
    return ANY if value is _REFERENCE else value


def _truthy(value: Any) -> bool:
    if isinstance(value, (bool, str, list, Mapping)):
        return bool(value)
    return value is not None


def _same(left: Any, right: Any) -> bool:
    """Equality as JSON has it: true is not 1."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return type_of(left) == type_of(right) and bool(left == right)

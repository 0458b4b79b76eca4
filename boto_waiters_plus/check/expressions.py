"""JMESPath expressions: their trees, Smithy's linter for them, and the samples it takes.

It evaluates an expression on sample data and reports what cannot be right. Its rules are those of
Smithy's linter, oddities included: an expression that is clean here is clean there. Values are JSON
values; a value that is not known is `ANY`.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import jmespath
from botocore.model import ListShape, MapShape, Shape, StructureShape
from jmespath.exceptions import JMESPathError
from jmespath.lexer import Lexer
from jmespath.visitor import Visitor

from ..definitions.parsing import Place, expression_tree, has_json_literals, nodes_of
from ..exceptions import WaiterDefinitionError
from ..service.shapes import members_of
from .events import Severity
from .model import enum_of

# --- JMESPath expressions as the trees that jmespath.py parses them into -------------------------

Node = Any
"""A dict with `type`, `children` and `value`, for which jmespath.py has no public type."""

_PROJECTIONS = ("projection", "value_projection", "filter_projection")
# Nodes that apply something to their first child.
_STEPS = ("subexpression", "index_expression", *_PROJECTIONS)
# Nodes whose children are separated by commas.
_WITH_COMMAS = ("function_expression", "multi_select_list", "multi_select_dict")


class ExpressionSyntaxError(ValueError):
    """An expression that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression."""

    text: str
    root: Node
    parsed_differently: bool
    """Whether jmespath.py groups the expression differently from the JMESPath grammar.

    jmespath.py ends the right side of `a.*` at the second dot, and that of other projections after
    braces: it applies the `.c` of `a.*.b.c` and `a[*].{b: b}.c` to the whole list, which gives
    null. `root` follows the grammar, as Smithy does.
    """


class Evaluator(Visitor):
    """What every evaluation of an expression has in common; subclasses add the other nodes."""

    def visit_all(self, node: Node, current: Any) -> list[Any]:
        """Return the values of a node's children."""
        return [self.visit(child, current) for child in node["children"]]

    def visit_subexpression(self, node: Node, current: Any) -> Any:
        """Evaluate each child on the value of the child before it."""
        for child in node["children"]:
            current = self.visit(child, current)
        return current

    visit_index_expression = visit_pipe = visit_key_val_pair = visit_subexpression
    visit_current = visit_identity = visit_subexpression  # these have no children


def parse(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ExpressionSyntaxError: the text is not a JMESPath expression.
    """
    try:
        tree = expression_tree(text, Place("expression"))
        if not has_json_literals(text):
            raise ExpressionSyntaxError("Syntax error: a literal is not JSON")
        tokens = list(Lexer().tokenize(text))
        commas = sum(token["type"] == "comma" for token in tokens)
        parts = [node["children"] for node, _ in nodes_of(tree) if node["type"] in _WITH_COMMAS]
        if commas != sum(len(children) - 1 for children in filter(None, parts)):
            raise ExpressionSyntaxError("Syntax error: a comma is missing or superfluous")
        root = _regrouped(tree)
        if root != tree:
            tree = jmespath.compile(_with_marked_groups(text, tokens)).parsed
            root = _regrouped(tree)
    except (JMESPathError, RecursionError, WaiterDefinitionError) as error:
        raise ExpressionSyntaxError(_problem(error)) from error
    return Expression(text, root, root != tree)


def _problem(error: BaseException | None) -> str:
    match error:
        case RecursionError() | WaiterDefinitionError(__cause__=RecursionError()):
            return "nested too deeply"
        case JMESPathError() | WaiterDefinitionError(__cause__=JMESPathError()):
            # The other lines of the message show the expression again.
            text = str(error.__cause__ or error).splitlines()[0]
            return f"Syntax error: {text.removesuffix(':').removesuffix(', for expression')}"
        case WaiterDefinitionError():
            return error.problem
    raise AssertionError(error)


def _regrouped(node: Node) -> Node:
    """Return the tree of the JMESPath grammar."""
    if node["type"] == "slice":
        return node
    return _grouped({**node, "children": [_regrouped(child) for child in node["children"]]})


def _grouped(node: Node) -> Node:
    """Return a node, moved into the projection that it is applied to if it belongs there."""
    if node["type"] not in _STEPS or not _takes(node["children"][0], node):
        return node
    projection, *steps = node["children"]
    value, right, *condition = projection["children"]
    right = _grouped({**node, "children": [right, *steps]})
    return {**projection, "children": [value, right, *condition]}


def _takes(node: Node, step: Node) -> bool:
    """Tell whether a node is a projection that, by the grammar, the step behind it belongs to."""
    if node["type"] not in _PROJECTIONS:
        return False
    value, right, *condition = node["children"]
    if node["type"] == "value_projection" and value["type"] != "identity":
        return True
    between_filters = bool(condition) and step["type"] == "filter_projection"
    return bool(right["type"] == "multi_select_dict") and not between_filters


def _with_marked_groups(text: str, tokens: list[Node]) -> str:
    """Return the expression with `(a)` as `(a|@)`; jmespath.py's tree has no parentheses."""
    for before, token in reversed(list(pairwise(tokens))):
        if token["type"] == "rparen" and before["type"] != "lparen":
            text = f"{text[: token['start']]}|@{text[token['start'] :]}"
    return text


# --- the linter ----------------------------------------------------------------------------------


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


# --- sample data for a shape, made the way Smithy makes it for its linter ------------------------
# A sample has everything that the model allows: all members of a structure or union, two elements
# in each list unless its length forbids. Where a shape contains itself, the value is `ANY`.
#
# One thing is not as Smithy has it: a map has all keys of its enumeration, or any key.

_EXAMPLES = {"blob": "blob", "boolean": True, "timestamp": 0}
_NUMBERS = ("integer", "long", "float", "double")


def sample(shape: Shape | None) -> Any:
    """Return a sample of an operation's input or output; without one, an empty structure."""
    return {} if shape is None else _sample(shape, frozenset())


def _sample(shape: Shape, seen: frozenset[str]) -> Any:
    if isinstance(shape, StructureShape):
        return ANY if shape.is_document_type else _Structure(shape, seen)
    if isinstance(shape, ListShape):
        return [_member(shape, "member", shape.member, seen)] * int(_clamped(2, shape))
    if isinstance(shape, MapShape):
        return _map(shape, seen)
    if shape.type_name in ("string", "char", "character"):
        return "a" * int(_clamped(2, shape))
    return (
        _clamped(8, shape) if shape.type_name in _NUMBERS else _EXAMPLES.get(shape.type_name, ANY)
    )


def _map(shape: MapShape, seen: frozenset[str]) -> Mapping[str, Any]:
    key = _member(shape, "key", shape.key, seen)
    value = _member(shape, "value", shape.value, seen | {f"{shape.name}$key"})
    number = int(_clamped(2, shape))
    if number and (keys := enum_of(shape.key)):
        return dict.fromkeys(keys, value)
    return _Map({f"{key}{index}": value for index in range(number)})


def _member(shape: Shape, name: str, target: Shape, seen: frozenset[str]) -> Any:
    identity = f"{shape.name}${name}"
    return ANY if identity in seen else _sample(target, seen | {identity})


def _clamped(value: float, shape: Shape) -> float:
    value = max(value, shape.metadata.get("min", value))
    return float(min(value, shape.metadata.get("max", value)))


class _Map(dict[str, Any]):
    """The sample of a map, which may have any key; Smithy's has two keys and no other.

    Smithy's linter therefore reports each path to a key that it did not make up.
    """

    def __contains__(self, name: object) -> bool:
        return bool(self)

    def __missing__(self, name: str) -> Any:
        return next(iter(self.values()))


class _Structure(Mapping[str, Any]):
    """The sample of a structure, whose members are made when they are read.

    All members of a response, down to the leaves, can be a million times more than an expression
    reads.
    """

    def __init__(self, shape: StructureShape, seen: frozenset[str]) -> None:
        self._shape = shape
        self._members = members_of(shape)
        self._seen = seen
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        target = self._members[name]
        if name not in self._made:
            # Smithy visits members in order, and none of them a second time.
            names = list(self._members)
            visited = {f"{self._shape.name}${other}" for other in names[: names.index(name)]}
            self._made[name] = _member(self._shape, name, target, self._seen | visited)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

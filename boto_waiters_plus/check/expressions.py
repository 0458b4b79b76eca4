"""JMESPath expressions as the trees that jmespath.py parses them into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.lexer import Lexer
from jmespath.visitor import Visitor

from ..definitions.parsing import Place, expression_tree, has_json_literals
from ..exceptions import WaiterDefinitionError

Node = Any
"""A dict with `type`, `children` and `value`, for which jmespath.py has no public type."""

_PROJECTIONS = ("projection", "value_projection", "filter_projection")
# Nodes that apply something to their first child.
_STEPS = ("subexpression", "index_expression", *_PROJECTIONS)
_SEPARATED_BY_COMMAS = ("function_expression", "multi_select_list", "multi_select_dict")


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
        if commas != sum(len(node["children"]) - 1 for node in _separated(tree)):
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


def _separated(node: Node) -> Iterator[Node]:
    """Yield the nodes whose children are separated by commas."""
    if node["type"] in _SEPARATED_BY_COMMAS and node["children"]:
        yield node
    for child in node["children"] if node["type"] != "slice" else ():
        yield from _separated(child)


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

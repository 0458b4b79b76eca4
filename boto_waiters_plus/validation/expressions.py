"""JMESPath expressions with the positions that jmespath.py's trees lack.

jmespath.py parses; this walks its tree and its lexer's tokens side by side, in source order, and
makes a tree in which each node knows the line and column that Smithy's linter reports for it.
"""

from __future__ import annotations

import bisect
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jmespath
from jmespath.exceptions import JMESPathError, LexerError
from jmespath.lexer import Lexer

from .refusals import Refusal, bad_literal, lexer_refusal, parser_refusal, shown

_LINE_END = re.compile(r"\r\n|\r|\n")
_BINARY = {"and_expression": "and", "or_expression": "or", "pipe": "pipe"}
_COMPARATORS = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


class Position(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


class ExpressionSyntaxError(ValueError):
    """An expression that cannot be parsed; its text is worded like Smithy's."""


@dataclass(frozen=True, slots=True)
class Node:
    r"""A part of an expression.

    | kind | value | children |
    |---|---|---|
    | `field`, `literal`, `index` | the name, the value, the number | |
    | `current`, `slice` | | |
    | `sub` (`a.b`, `a[0]`, `a \| b`) | | left, right |
    | `and`, `or`, `not`, `expref`, `flatten` | | operands |
    | `comparator` | the operator | left, right |
    | `function` | the name | arguments |
    | `list`, `hash` | (`hash`: the names) | values |
    | `projection`, `object_projection` | | left, right |
    | `filter` | | left, right, condition |
    """

    kind: str
    position: Position
    children: tuple[Node, ...] = ()
    value: Any = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression."""

    text: str
    root: Node
    read_differently: bool
    """Whether jmespath.py takes apart otherwise what the JMESPath grammar keeps together.

    It ends the right side of `a.*` at the next dot: of `a.*.b.c` the `.c` is applied to the whole
    list, which gives null. `root` is what the grammar (and Smithy) says.
    """


def parse(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ExpressionSyntaxError: it is no JMESPath expression.
    """
    places = _Places(text)
    try:
        tokens = _tokens(text)
        try:
            tree = jmespath.compile(text).parsed
        except JMESPathError as error:
            raise parser_refusal(tokens, error) from error
        reader = _Reader(tokens, places)
        root = reader.read(tree)
    except Refusal as refusal:
        line, column = places.at(refusal.offset)
        raise ExpressionSyntaxError(
            f"Syntax error at line {line} column {column}: {refusal.text}"
        ) from refusal
    except RecursionError as error:
        raise ExpressionSyntaxError("nested too deeply") from error
    return Expression(text, root, reader.rearranged)


class _Places:
    """Offsets as lines and columns."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def at(self, offset: int) -> Position:
        line = bisect.bisect_right(self._starts, offset)
        before = self._text[self._starts[line - 1] : offset]
        # Smithy counts in UTF-16: what lies beyond the first 65,536 characters takes two columns.
        return Position(line, len(before.encode("utf-16-le", "surrogatepass")) // 2 + 1)


def _tokens(text: str) -> list[Mapping[str, Any]]:
    tokens: list[Mapping[str, Any]] = []
    failure: LexerError | None = None
    with warnings.catch_warnings():
        # Of literals that are no JSON, which are refused below.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        try:
            if text:
                tokens.extend(Lexer().tokenize(text))
            else:
                tokens.append({"type": "eof", "value": "", "start": 0, "end": 0})
        except LexerError as error:
            failure = error
    for token in tokens:
        if token["type"] == "literal" and text[token["start"]] == "`":
            refusal = bad_literal(text, token["start"])
            if refusal is not None:
                raise refusal
    if failure is not None:
        raise lexer_refusal(text, failure) from failure
    return tokens


class _Reader:
    """Walks jmespath's tree in source order and takes each node's tokens as it comes to them."""

    def __init__(self, tokens: Sequence[Mapping[str, Any]], places: _Places) -> None:
        self._tokens = tokens
        self._places = places
        self._grouping = _grouping_parentheses(tokens)
        self._kept = [index for index in range(len(tokens)) if index not in self._grouping]
        self._cursor = 0
        self.rearranged = False

    def read(self, tree: Mapping[str, Any]) -> Node:
        """The node of a tree whose first token is the next one."""
        return getattr(self, f"_{tree['type']}")(tree)  # type: ignore[no-any-return]  # all of them return nodes

    def _peek(self) -> str:
        return str(self._tokens[self._kept[self._cursor]]["type"])

    def _take(self, *types: str) -> int:
        """The index of the next token, which must be of one of these types."""
        index = self._kept[self._cursor]
        assert self._tokens[index]["type"] in types, (self._tokens[index], types)
        self._cursor += 1
        return index

    def _at(self, index: int) -> Position:
        return self._places.at(self._tokens[index]["start"])

    def _next(self) -> int:
        """The index of the token after the one taken last, be it a parenthesis or not."""
        return self._kept[self._cursor - 1] + 1 if self._cursor else 0

    def _here(self) -> Position:
        return self._at(self._next())

    def _refuse(self, text: str) -> Refusal:
        token = self._tokens[self._kept[self._cursor]]
        return Refusal(token["start"], text.format(shown(token)))

    def _field(self, tree: Mapping[str, Any]) -> Node:
        index = self._take("unquoted_identifier", "quoted_identifier")
        return Node("field", self._at(index), value=tree["value"])

    def _literal(self, tree: Mapping[str, Any]) -> Node:
        return Node("literal", self._at(self._take("literal")), value=tree["value"])

    def _current(self, _: Mapping[str, Any]) -> Node:
        return Node("current", self._at(self._take("current")))

    def _identity(self, _: Mapping[str, Any]) -> Node:
        return Node("current", self._here())

    def _function_expression(self, tree: Mapping[str, Any]) -> Node:
        name = self._take("unquoted_identifier")
        self._take("lparen")
        arguments = []
        for child in tree["children"]:
            arguments.append(self.read(child))
            if self._peek() == "comma":
                self._take("comma")
                if self._peek() == "rparen":
                    # jmespath.py takes a comma before the parenthesis, the grammar does not.
                    raise self._refuse("Invalid token after ',': {}")
        self._take("rparen")
        return Node("function", self._at(name), tuple(arguments), tree["value"])

    def _comparator(self, tree: Mapping[str, Any]) -> Node:
        left = self.read(tree["children"][0])
        self._take(*_COMPARATORS)
        position = self._here()
        right = self.read(tree["children"][1])
        return Node("comparator", position, (left, right), _COMPARATORS[tree["value"]])

    def _binary(self, tree: Mapping[str, Any]) -> Node:
        token = _BINARY[tree["type"]]
        left = self.read(tree["children"][0])
        operator = self._take(token)
        right = self.read(tree["children"][1])
        kind = "sub" if token == "pipe" else token  # noqa: S105 - a token of a grammar
        return Node(kind, self._at(operator), (left, right))

    _and_expression = _or_expression = _pipe = _binary

    def _not_expression(self, tree: Mapping[str, Any]) -> Node:
        operator = self._take("not")
        return Node("not", self._at(operator), (self.read(tree["children"][0]),))

    def _expref(self, tree: Mapping[str, Any]) -> Node:
        operator = self._take("expref")
        return Node("expref", self._at(operator), (self.read(tree["children"][0]),))

    def _subexpression(self, tree: Mapping[str, Any]) -> Node:
        node = self.read(tree["children"][0])
        for child in tree["children"][1:]:
            grouped = self._next() in self._grouping
            position = self._at(self._take("dot"))
            node = self._continued(Node("sub", position, (node, self.read(child))), grouped=grouped)
        return node

    def _index_expression(self, tree: Mapping[str, Any]) -> Node:
        first, *indexes = tree["children"]
        node = None if first["type"] == "identity" else self.read(first)
        for index in indexes:
            bracket = self._at(self._take("lbracket"))
            right = self._bracketed(index)
            node = right if node is None else Node("sub", bracket, (node, right))
        assert node is not None
        return node

    def _bracketed(self, tree: Mapping[str, Any]) -> Node:
        position = self._here()
        while self._peek() != "rbracket":
            self._take("number", "colon")
        self._take("rbracket")
        return Node(tree["type"], position, value=tree.get("value"))

    def _flatten(self, tree: Mapping[str, Any]) -> Node:
        left = self.read(tree["children"][0])
        bracket = self._at(self._take("flatten"))
        implicit = tree["children"][0]["type"] == "identity"
        return Node("flatten", bracket if implicit else left.position, (left,))

    def _projection(self, tree: Mapping[str, Any]) -> Node:
        left_tree, right_tree = tree["children"]
        left = self.read(left_tree)
        if left_tree["type"] == "flatten":
            return Node("projection", self._here(), (left, self._right(right_tree)))
        if left_tree["type"] == "index_expression" and (
            left_tree["children"][-1]["type"] == "slice"
        ):
            return self._sliced(left, right_tree)
        self._take("lbracket")
        position = self._here()
        self._take("star")
        self._take("rbracket")
        return Node("projection", position, (left, self._right(right_tree)))

    def _sliced(self, node: Node, right_tree: Mapping[str, Any]) -> Node:
        """A projection of a slice: the slice itself, or the right side of what it is taken of."""
        a_slice = node if node.kind == "slice" else node.children[1]
        projection = Node("projection", a_slice.position, (a_slice, self._right(right_tree)))
        if node.kind == "slice":
            return projection
        return replace(node, children=(node.children[0], projection))

    def _value_projection(self, tree: Mapping[str, Any]) -> Node:
        left_tree, right_tree = tree["children"]
        left = self.read(left_tree)
        grouped = self._next() in self._grouping
        if self._peek() == "dot":
            self._take("dot")
        self._take("star")
        line, column = self._here()
        right = self._right(right_tree)
        node = Node("object_projection", Position(line, column - 1), (left, right))
        return self._continued(node, grouped=grouped)

    def _filter_projection(self, tree: Mapping[str, Any]) -> Node:
        left_tree, right_tree, condition_tree = tree["children"]
        left = self.read(left_tree)
        grouped = self._next() in self._grouping
        self._take("filter")
        condition = self.read(condition_tree)
        self._take("rbracket")
        right = self._right(right_tree)
        node = Node("filter", condition.position, (left, right, condition))
        return self._continued(node, grouped=grouped)

    def _right(self, tree: Mapping[str, Any]) -> Node:
        """The right side of a projection; the dot before it belongs to neither."""
        if tree["type"] != "identity" and self._peek() == "dot":
            self._take("dot")
        return self.read(tree)

    def _continued(self, node: Node, *, grouped: bool) -> Node:
        """The node, or, if it goes on from an object projection, that with the node inside."""
        left, *others = node.children
        if grouped or left.kind != "object_projection":
            return node
        self.rearranged = True
        base, right = left.children
        inner = replace(node, children=(right, *others))
        return replace(left, children=(base, self._continued(inner, grouped=False)))

    def _multi_select_list(self, tree: Mapping[str, Any]) -> Node:
        self._take("lbracket")
        position = self._here()
        values = []
        for child in tree["children"]:
            values.append(self.read(child))
            self._take("comma", "rbracket")
        return Node("list", position, tuple(values))

    def _multi_select_dict(self, tree: Mapping[str, Any]) -> Node:
        self._take("lbrace")
        position = self._here()
        values = []
        for pair in tree["children"]:
            self._take("unquoted_identifier", "quoted_identifier")
            self._take("colon")
            values.append(self.read(pair["children"][0]))
            if self._peek() not in ("comma", "rbrace"):
                # jmespath.py does without the comma, the grammar does not.
                raise self._refuse("Expected [']', ','], but found {}")
            self._take("comma", "rbrace")
        names = tuple(pair["value"] for pair in tree["children"])
        return Node("hash", position, tuple(values), names)


def _grouping_parentheses(tokens: Sequence[Mapping[str, Any]]) -> frozenset[int]:
    """Parentheses that leave no trace in the tree: all but those of calls."""
    grouping: set[int] = set()
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token["type"] == "lparen":
            opened.append(index)
        elif token["type"] == "rparen":
            left = opened.pop()
            if not left or tokens[left - 1]["type"] != "unquoted_identifier":
                grouping |= {left, index}
    return frozenset(grouping)

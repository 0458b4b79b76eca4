"""A JMESPath parser whose nodes have line and column, as Smithy's linter reports them.

jmespath.py's lexer makes the tokens. Its own parser keeps no positions; what it refuses is refused
here as well, since a waiter could not evaluate it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from jmespath.exceptions import JMESPathError
from jmespath.lexer import Lexer
from jmespath.parser import Parser

from ..definitions.parsing import MAX_EXPRESSION_LENGTH, Place, require_expression
from ..exceptions import WaiterDefinitionError

Token = Mapping[str, Any]

_POWER = Parser.BINDING_POWER
_PROJECTION_STOP = 10  # tokens that bind more loosely end a projection
_COMPARATORS = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_IDENTIFIERS = ("unquoted_identifier", "quoted_identifier")
_AFTER_DOT = ("lbracket", "lbrace", "star", *_IDENTIFIERS)
# Token types as messages call them; Smithy has one name for both kinds of identifier.
_NAMES = dict(
    zip(
        ("lbracket", "rbracket", "lbrace", "rbrace", "rparen", "star", "colon", "comma", "number"),
        ("[", "]", "{", "}", ")", "*", ":", ",", "-|0-9"),
        strict=True,
    )
) | dict.fromkeys(_IDENTIFIERS, "A-Z|a-z|_")


class Position(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


class ExpressionSyntaxError(ValueError):
    """An expression that cannot be parsed."""


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
    parsed_differently: bool
    """Whether jmespath.py groups the expression differently from the JMESPath grammar.

    jmespath.py ends the right side of `a.*` at the next dot: it applies the `.c` of `a.*.b.c` to
    the whole list, which gives null. `root` follows the grammar, as Smithy does.
    """


def parse(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ExpressionSyntaxError: the text is no JMESPath expression.
    """
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise ExpressionSyntaxError(f"longer than {MAX_EXPRESSION_LENGTH} characters")
    try:
        parser = _Parser(text)
        root = parser.parse()
        require_expression(text, Place("expression"))
    except RecursionError as error:
        raise ExpressionSyntaxError("nested too deeply") from error
    except WaiterDefinitionError as error:
        raise ExpressionSyntaxError(error.problem) from error
    return Expression(text, root, parser.parsed_differently)


class _Parser:
    """A Pratt parser with jmespath.py's tokens and binding powers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._read_tokens())
        self._index = 0
        self.parsed_differently = False

    def parse(self) -> Node:
        """Parse the whole text."""
        root = self._expression()
        if self._kind != "eof":
            raise self._unexpected("EOF")
        return root

    def _read_tokens(self) -> Iterator[Token]:
        with warnings.catch_warnings():
            # jmespath.py takes a literal that is not JSON for text, and warns.
            warnings.simplefilter("error", PendingDeprecationWarning)
            try:
                for token in Lexer().tokenize(self._text):
                    if token["type"] == "literal":
                        json.dumps(token["value"], allow_nan=False)
                    yield token
            except JMESPathError as error:
                offset = int(getattr(error, "lexer_position", 0))
                raise self._error(offset, getattr(error, "message", str(error))) from error
            except (PendingDeprecationWarning, ValueError) as error:
                raise self._error(0, "a literal in backticks is not JSON") from error

    @property
    def _kind(self) -> str:
        """The type of the next token."""
        return str(self._tokens[self._index]["type"])

    def _here(self) -> Position:
        """The position of the next token."""
        return self._position(self._tokens[self._index]["start"])

    def _position(self, offset: int) -> Position:
        line_start = self._text.rfind("\n", 0, offset) + 1
        return Position(self._text.count("\n", 0, offset) + 1, offset - line_start + 1)

    def _take(self, *kinds: str) -> Token:
        """Consume the next token, which must be of one of these types if any are given."""
        if kinds and self._kind not in kinds:
            raise self._expected(*kinds)
        token = self._tokens[self._index]
        if token["type"] != "eof":
            self._index += 1
        return token

    def _expected(self, *kinds: str) -> ExpressionSyntaxError:
        names = [f"'{name}'" for name in dict.fromkeys(_NAMES[kind] for kind in kinds)]
        return self._unexpected(names[0] if len(names) == 1 else f"[{', '.join(names)}]")

    def _unexpected(self, expected: str) -> ExpressionSyntaxError:
        token = self._tokens[self._index]
        found = "EOF" if token["type"] == "eof" else f"'{token['value']}'"
        return self._error(token["start"], f"Expected {expected}, but found {found}")

    def _error(self, offset: int, problem: str) -> ExpressionSyntaxError:
        line, column = self._position(offset)
        return ExpressionSyntaxError(f"Syntax error at line {line} column {column}: {problem}")

    def _expression(self, power: int = 0) -> Node:
        return self._continued(self._prefix(), power)

    def _continued(self, left: Node, power: int) -> Node:
        """Parse the operators behind an operand that bind more tightly than `power`."""
        while power < _POWER[self._kind]:
            left = self._infix(left)
        return left

    def _prefix(self) -> Node:
        position, kind = self._here(), self._kind
        current = Node("current", position)
        if kind in ("flatten", "filter"):
            return self._infix(current)
        token = self._take()
        match kind:
            case "unquoted_identifier" if self._kind == "lparen":
                return Node("function", position, self._arguments(), token["value"])
            case "unquoted_identifier" | "quoted_identifier" | "literal":
                node = kind if kind == "literal" else "field"
                return Node(node, position, value=token["value"])
            case "current":
                return current
            case "expref" | "not":
                return Node(kind, position, (self._expression(_POWER[kind]),))
            case "lparen":
                inside = self._expression()
                self._take("rparen")
                return inside
            case "star":
                return Node("object_projection", position, (current, self._right_side("star")))
            case "lbracket":
                return self._bracketed(position)
            case "lbrace":
                return self._hash(position)
        self._index -= kind != "eof"
        raise self._unexpected("an expression")

    def _infix(self, left: Node) -> Node:
        position, kind = self._here(), self._kind
        self._take()
        match kind:
            case "dot" if self._kind == "star":
                self._take()
                return self._object_projection(left, position)
            case "dot":
                return Node("sub", position, (left, self._after_dot(_POWER[kind])))
            case "and" | "or" | "pipe":
                operands = (left, self._expression(_POWER[kind]))
                return Node("sub" if kind == "pipe" else kind, position, operands)
            case "lbracket" if self._kind == "star":
                self._take()
                self._take("rbracket")
                return Node("projection", position, (left, self._right_side("star")))
            case "lbracket":
                return Node("sub", position, (left, self._index_or_slice(position)))
            case "flatten":
                flat = Node("flatten", position, (left,))
                return Node("projection", position, (flat, self._right_side(kind)))
            case "filter":
                condition = self._expression()
                self._take("rbracket")
                return Node("filter", position, (left, self._right_side(kind), condition))
        if kind not in _COMPARATORS:
            self._index -= 1
            raise self._unexpected("an operator")
        # Smithy reports a comparator at its right operand.
        position = self._here()
        right = self._expression(_POWER[kind])
        return Node("comparator", position, (left, right), _COMPARATORS[kind])

    def _object_projection(self, left: Node, position: Position) -> Node:
        as_jmespath = self._right_side("dot")
        right = self._continued(as_jmespath, _POWER["star"])
        self.parsed_differently |= right is not as_jmespath
        return Node("object_projection", position, (left, right))

    def _right_side(self, kind: str) -> Node:
        """Parse what a projection applies to each element."""
        if _POWER[self._kind] < _PROJECTION_STOP:
            return Node("current", self._here())
        if self._kind == "dot":
            self._take()
            return self._after_dot(_POWER[kind])
        if self._kind in ("lbracket", "filter"):
            return self._expression(_POWER[kind])
        raise self._unexpected("the end of a projection")

    def _after_dot(self, power: int) -> Node:
        if self._kind not in _AFTER_DOT:
            raise self._expected(*_AFTER_DOT)
        if self._kind != "lbracket":
            return self._expression(power)
        position = self._here()
        self._take()
        return Node("list", position, self._values("rbracket"))

    def _bracketed(self, position: Position) -> Node:
        """Parse what follows a bracket with nothing before it."""
        if self._kind in ("number", "colon"):
            return self._index_or_slice(position)
        if self._kind == "star" and self._tokens[self._index + 1]["type"] == "rbracket":
            self._index += 2
            current = Node("current", position)
            return Node("projection", position, (current, self._right_side("star")))
        return Node("list", position, self._values("rbracket"))

    def _index_or_slice(self, position: Position) -> Node:
        tokens = [self._take("number", "colon")]
        while (token := self._take("number", "colon", "rbracket"))["type"] != "rbracket":
            if token["type"] == tokens[-1]["type"] == "number":
                self._index -= 1
                raise self._expected("colon", "rbracket")
            tokens.append(token)
        colons = [token["type"] for token in tokens].count("colon")
        if not colons:
            return Node("index", position, value=tokens[0]["value"])
        if colons > 2:
            raise self._error(tokens[-1]["start"], "Too many colons in slice expression")
        a_slice = Node("slice", position)
        return Node("projection", position, (a_slice, self._right_side("star")))

    def _arguments(self) -> tuple[Node, ...]:
        self._take()
        if self._kind == "rparen":
            self._take()
            return ()
        return self._values("rparen")

    def _values(self, closing: str) -> tuple[Node, ...]:
        """Parse expressions between commas up to the closing bracket."""
        values = [self._expression()]
        while self._take("comma", closing)["type"] != closing:
            values.append(self._expression())
        return tuple(values)

    def _hash(self, position: Position) -> Node:
        values: dict[str, Node] = {}
        while True:
            name = self._take(*_IDENTIFIERS)["value"]
            self._take("colon")
            values[name] = self._expression()
            if self._take("comma", "rbrace")["type"] == "rbrace":
                return Node("hash", position, tuple(values.values()), tuple(values))

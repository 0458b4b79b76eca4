"""Lark's parse tree of a `.smithy` file as statements. Importing this module requires lark.

The names of shapes, traits and members are lark's tokens, which know their place in the text;
quoted strings are plain strings.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from lark import Token, Transformer, v_args

DOCUMENTATION = "smithy.api#documentation"

_WORDS = {"true": True, "false": False, "null": None}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|\r?\n|.)", re.DOTALL)
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class IdlError(ValueError):
    """The text is not Smithy IDL, or uses a feature that is not supported."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class Trait(NamedTuple):
    """`@name(value)`."""

    name: Token
    value: Any


class Item(NamedTuple):
    """An item of a body: a member, a property or an inline structure."""

    traits: Sequence[Trait]
    key: Token
    value: tuple[Any, ...] = ()
    """The target of a member, the value of a property, an inline structure; empty if not given."""
    assigned: tuple[Any, ...] = ()
    """The value after `=`; empty if not given."""


class ShapeStatement(NamedTuple):
    """A shape. An inline shape has the name of its member."""

    traits: Sequence[Trait]
    kind: Token
    name: Token
    mixins: Sequence[Token]
    items: Sequence[Item]


class Statement(NamedTuple):
    """A statement of another kind: control, metadata, namespace, use or apply."""

    kind: str
    name: Token
    content: Any


def _statement(kind: str) -> Callable[..., Statement]:
    def read(_: Any, traits: Sequence[Trait] | None, name: Token, content: Any = None) -> Any:
        _comments_only(traits)
        return Statement(kind, name, content)

    return read


@v_args(inline=True)
class Reader(Transformer[Token, Any]):
    """Transforms each rule of `smithy.lark` by the method of the same name.

    Raises:
        IdlError: the text is allowed by the grammar but not by Smithy.
    """

    def start(self, *parts: Any) -> list[ShapeStatement | Statement]:
        *statements, trailing = parts
        _comments_only(trailing)
        return [statement for statement in statements if statement is not None]

    control = _statement("control")
    metadata = _statement("metadata")
    namespace = _statement("namespace")
    use = _statement("use")
    apply = _statement("apply")

    def shape(self, traits: Any, kind: Token, name: Token, *rest: Any) -> ShapeStatement:
        # Only elided targets need the resource before the mixins.
        return ShapeStatement(traits or (), kind, name, rest[-2] or (), rest[-1] or ())

    def inline(self, traits: Any, key: Token, inner: Any, *rest: Any) -> Item:
        shape = self.shape(inner, key.update(value="structure"), key, *rest)
        return Item(traits or (), key, (shape,))

    def mixins(self, *names: Token) -> Sequence[Token]:
        return names

    def body(self, *parts: Any) -> list[Item]:
        *items, trailing = parts
        _comments_only(trailing)
        without_duplicates((item.key, item) for item in items)
        return items

    def member(self, traits: Any, key: Token, value: Any, assigned: Any) -> Item:
        return Item(traits or (), key, value or (), assigned or ())

    def elided(self, _: Any, name: Token) -> Item:
        raise IdlError(f"${name}: elided targets are not supported; write the target", name.line)

    def value(self, node: Any) -> tuple[Any]:
        return (node,)

    assigned = arguments = value

    def traits(self, *found: Trait) -> list[Trait]:
        """Return the traits; the comments before the first one are the documentation.

        The trait `documentation` takes precedence. Other comments are ignored.
        """
        comments = list(itertools.takewhile(_is_comment, found))
        traits = [trait for trait in found if not _is_comment(trait)]
        if comments and all(trait.name.rpartition("#")[2] != "documentation" for trait in traits):
            lines = [trait.value[3:].removeprefix(" ").rstrip() for trait in comments]
            traits.append(Trait(comments[0].name, "\n".join(lines)))
        return traits

    def trait(self, name: Token, arguments: Any) -> Trait:
        return Trait(name, arguments[0] if arguments else {})

    def documentation(self, comment: Token) -> Trait:
        return Trait(comment.update(value=DOCUMENTATION), comment)

    def pairs(self, *pairs: tuple[Token, Any]) -> dict[Token, Any]:
        return without_duplicates(pairs)

    object = pairs

    def array(self, *nodes: Any) -> list[Any]:
        return list(nodes)

    def pair(self, key: Token, value: Any) -> tuple[Token, Any]:
        return key, value

    def key(self, token: Token) -> Token:
        if token.type != "STRING" and not token.isidentifier():
            raise IdlError(f"{token} must be quoted here", token.line)
        return token.update("ID", self.string(token) if token.type == "STRING" else None)

    def string(self, token: Token) -> str:
        if token.type == "TEXT_BLOCK":
            return _unquoted(_unindented(token[3:-3].partition("\n")[2]), token.line)
        return _unquoted(token[1:-1], token.line)

    def number(self, token: Token) -> Any:
        try:
            return json.loads(token)
        except ValueError as error:
            # Python limits the number of digits.
            raise IdlError(str(error), token.line) from error

    def word(self, token: Token) -> Any:
        return _WORDS.get(token, token)


def without_duplicates(pairs: Iterable[tuple[Token, Any]]) -> dict[Any, Any]:
    """Return the pairs as a dict.

    Raises:
        IdlError: a name occurs twice.
    """
    found: dict[Any, Any] = {}
    for name, value in pairs:
        if name in found:
            raise IdlError(f"{name} occurs twice", name.line)
        found[name] = value
    return found


def _is_comment(trait: Trait) -> bool:
    return isinstance(trait.value, Token) and trait.value.type == "DOCUMENTATION"


def _comments_only(traits: Sequence[Trait] | None) -> None:
    """Refuse traits that no shape follows; documentation comments are allowed there."""
    for trait in traits or ():
        if trait.name != DOCUMENTATION:
            raise IdlError(f"@{trait.name} applies to nothing", trait.name.line)


def _unquoted(text: str, line: int | None) -> str:
    """Return the content of a quoted string with its escapes replaced."""

    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] == "u" and len(escape) > 1:
            return chr(int(escape[1:], 16))
        if escape[-1] == "\n":
            return ""
        if escape not in _ESCAPED:
            raise IdlError(f"unknown escape \\{escape}", line)
        return _ESCAPED[escape]

    plain = _ESCAPE.sub(character, text)
    try:
        # A character beyond U+FFFF is written as two escapes.
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise IdlError("incomplete surrogate pair", line) from None


def _unindented(text: str) -> str:
    """Return a text block, from its second line on, without the indentation of all lines."""
    lines = text.replace("\r\n", "\n").split("\n")
    counted = [line for line in lines[:-1] if line.strip()] + lines[-1:]
    indentation = min(len(line) - len(line.lstrip(" ")) for line in counted)
    return "\n".join(line[indentation:].rstrip(" \t") for line in lines)

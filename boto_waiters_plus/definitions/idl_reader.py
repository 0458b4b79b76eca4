"""Lark's parse tree of a `.smithy` file as statements. Importing this module requires lark."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from lark import Token, Transformer, v_args

from .idl_statements import (
    Apply,
    IdlError,
    Item,
    Name,
    Shape,
    Statements,
    Trait,
    unindented,
    unquoted,
)

_WORDS = {"true": True, "false": False, "null": None}

Traits = Sequence[Trait] | None


@v_args(inline=True)
class Reader(Transformer[Token, Any]):
    """Transforms each rule of `smithy.lark` by the method of the same name.

    Raises:
        IdlError: the text is allowed by the grammar but not by Smithy.
    """

    def start(self, *parts: Any) -> Statements:
        statements = Statements()
        for part in parts:
            match part:
                case ("control", Name() as name, value):
                    _add(statements.controls, name, value)
                case ("metadata", Name() as name, value):
                    _add(statements.metadata, name, value)
                case ("namespace", Name() as name):
                    statements.namespace = name
                case ("use", Name() as name):
                    statements.uses.append(name)
                case Shape():
                    statements.shapes.append(part)
                case Apply():
                    statements.applied.append(part)
        _comments_only(parts[-1])
        return statements

    def control(self, traits: Traits, name: Token, value: Any) -> Any:
        _comments_only(traits)
        return "control", _name(name), value

    def metadata(self, traits: Traits, name: Name, value: Any) -> Any:
        _comments_only(traits)
        return "metadata", name, value

    def namespace(self, traits: Traits, name: Token) -> Any:
        _comments_only(traits)
        return "namespace", _name(name)

    def use(self, traits: Traits, name: Token) -> Any:
        _comments_only(traits)
        return "use", _name(name)

    def shape(
        self, traits: Traits, kind: Token, name: Token, _: None, mixins: Any, items: Any
    ) -> Shape:
        return Shape(
            kind=_name(kind),
            name=_name(name),
            traits=traits or (),
            mixins=mixins or (),
            items=items,
        )

    def apply(self, traits: Traits, target: Token, trait: Trait) -> Apply:
        _comments_only(traits)
        return Apply(_name(target), [trait])

    def apply_block(self, outer: Traits, target: Token, traits: Sequence[Trait]) -> Apply:
        _comments_only(outer)
        return Apply(_name(target), traits)

    def resource(self, _: Token) -> None:
        """Ignore the resource, which matters only for elided targets."""

    def mixins(self, *names: Token) -> list[Name]:
        return [_name(name) for name in names]

    def body(self, *parts: Any) -> list[Item]:
        *items, trailing = parts
        _comments_only(trailing)
        found: dict[str, Any] = {}
        for item in items:
            _add(found, item.key, item)
        return items

    def member(self, traits: Traits, key: Name, value: Any, assigned: Any) -> Item:
        has = [name for name, part in (("value", value), ("assigned", assigned)) if part]
        return Item(
            traits=traits or (),
            key=key,
            value=value[0] if value else None,
            assigned=assigned[0] if assigned else None,
            has=frozenset(has),
        )

    def inline(
        self, traits: Traits, key: Name, inner: Traits, _: None, mixins: Any, items: Any
    ) -> Item:
        kind = Name("structure", key.line)
        shape = Shape(kind=kind, name=key, traits=inner or (), mixins=mixins or (), items=items)
        return Item(traits=traits or (), key=key, value=shape, has=frozenset({"value"}))

    def elided(self, _: Traits, name: Token) -> Item:
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
        return Trait(_name(name), arguments[0] if arguments else {})

    def documentation(self, comment: Token) -> Trait:
        name = Name("smithy.api#documentation", comment.line or 0, comment.start_pos or 0)
        return Trait(name, comment)

    def pairs(self, *pairs: tuple[Name, Any]) -> dict[Name, Any]:
        found: dict[Name, Any] = {}
        for key, value in pairs:
            _add(found, key, value)
        return found

    object = pairs

    def array(self, *nodes: Any) -> list[Any]:
        return list(nodes)

    def pair(self, key: Name, value: Any) -> tuple[Name, Any]:
        return key, value

    def key(self, token: Token) -> Name:
        if token.type == "STRING":
            return Name(_text(token), token.line or 0, token.start_pos or 0)
        if not token.isidentifier():
            raise IdlError(f"{token} must be quoted here", token.line)
        return _name(token)

    def string(self, token: Token) -> str:
        return _text(token)

    def number(self, token: Token) -> Any:
        try:
            return json.loads(token)
        except ValueError as error:
            # Python limits the number of digits.
            raise IdlError(str(error), token.line) from error

    def word(self, token: Token) -> Any:
        return _WORDS[token] if token in _WORDS else _name(token)


def _is_comment(trait: Trait) -> bool:
    return isinstance(trait.value, Token)


def _name(token: Token) -> Name:
    return Name(str(token), token.line or 0, token.start_pos or 0)


def _text(token: Token) -> str:
    line = token.line or 0
    if token.type == "TEXT_BLOCK":
        return unquoted(unindented(token[3:-3].partition("\n")[2]), line)
    return unquoted(token[1:-1], line)


def _add(found: dict[Any, Any], name: Name, value: Any) -> None:
    if name in found:
        raise IdlError(f"{name} occurs twice", name.line)
    found[name] = value


def _comments_only(traits: Traits) -> None:
    """Refuse traits that no shape follows; documentation comments are allowed there."""
    for trait in traits or ():
        if trait.name != "smithy.api#documentation":
            raise IdlError(f"@{trait.name} applies to nothing", trait.name.line)

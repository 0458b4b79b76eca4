"""The statements of a `.smithy` file, before names are resolved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|\r?\n|.)", re.DOTALL)
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class IdlError(ValueError):
    """The text is not Smithy IDL, or uses a feature that is not supported.

    Args:
        problem: what is wrong.
        line: the line, starting at 1, if it is known.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class Name(str):
    """A key, or an unquoted shape id, absolute or relative, with its position."""

    __slots__ = ("line", "offset")
    line: int
    offset: int

    def __new__(cls, text: str, line: int, offset: int = 0) -> Self:
        name = super().__new__(cls, text)
        name.line = line
        name.offset = offset
        return name


@dataclass(frozen=True, slots=True)
class Trait:
    """`@name(value)`."""

    name: Name
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of a body: a member, a property or an inline structure."""

    traits: Sequence[Trait]
    key: Name
    value: Any = None
    """The target of a member, the value of a property, an inline structure."""
    assigned: Any = None
    """The value after `=`."""
    has: frozenset[str] = frozenset()
    """Which of `value` and `assigned` are given; null is a value too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A shape. An inline shape has the name of its member."""

    kind: Name
    name: Name
    traits: Sequence[Trait]
    mixins: Sequence[Name]
    items: Sequence[Item] | None


@dataclass(frozen=True, slots=True)
class Apply:
    """`apply target @trait`."""

    target: Name
    traits: Sequence[Trait]


@dataclass(slots=True)
class Statements:
    """The statements of a file."""

    controls: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    namespace: Name | None = None
    uses: list[Name] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    applied: list[Apply] = field(default_factory=list)


def unquoted(text: str, line: int) -> str:
    """Return the content of a quoted string with its escapes replaced.

    Raises:
        IdlError: the text has an unknown escape.
    """

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


def unindented(text: str) -> str:
    """Return the content of a text block without the indentation common to its lines.

    Args:
        text: the text between the line of the opening quotes and the closing quotes.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    counted = [line for line in lines[:-1] if line.strip()] + lines[-1:]
    indentation = min(len(line) - len(line.lstrip(" ")) for line in counted)
    return "\n".join(line[indentation:].rstrip(" \t") for line in lines)

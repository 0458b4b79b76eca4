"""The errors of arguments that are wrong, whose messages are kept in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


Parts = Sequence[str]
"""A message, or what follows in it; a plain string will do."""


class Keyword(str):
    """The name of an argument as a part of a message, which the command spells in its own way.

    Attributes:
        name: the argument, where the text says more of it: `until_state[0]`, `max_wait=60`.
        value: what to give it, where the message advises that.
    """

    __slots__ = ("name", "value")
    name: str
    value: Any

    def __new__(cls, text: str, name: str = "", value: Any = None) -> Self:
        """Return the text, with these facts."""
        keyword = super().__new__(cls, text)
        # The name may be a `Keyword` itself: the name of an item as a check was given it.
        keyword.name = name or getattr(text, "name", text)
        keyword.value = value
        return keyword


class PythonOnly(str):
    """A part of a message that is about Python alone: the command leaves it out."""

    __slots__ = ()


class WrongArgumentError(Exception):
    """An argument is wrong; base of two classes that Python's own handlers catch.

    Attributes:
        parts: the message in parts; a `Keyword` among them is an argument.
        argument: the name of the argument that is wrong; by default the first of the message.
        value: what was given for it; None where that may hold a secret: a URL, parameters, the
            value of a name that does not exist.
    """

    def __init__(self, *parts: str, argument: str = "", value: Any = None) -> None:
        super().__init__("".join(parts))
        names = (part.name for part in parts if isinstance(part, Keyword))
        self.parts = parts
        self.argument = argument or next(names, "")
        self.value = value

    @classmethod
    def of(cls, name: str, value: Any, *problem: str) -> Self:
        """Return the error whose message begins with the name of the argument."""
        return cls(Keyword(name), *problem, value=value)

    def __reduce__(self) -> tuple[Any, ...]:
        # Of locks, functions and the like, which cannot be pickled, the error can do without.
        value = self.value if isinstance(self.value, (str, int, float)) else None
        return type(self), self.args, {**self.__dict__, "value": value}


class WrongTypeError(WrongArgumentError, TypeError):
    """An argument is of the wrong type, or does not exist."""


class WrongValueError(WrongArgumentError, ValueError):
    """An argument is of the right type, but its value is not allowed."""


def wrong_type(name: str, value: Any, expected: str) -> WrongTypeError:
    """Return the error of an argument that is not of an expected type."""
    return WrongTypeError.of(name, value, f" must be {expected}, not {type(value).__name__}")


def wrong_value(name: str, value: Any, expected: str) -> WrongValueError:
    """Return the error of an argument that is none of the expected values."""
    return WrongValueError.of(name, value, f" must be {expected}, not {value!r}")

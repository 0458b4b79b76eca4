"""Signatures that are written once, for a function and its awaited twin.

Alone, because `arguments` is part of what `install` loads.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_VARIABLE: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_BY_NAME: Final = (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)


def signature_of(prepare: Callable[P, object]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Decorate a function of `*arguments` and `**keywords` that gives them to another one."""

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        # Python names it where an argument is missing; in both twins it is the blocking one.
        prepare.__qualname__ = function.__name__.removesuffix("_async")
        return cast("Callable[P, R]", shown_with(prepare)(function))

    return decorate


def shown_with(other: Callable[..., object]) -> Callable[[FunctionT], FunctionT]:
    """Decorate a function whose `*arguments` or `**options` are those of another one.

    `help` shows what the other takes in their place; a type checker sees what is written.
    """

    def decorate(function: FunctionT) -> FunctionT:
        own: Any = signature(function)
        shown = [each for each in own.parameters.values() if each.kind not in _VARIABLE]
        of_other = signature(other).parameters.values()
        shown += [each for each in of_other if not shown or each.kind in _BY_NAME]
        described: Any = function
        described.__signature__ = own.replace(parameters=shown)
        described.__annotations__ = {each.name: each.annotation for each in shown}
        described.__annotations__["return"] = own.return_annotation
        return function

    return decorate

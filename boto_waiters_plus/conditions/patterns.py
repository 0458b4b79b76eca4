"""Patterns of values, and the cases of a wait that are made of them."""

from __future__ import annotations

import enum
import inspect
import os.path
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from types import EllipsisType, UnionType
from typing import Any, Final, NewType, TypeVar, Union, get_origin

from ..common.wrong_arguments import WrongTypeError, WrongValueError, wrong_type
from ..engine.acceptors import AcceptorState
from ..engine.redaction import cut, shown


@dataclass(frozen=True, slots=True)
class Pattern:
    """A test of a value, and the pattern in words."""

    matches: Callable[[Any], bool]
    text: str


_TYPES: Final = (type, NewType, TypeVar)


def like(of: type | None = None, /, **attributes: Any) -> Pattern:
    """Return a pattern for objects by some of their attributes: `like(User, confirmed=True)`.

    Args:
        of: the type; default: any.
        attributes: patterns by attribute; an object that lacks one does not match.
    """
    if of is not None and not isinstance(of, type):
        raise TypeError(f"like() takes a type, not {of!r}")
    if of is not None:
        _refuse_uncheckable(of)
    return _object_pattern(of, attributes)


_MISSING: Final = object()

TRUTHY: Final = Pattern(bool, "a true value")


def compile_pattern(pattern: Any) -> Pattern:
    """Return the test that a pattern stands for.

    As in a `match` statement, mappings and objects may have more parts than the pattern names,
    sequences may not; a list or tuple of patterns matches any sequence but a string or bytes; and
    True, False and None match only themselves. `...` matches anything.

    Raises:
        TypeError: a type that cannot be checked at run time, a coroutine function, or a case.
    """
    match pattern:
        case Pattern():
            return pattern
        case Case():
            raise TypeError("a case is no pattern: use wait_for_case, or the pattern of the case")
        case EllipsisType():
            return Pattern(lambda _: True, "anything")
        case True | False | None:
            return Pattern(lambda value: value is pattern, str(pattern))
        case _ if pattern is Any or isinstance(pattern, _TYPES) or get_origin(pattern):
            return _type_pattern(pattern)
        case Mapping():
            return _mapping_pattern(pattern)
        case list() | tuple():
            return _sequence_pattern(pattern)
        case _ if is_dataclass(pattern):
            compared = [field.name for field in fields(pattern) if field.compare]
            return _object_pattern(type(pattern), {n: getattr(pattern, n) for n in compared})
        case _ if callable(pattern):
            return _predicate_pattern(pattern)
        case _:
            return Pattern(
                lambda value: bool(value == pattern) or _is_decimal_of(value, pattern),
                in_words(pattern) or f"a particular {type(pattern).__name__} value",
            )


def none_of(pattern: Pattern) -> Pattern:
    """Return the pattern that matches what this one does not."""
    return Pattern(lambda value: not pattern.matches(value), f"not {pattern.text}")


def in_words(value: Any) -> str | None:
    """Return a value in words; None if it is not safe to show."""
    match value:
        case None | Decimal() | enum.Enum():
            return str(value)
        case str():
            return cut(repr(value))
        case _:
            return shown(value)


def name_of(function: Any) -> str:
    """Return the name of a callable in messages; of a lambda, the file and line."""
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return type(function).__qualname__
    code = getattr(function, "__code__", None)
    name = name.rpartition("<locals>.")[2]
    # botocore names the methods of clients by `__name__` only.
    own = getattr(function, "__name__", name)
    if not name.endswith(own):
        return str(own)
    if code is None or not name.endswith("<lambda>"):
        return name
    return f"lambda in {os.path.basename(code.co_filename)}:{code.co_firstlineno}"  # noqa: PTH119 - no path is opened


def _predicate_pattern(predicate: Any) -> Pattern:
    if any(map(inspect.iscoroutinefunction, (predicate, predicate.__call__))):
        raise TypeError("a predicate must be a plain function, not a coroutine function")

    def matches(value: Any) -> bool:
        result = predicate(value)
        if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                # Closed here, or Python would warn that it was never awaited.
                result.close()
            raise TypeError("a predicate must be a plain function, but this one has to be awaited")
        return bool(result)

    return Pattern(matches, name_of(predicate))


def _type_pattern(pattern: Any) -> Pattern:
    if isinstance(pattern, NewType):
        base = name_of(pattern.__supertype__)
        raise TypeError(f"{pattern} cannot be checked at run time: use {base}")
    origin = get_origin(pattern)
    # `list[int]` is callable: as a predicate it would match anything.
    if origin is not None and origin not in (Union, UnionType):
        raise TypeError(f"{pattern} cannot be checked at run time")
    _refuse_uncheckable(pattern)
    name = pattern.__name__ if origin is None else str(pattern)
    return Pattern(lambda value: isinstance(value, pattern), name)


def _refuse_uncheckable(pattern: Any) -> None:
    try:
        isinstance(_MISSING, pattern)
    except TypeError as error:
        raise TypeError(f"{pattern} cannot be checked at run time: {error}") from None


def _is_decimal_of(value: Any, number: Any) -> bool:
    """Return whether a decimal is written as this float: `Decimal("0.1") != 0.1` in Python."""
    if not (isinstance(value, Decimal) and isinstance(number, float)):
        return False
    return value == Decimal(repr(number))


def _object_pattern(of: type | None, attributes: Mapping[str, Any]) -> Pattern:
    parts = {name: compile_pattern(part) for name, part in attributes.items()}

    def matches(value: Any) -> bool:
        if of is not None and not isinstance(value, of):
            return False
        for name, part in parts.items():
            attribute = getattr(value, name, _MISSING)
            if attribute is _MISSING or not part.matches(attribute):
                return False
        return True

    inner = ", ".join(f"{name}={part.text}" for name, part in parts.items())
    return Pattern(matches, cut(f"{of.__name__ if of else 'object'}({inner})"))


def _mapping_pattern(pattern: Mapping[Any, Any]) -> Pattern:
    parts = {key: compile_pattern(part) for key, part in pattern.items()}

    def matches(value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        return all(key in value and part.matches(value[key]) for key, part in parts.items())

    inner = ", ".join(f"{key!r}: {part.text}" for key, part in parts.items())
    return Pattern(matches, cut(f"{{{inner}}}"))


def _sequence_pattern(pattern: Sequence[Any]) -> Pattern:
    parts = [compile_pattern(part) for part in pattern]

    def matches(value: Any) -> bool:
        match value:
            # The statement itself decides what a sequence is.
            case [*_] if len(value) == len(parts):
                return all(part.matches(item) for part, item in zip(parts, value, strict=True))
        return False

    return Pattern(matches, cut(f"({', '.join(part.text for part in parts)})"))


# --- the cases of a wait: which values end it with success or failure, and which are retried

Handler = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern, the state that it leads to, and the handler of values that match it."""

    state: AcceptorState
    pattern: Pattern
    handler: Handler | None

    @property
    def text(self) -> str:
        """The case in words."""
        return f"{self.state.value} when {self.pattern.text}"


def success(pattern: Any, handler: Handler | None = None, /) -> Case:
    """Return a case that ends the wait with success.

    Args:
        pattern: see `wait_for_match`.
        handler: called with the value; the form returns its result. Without a handler the form
            returns the value.
    """
    return _case(AcceptorState.SUCCESS, pattern, handler)


def failure(pattern: Any, handler: Handler | None = None, /) -> Case:
    """Return a case that ends the wait with failure: `failure("FAILED", JobFailed)`.

    Args:
        pattern: see `wait_for_match`.
        handler: called with the value; an exception that it returns is raised, any other result
            is returned by the form. Without a handler the form raises `WaiterFailedError`.
    """
    return _case(AcceptorState.FAILURE, pattern, handler)


def retry(pattern: Any, handler: Handler | None = None, /) -> Case:
    """Return a case after which the wait goes on; later cases are not tried.

    Args:
        pattern: see `wait_for_match`.
        handler: called with the value after each attempt that matches.
    """
    return _case(AcceptorState.RETRY, pattern, handler)


def checked_cases(name: str, cases: object) -> tuple[Case, ...]:
    """Return cases that were given as one case or a sequence of them.

    Raises:
        TypeError: neither.
        ValueError: an empty sequence.
    """
    if isinstance(cases, Case):
        return (cases,)
    if not isinstance(cases, Sequence) or isinstance(cases, str):
        raise wrong_type(name, cases, "a list of cases")
    for case in cases:
        if not isinstance(case, Case):
            made = f": make each with success(), failure() or retry(), not {type(case).__name__}"
            raise WrongTypeError.of(name, case, made)
    if not cases:
        raise WrongValueError.of(name, cases, " must not be empty")
    return tuple(cases)


def _case(state: AcceptorState, pattern: Any, handler: Handler | None) -> Case:
    if handler is not None and not callable(handler):
        raise TypeError(f"the handler must be a function, not {type(handler).__name__}")
    return Case(state, compile_pattern(pattern), handler)

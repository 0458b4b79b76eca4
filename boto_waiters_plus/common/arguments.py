"""Checks of arguments, and the words for those that are wrong."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar

from .wrong_arguments import Keyword, Parts, WrongTypeError, WrongValueError, wrong_type

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")


def seconds(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a number of seconds as int or float; whole numbers stay whole.

    Args:
        name: the argument, for messages.
        value: a number, or a `timedelta`.
        zero: whether 0 is allowed.

    Raises:
        TypeError: not a number.
        ValueError: not finite, negative, or 0 where that makes no sense.
    """
    kind = type(value)
    if (kind is int or kind is float) and 0 < value <= sys.float_info.max:
        exact: float = value
        return exact
    exact = time_bound(name, value)
    if exact < 0 or (exact == 0 and not zero):
        problem = f" must be {'at least' if zero else 'greater than'} 0, not {exact}"
        raise WrongValueError.of(name, value, problem)
    return exact


def seconds_or_zero(name: str, value: Any) -> float:
    """Return a number of seconds that may be 0; see `seconds`."""
    return seconds(name, value, zero=True)


def time_bound(name: str, value: Any) -> float:
    """Return a time bound in seconds, as int or float; 0 or less: the time is over already.

    Raises:
        TypeError: neither a number nor a `timedelta`.
        ValueError: not finite.
    """
    kind = type(value)
    if (kind is int or kind is float) and abs(value) <= sys.float_info.max:
        exact: float = value
        return exact
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, Decimal)):
        raise wrong_type(name, value, "seconds or a timedelta")
    if not (value.is_finite() if isinstance(value, Decimal) else _is_finite(value)):
        raise WrongValueError.of(name, value, f" must be finite, not {value}")
    return _as_float(value)


def count(name: str, value: Any) -> int:
    """Return a whole number of at least 1.

    Raises:
        TypeError: not a whole number.
        ValueError: less than 1.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, value, "a whole number")
    if value < 1:
        raise WrongValueError.of(name, value, f" must be at least 1, not {value}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Return a boolean.

    Raises:
        TypeError: not a boolean.
    """
    if not isinstance(value, bool):
        raise wrong_type(name, value, "True or False")
    return value


def callback(name: str, value: Any) -> Any:
    """Return a plain function.

    Raises:
        TypeError: not callable, or a coroutine function.
    """
    if not callable(value):
        raise wrong_type(name, value, "a function")
    if iscoroutinefunction(value):
        problem = " must be a plain function: it is called between two attempts"
        raise WrongTypeError.of(name, value, problem)
    return value


def with_methods(name: str, value: Any, *methods: str) -> Any:
    """Return an object that has these methods.

    Raises:
        TypeError: a method is missing.
    """
    if not all(callable(getattr(value, method, None)) for method in methods):
        problem = f" must have the methods {', '.join(methods)} (as threading.Event has)"
        raise WrongTypeError.of(name, value, problem)
    return value


def text(name: str, value: Any) -> str:
    """Return a string that is not empty.

    Raises:
        TypeError: not a string.
        ValueError: empty.
    """
    if not isinstance(value, str):
        raise wrong_type(name, value, "a string")
    if not value:
        raise WrongValueError.of(name, value, " is empty")
    return value


def texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Return the distinct strings of a list.

    Raises:
        TypeError: a single string, or another thing in the list.
        ValueError: an empty string.
    """
    if isinstance(values, str):
        raise WrongTypeError.of(name, values, f" must be a list of strings; write [{values!r}]")
    if not isinstance(values, Iterable):
        raise wrong_type(name, values, "a list of strings")
    found = (text(Keyword(f"{name}[{index}]", name), value) for index, value in enumerate(values))
    return tuple(dict.fromkeys(found))


def check_order(min_delay: Any, max_delay: Any) -> None:
    """Refuse a `min_delay` that is more than the `max_delay`.

    Raises:
        ValueError: it is.
    """
    if min_delay > max_delay:
        rest = f" ({min_delay}) is more than ", Keyword("max_delay"), f" ({max_delay})"
        raise WrongValueError.of("min_delay", min_delay, *rest)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one; None if none is like it."""
    import difflib  # noqa: PLC0415 - only where a name is wrong

    found = difflib.get_close_matches(name, list(known), n=1)
    return found[0] if found else None


def unknown(name: object, known: Iterable[str], what: str) -> str:
    """Return a message about a name that does not exist, with the nearest that does."""
    near = nearest(str(name), known)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"unknown {what} {name!r}{hint}"


def unknown_option(name: str, known: Iterable[str], taker: str = "") -> WrongTypeError:
    """Return the error of an option that does not exist; `taker` is what was given it."""
    problem = unknown(name, known, "option")
    return WrongTypeError(f"{taker}: {problem}" if taker else problem, argument=name)


def _is_finite(value: numbers.Real) -> bool:
    if isinstance(value, numbers.Integral):
        return True
    try:
        return math.isfinite(value)
    except OverflowError:  # a Fraction of more than any float, and no less finite
        return True


def _as_float(value: Any) -> float:
    """Return the number as int or float, cut to the largest float."""
    exact: Any = int(value) if isinstance(value, numbers.Integral) else value
    try:
        as_float = float(exact)
    except OverflowError:
        as_float = math.inf
    # Decimal answers a number that is too large with inf.
    if not math.isfinite(as_float):
        return sys.float_info.max if exact > 0 else -sys.float_info.max
    return exact if isinstance(exact, int) else as_float


def refuse_wrong_names(function: str, names: Iterable[str], right: Mapping[str, Parts]) -> None:
    """Refuse arguments under the names that they have in other libraries.

    Args:
        function: its name in the message.
        names: the names that were given.
        right: what is to be given, by wrong name.

    Raises:
        TypeError: one of them is given; the message has the right name.
    """
    for name in names:
        if name in right:
            meant = "".join(right[name])
            raise WrongTypeError(f"{function} takes {meant} instead of {name}", argument=name)


def answers_other_names(
    right: Mapping[str, Parts], name: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function without `**keywords` so that it refuses other names; see above."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*arguments: P.args, **keywords: P.kwargs) -> R:
            refuse_wrong_names(name, keywords, right)
            return function(*arguments, **keywords)

        return checked

    return decorate

"""The cases of a wait: which values end it with success or failure, and which are retried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..engine.acceptors import AcceptorState
from .patterns import NoPattern, Pattern, compile_pattern

Handler = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Case(NoPattern):
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
        raise TypeError(f"{name} must be a list of cases, not {type(cases).__name__}")
    for case in cases:
        if not isinstance(case, Case):
            raise TypeError(
                f"{name}: make each with success(), failure() or retry(), not {type(case).__name__}"
            )
    if not cases:
        raise ValueError(f"{name} must not be empty")
    return tuple(cases)


def _case(state: AcceptorState, pattern: Any, handler: Handler | None) -> Case:
    if handler is not None and not callable(handler):
        raise TypeError(f"the handler must be a function, not {type(handler).__name__}")
    return Case(state, compile_pattern(pattern), handler)

"""The cases of a wait: what value it succeeds on, fails on, or waits through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..engine.model import AcceptorState
from .patterns import Pattern, compile_pattern

Handler = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern, the state it leads to, and what is done with the value then."""

    state: AcceptorState
    pattern: Pattern
    handler: Handler | None

    @property
    def text(self) -> str:
        """The case in words."""
        return f"{self.state.value} when {self.pattern.text}"


def success(pattern: Any, handler: Handler | None = None, /) -> Case:
    """The wait ends well on a value that matches.

    Args:
        pattern: see `wait_for_match`.
        handler: called with the value; the form returns what it returns, else the value itself.
    """
    return _case(AcceptorState.SUCCESS, pattern, handler)


def failure(pattern: Any, handler: Handler | None = None, /) -> Case:
    """The wait ends on a value that matches: `failure("FAILED", JobFailed)`.

    Args:
        pattern: see `wait_for_match`.
        handler: called with the value; an exception that it returns is raised, anything else is
            what the form returns. Without one the form raises `WaiterFailedError`.
    """
    return _case(AcceptorState.FAILURE, pattern, handler)


def retry(pattern: Any, handler: Handler | None = None, /) -> Case:
    """The wait goes on after a value that matches, whatever the cases behind this one say.

    Args:
        pattern: see `wait_for_match`.
        handler: called with the value after each such look.
    """
    return _case(AcceptorState.RETRY, pattern, handler)


def checked_cases(name: str, cases: object) -> tuple[Case, ...]:
    """Cases as they were given.

    Raises:
        TypeError: not a sequence of cases.
        ValueError: none at all.
    """
    if isinstance(cases, Case):
        cases = (cases,)
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

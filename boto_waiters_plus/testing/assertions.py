"""Assertions that wait: a value becomes right, never becomes wrong, or stays right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..conditions.calls import refuse_coroutine_function
from ..conditions.condition import Condition, run, run_async
from ..conditions.form_options import BoundedOptions
from ..conditions.patterns import TRUTHY, Pattern, compile_pattern, name_of, none_of, success
from ..engine.redaction import cut
from .condition_source import plain_variables, source_of
from .value_history import ValueHistory, short

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NO_VALUE: Final = object()
"""The result of a wait that no value ended."""


def assert_eventually(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> Any:
    """Fail unless a callable returns a value that matches, within `max_wait`.

    Args:
        call: called without arguments; an exception that it raises passes unchanged, unless
            `retry_on` names it or it is a transient error of botocore (see `retry_transient`).
        pattern: see `conditions.wait_for_match`; default: any true value.
        options: `max_wait` (seconds or a `timedelta`; 0 for a single attempt; may be left out
            inside a `deadline`), and fields of `conditions.ConditionOptions`.

    Returns:
        The value.

    Raises:
        AssertionError: no value matched; the message shows the last value and those before it.
        TypeError, ValueError: a bad argument, before the first call.
    """
    __tracebackhide__ = True
    return _Assertion(_EVENTUALLY, call, pattern, options).run()


async def assert_eventually_async(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> Any:
    """Run `assert_eventually` as part of the calling task; the callable may be awaited."""
    __tracebackhide__ = True
    return await _Assertion(_EVENTUALLY, call, pattern, options, asynchronous=True).run_async()


def refute_eventually(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Fail as soon as a callable returns a value that matches, within `max_wait`.

    The last attempt is made at the end of `max_wait`, and its value counts, however late.

    Args:
        call, pattern, options: see `assert_eventually`; not `last_attempt`.

    Raises:
        AssertionError: a value matched, an attempt did not end (one that is awaited, or made in
            a thread, may last as long as `max_wait`), or there was no time for an attempt.
        TypeError, ValueError: a bad argument, before the first call.
    """
    __tracebackhide__ = True
    _Assertion(_NEVER, call, pattern, options).run()


async def refute_eventually_async(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Run `refute_eventually` as part of the calling task; the callable may be awaited."""
    __tracebackhide__ = True
    await _Assertion(_NEVER, call, pattern, options, asynchronous=True).run_async()


def assert_always(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Fail as soon as a callable returns a value that does not match, within `max_wait`.

    The last attempt is made at the end of `max_wait`, and its value counts, however late.

    Args:
        call, pattern, options: see `assert_eventually`; not `last_attempt`.

    Raises:
        AssertionError: a value did not match, an attempt did not end (one that is awaited, or
            made in a thread, may last as long as `max_wait`), or there was no time for an attempt.
        TypeError, ValueError: a bad argument, before the first call.
    """
    __tracebackhide__ = True
    _Assertion(_ALWAYS, call, pattern, options).run()


async def assert_always_async(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Run `assert_always` as part of the calling task; the callable may be awaited."""
    __tracebackhide__ = True
    await _Assertion(_ALWAYS, call, pattern, options, asynchronous=True).run_async()


class _Kind(NamedTuple):
    """One of the three assertions, and what it expects, in words."""

    name: str
    expectation: str


_EVENTUALLY: Final = _Kind("assert_eventually", "expected {pattern} within {time}")
_NEVER: Final = _Kind("refute_eventually", "expected at no attempt for {time}: {pattern}")
_ALWAYS: Final = _Kind("assert_always", "expected at every attempt for {time}: {pattern}")


class _Assertion:
    """One assertion: its wait and the values of its attempts."""

    def __init__(
        self,
        kind: _Kind,
        call: Callable[[], Any],
        pattern: Any,
        options: BoundedOptions,
        *,
        asynchronous: bool = False,
    ) -> None:
        if not callable(call):
            raise TypeError(f"{kind.name} takes something to call, not {type(call).__name__}")
        if not asynchronous:
            refuse_coroutine_function("the callable", call, f"{kind.name}_async")
        given: dict[str, Any] = dict(options)
        if kind is not _EVENTUALLY and given.get("last_attempt") is not None:
            raise TypeError(
                f"{kind.name} makes its last attempt at the end: leave out last_attempt"
            )
        max_wait = given.pop("max_wait", None)
        self._kind = kind
        self._call = call
        self._pattern = compile_pattern(pattern)
        self._given_pattern = pattern
        self._history = history = ValueHistory()
        self._condition = Condition(
            kind.name,
            history.recording_async(call) if asynchronous else history.recording(call),
            [success(none_of(self._pattern) if kind is _ALWAYS else self._pattern)],
            max_wait=max_wait,
            else_=lambda _: _NO_VALUE,
            options=given,
            name=name_of(call),
            covers_end=kind is not _EVENTUALLY,
        )

    def run(self) -> Any:
        """Wait and return the value that was expected, or fail."""
        __tracebackhide__ = True
        return self._checked(run(self._condition))

    async def run_async(self) -> Any:
        """Wait as part of the calling task and return the value that was expected, or fail."""
        __tracebackhide__ = True
        return self._checked(await run_async(self._condition))

    def _checked(self, value: Any) -> Any:
        """Return the value that ended the wait, or fail."""
        __tracebackhide__ = True
        if self._kind is _EVENTUALLY:
            if value is _NO_VALUE:
                raise AssertionError(self._text()) from self._history.error
            return value
        if value is not _NO_VALUE or not self._history.attempts:
            raise AssertionError(self._text())
        if self._condition.wait_run.attempts > self._history.attempts:
            raise AssertionError(f"{self._text()}\nthe last attempt did not end")
        return None

    def _text(self) -> str:
        max_wait = self._condition.wait_run.policy.max_wait or 0.0
        expectation = self._kind.expectation.format(
            pattern=_described(self._given_pattern, self._pattern),
            time=f"{max(0.0, max_wait):.4g} s",
        )
        return f"{expectation}\n{_origin(self._call)}\n{self._history}"


def _described(given: Any, pattern: Pattern) -> str:
    """Return a pattern in words; of a predicate its source, if that is an expression."""
    source = source_of(given)
    return pattern.text if source is None or "\n" in source else cut(source)


def _origin(call: Callable[[], Any]) -> str:
    """Return the source of a callable, and the values of variables, as pytest shows them."""
    source = source_of(call)
    if source is None:
        lines = [f"from: {name_of(call)}"]
    elif "\n" in source:
        lines = ["from:", *(f"    {line}" for line in source.splitlines())]
    else:
        lines = [f"from: {source}"]
    where = plain_variables(call).items()
    return "\n".join([*lines, *(f" +  where {name} = {short(value)}" for name, value in where)])

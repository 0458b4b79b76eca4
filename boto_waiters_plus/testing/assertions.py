"""Assertions that wait: a value becomes right, never becomes wrong, or stays right."""

from __future__ import annotations

import contextlib
import reprlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..conditions.calls import refuse_coroutine_function, value_of
from ..conditions.cases import success
from ..conditions.condition import Condition, run, run_async
from ..conditions.form_options import BoundedOptions
from ..conditions.patterns import TRUTHY, compile_pattern, name_of, none_of
from ..engine.redaction import cut
from ..runtime.clock import current_time

if TYPE_CHECKING:
    from typing_extensions import Unpack

HISTORY_LINES: Final = 10
"""Changes of the value that a failure shows."""

_NO_VALUE: Final = object()
"""The result of a wait that no value ended."""


def assert_eventually(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> Any:
    """Fail unless a callable returns a value that matches, within `max_wait`.

    Args:
        call: called without arguments; an exception that it raises is raised, unless `retry_on`
            names it.
        pattern: see `conditions.wait_for_match`; default: any true value.
        options: `max_wait`, in seconds or a `timedelta`, which may be left out inside a
            `deadline`; fields of `conditions.ConditionOptions`.

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

    Args:
        call, pattern, options: see `assert_eventually`.

    Raises:
        AssertionError: a value matched, or there was no time for an attempt.
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

    Args:
        call, pattern, options: see `assert_eventually`.

    Raises:
        AssertionError: a value did not match, or there was no time for an attempt.
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
        self._kind = kind
        self._pattern = compile_pattern(pattern)
        self._history = history = _History()
        given: dict[str, Any] = dict(options)
        self._condition = Condition(
            kind.name,
            history.recording_async(call) if asynchronous else history.recording(call),
            [success(none_of(self._pattern) if kind is _ALWAYS else self._pattern)],
            max_wait=given.pop("max_wait", None),
            else_=lambda _: _NO_VALUE,
            options=given,
            name=name_of(call),
        )

    def run(self) -> Any:
        """Wait and return the value that was expected, or fail."""
        __tracebackhide__ = True
        return self._checked(run(self._condition, f"{self._kind.name}_async"))

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
        return None

    def _text(self) -> str:
        wait_run = self._condition.wait_run
        expectation = self._kind.expectation.format(
            pattern=self._pattern.text, time=f"{max(0.0, wait_run.policy.max_wait or 0.0):.4g} s"
        )
        return f"{expectation}\nfrom: {wait_run.description.operation}\n{self._history}"


@dataclass(slots=True)
class _Entry:
    """Consecutive attempts that gave the same."""

    since: float
    """Seconds from the start to the first of them."""
    text: str
    attempts: int = 1


class _History:
    """The values of the attempts, bounded in length and width."""

    def __init__(self) -> None:
        self.attempts = 0
        self.error: Exception | None = None
        """The error of the last attempt."""
        self._entries: deque[_Entry] = deque(maxlen=HISTORY_LINES)
        self._changes = 0
        self._now = current_time().clock()
        self._start = self._now()

    def recording(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return the callable, wrapped to record its values."""

        def recorded() -> Any:
            with self._recording_errors():
                value = call()
            self._record(value)
            return value

        return recorded

    def recording_async(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return the callable, wrapped to record its values after awaiting them."""

        async def recorded() -> Any:
            with self._recording_errors():
                value = await value_of(call)
            self._record(value)
            return value

        return recorded

    @contextlib.contextmanager
    def _recording_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.error = error
            self._add(f"raised {_short(error)}")
            raise

    def _record(self, value: Any) -> None:
        self.error = None
        # As text at once: a list that has grown since would seem never to have changed.
        self._add(_short(value))

    def _add(self, text: str) -> None:
        self.attempts += 1
        if self._entries and self._entries[-1].text == text:
            self._entries[-1].attempts += 1
            return
        self._changes += 1
        self._entries.append(_Entry(self._now() - self._start, text))

    def __str__(self) -> str:
        if not self._entries:
            return "there was no time for an attempt"
        lines = [
            f"last value: {self._entries[-1].text}",
            f"history of {self.attempts} attempt{'' if self.attempts == 1 else 's'}:",
        ]
        dropped = self._changes - len(self._entries)
        if dropped:
            lines.append(f"  ... {dropped} earlier values")
        for entry in self._entries:
            times = f"  ({entry.attempts} attempts)" if entry.attempts > 1 else ""
            lines.append(f"  {entry.since:9.3f} s  {entry.text}{times}")
        return "\n".join(lines)


def _short(value: Any) -> str:
    """Return a value as text, whatever it is: the test asked for it."""
    return cut(_repr.repr(value))


_repr: Final = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 200
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = 20

"""Assertions that take their time: what becomes true, never does, or stays true."""

from __future__ import annotations

import contextlib
import reprlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..conditions.calling import refuse_coroutine_function, value_of
from ..conditions.cases import success
from ..conditions.condition import Condition, run, run_async
from ..conditions.form_options import ConditionOptions
from ..conditions.patterns import TRUTHY, compile_pattern, name_of, none_of
from ..engine.redaction import cut
from ..options import Seconds
from ..runtime.clock import current_time

if TYPE_CHECKING:
    from typing_extensions import Unpack

HISTORY_LINES: Final = 10
"""Changes of the value that a failure shows; looks between two changes are counted only."""

_GAVE_UP: Final = object()


def assert_eventually(
    call: Callable[[], Any],
    pattern: Any = TRUTHY,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Fail unless what is called gives a value that matches, within `max_wait`.

    Args:
        call: takes nothing; what it raises passes, unless `retry_on` names it.
        pattern: see `conditions.wait_for_match`; any true value if not given.
        max_wait: seconds (or a `timedelta`); a `deadline` around it will do.
        options: fields of `conditions.ConditionOptions`.

    Returns:
        The value.

    Raises:
        AssertionError: it did not, with the last value and what came before.
        TypeError, ValueError: before the first call, a bad argument.
    """
    __tracebackhide__ = True
    watch = _Watch(_EVENTUALLY, call, pattern, max_wait, options)
    return watch.expect_match(watch.run())


async def assert_eventually_async(
    call: Callable[[], Any],
    pattern: Any = TRUTHY,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """`assert_eventually` as part of the calling task; what is called may be awaited."""
    __tracebackhide__ = True
    watch = _Watch(_EVENTUALLY, call, pattern, max_wait, options, asynchronous=True)
    return watch.expect_match(await watch.run_async())


def refute_eventually(
    call: Callable[[], Any],
    pattern: Any = TRUTHY,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> None:
    """Fail as soon as what is called gives a value that matches, at any look within `max_wait`.

    Args:
        call, pattern, max_wait, options: see `assert_eventually`.

    Raises:
        AssertionError: it did, or there was no time for a look.
        TypeError, ValueError: before the first call, a bad argument.
    """
    __tracebackhide__ = True
    watch = _Watch(_NEVER, call, pattern, max_wait, options)
    watch.expect_none(watch.run())


async def refute_eventually_async(
    call: Callable[[], Any],
    pattern: Any = TRUTHY,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> None:
    """`refute_eventually` as part of the calling task; what is called may be awaited."""
    __tracebackhide__ = True
    watch = _Watch(_NEVER, call, pattern, max_wait, options, asynchronous=True)
    watch.expect_none(await watch.run_async())


def assert_always(
    call: Callable[[], Any],
    pattern: Any = TRUTHY,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> None:
    """Fail as soon as what is called gives a value that does not match, within `max_wait`.

    Args:
        call, pattern, max_wait, options: see `assert_eventually`.

    Raises:
        AssertionError: it did, or there was no time for a look.
        TypeError, ValueError: before the first call, a bad argument.
    """
    __tracebackhide__ = True
    watch = _Watch(_ALWAYS, call, pattern, max_wait, options)
    watch.expect_none(watch.run())


async def assert_always_async(
    call: Callable[[], Any],
    pattern: Any = TRUTHY,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> None:
    """`assert_always` as part of the calling task; what is called may be awaited."""
    __tracebackhide__ = True
    watch = _Watch(_ALWAYS, call, pattern, max_wait, options, asynchronous=True)
    watch.expect_none(await watch.run_async())


class _Kind(NamedTuple):
    """One of the three assertions, and how its failure puts what was expected."""

    name: str
    expectation: str
    awaits_match: bool


_EVENTUALLY: Final = _Kind(
    "assert_eventually", "expected {pattern} within {time}", awaits_match=True
)
_NEVER: Final = _Kind(
    "refute_eventually", "expected at no look for {time}: {pattern}", awaits_match=True
)
_ALWAYS: Final = _Kind(
    "assert_always", "expected at every look for {time}: {pattern}", awaits_match=False
)


class _Watch:
    """One assertion: its wait, and what the looks gave."""

    def __init__(
        self,
        kind: _Kind,
        call: Callable[[], Any],
        pattern: Any,
        max_wait: Any,
        options: ConditionOptions,
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
        awaited = self._pattern if kind.awaits_match else none_of(self._pattern)
        self._condition = Condition(
            kind.name,
            history.watching_async(call) if asynchronous else history.watching(call),
            [success(awaited)],
            max_wait=max_wait,
            else_=lambda _: _GAVE_UP,
            options=options,
            description=name_of(call),
        )

    def run(self) -> Any:
        """The value that ended the wait, or `_GAVE_UP`."""
        __tracebackhide__ = True
        return run(self._condition, f"{self._kind.name}_async")

    async def run_async(self) -> Any:
        """The value that ended the wait, or `_GAVE_UP`."""
        __tracebackhide__ = True
        return await run_async(self._condition)

    def expect_match(self, result: Any) -> Any:
        """Fail unless the wait ended with a match."""
        __tracebackhide__ = True
        if result is _GAVE_UP:
            raise AssertionError(self._text()) from self._history.error
        return result

    def expect_none(self, result: Any) -> None:
        """Fail unless the time passed without a match, and with at least one look."""
        __tracebackhide__ = True
        if result is not _GAVE_UP or not self._history.looks:
            raise AssertionError(self._text())

    def _text(self) -> str:
        wait_run = self._condition.wait_run
        expectation = self._kind.expectation.format(
            pattern=self._pattern.text, time=f"{max(0.0, wait_run.policy.max_wait or 0.0):.4g} s"
        )
        return f"{expectation}\nfrom: {wait_run.description.operation}\n{self._history}"


@dataclass(slots=True)
class _Entry:
    """Looks in a row that gave the same."""

    since: float
    """Seconds from the start to the first of them."""
    text: str
    looks: int = 1


class _History:
    """What the looks gave, bounded in length and width.

    Attributes:
        looks: all of them.
        error: what the last one raised, if it did.
    """

    def __init__(self) -> None:
        self.looks = 0
        self.error: Exception | None = None
        self._entries: deque[_Entry] = deque(maxlen=HISTORY_LINES)
        self._changes = 0
        self._now = current_time().clock()
        self._start = self._now()

    def watching(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """The same callable, what it gives noted."""

        def look() -> Any:
            with self._noting_errors():
                value = call()
            self._note(value)
            return value

        return look

    def watching_async(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """The same callable, awaited if need be, what it gives noted."""

        async def look() -> Any:
            with self._noting_errors():
                value = await value_of(call)
            self._note(value)
            return value

        return look

    @contextlib.contextmanager
    def _noting_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.error = error
            self._add(f"raised {_short(error)}")
            raise

    def _note(self, value: Any) -> None:
        self.error = None
        # As text at once: the same list, grown since, would look as if it had always been so.
        self._add(_short(value))

    def _add(self, text: str) -> None:
        self.looks += 1
        if self._entries and self._entries[-1].text == text:
            self._entries[-1].looks += 1
            return
        self._changes += 1
        self._entries.append(_Entry(self._now() - self._start, text))

    def __str__(self) -> str:
        if not self._entries:
            return "there was no time for a look"
        dropped = self._changes - len(self._entries)
        looks = "1 look" if self.looks == 1 else f"{self.looks} looks"
        lines = [f"last value: {self._entries[-1].text}", f"history of {looks}:"]
        if dropped:
            lines.append(f"  ... {dropped} earlier values")
        for entry in self._entries:
            times = f"  ({entry.looks} looks)" if entry.looks > 1 else ""
            lines.append(f"  {entry.since:9.3f} s  {entry.text}{times}")
        return "\n".join(lines)


def _short(value: Any) -> str:
    """The value as text; a test asked for it, so that it is shown whatever it is."""
    return cut(_repr.repr(value))


def _make_repr() -> reprlib.Repr:
    shortened = reprlib.Repr()
    shortened.maxstring = shortened.maxother = shortened.maxlong = 200
    shortened.maxlist = shortened.maxtuple = shortened.maxdict = shortened.maxset = 20
    return shortened


_repr: Final = _make_repr()

"""Several waits in sequence that share one deadline."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from ..common.arguments import answers_other_names, refuse_wrong_names, time_bound
from ..deadlines import deadline
from ..options import MAX_WAIT_NAMES, Seconds, WaitOptions, refuse_short_wait
from .condition import run, run_async
from .form_options import EXCLUSIVE, BoundedOptions, CheckedOptions, ConditionOptions, StepOptions
from .forms import Conditions, First, by_case, first_of, matching, truthy
from .patterns import Case

if TYPE_CHECKING:
    from typing_extensions import Unpack

ValueT = TypeVar("ValueT")
MatchT = TypeVar("MatchT")

_OTHER_NAMES: Final = {"on_timeout": "else_, such as else_=lambda last: last,"}
_OF_A_STEP: Final = dict.fromkeys(("else_", "on_timeout"), "else_ in step.wait_for")


class steps(deadline):  # noqa: N801 - reads as `with steps(max_wait=10) as step:`
    """Waits in sequence that share the time left.

    Example::

        with steps(max_wait=10, interval=0.05) as step:
            account = step.wait_for(lambda: load_account(token), max_wait=2)
            balance = step.wait_for_match(lambda: fetch_balance(account), float)

    A step that does not succeed raises its error, which skips the rest of the block; with `else_`
    it returns a value instead, as `wait_for` does. The error names the step and carries
    `last_value`. `steps` is a `deadline` too: it bounds every other wait in the block.

    Args:
        max_wait: seconds (or a `timedelta`) for all steps, from the start of the block; 0: each
            step makes one attempt.
        options: fields of `ConditionOptions` for every step; an option of one step wins.

    Raises:
        TypeError, ValueError: a bad argument.
    """

    @answers_other_names({**MAX_WAIT_NAMES, **_OF_A_STEP}, "steps")
    def __init__(self, *, max_wait: Seconds, **options: Unpack[ConditionOptions]) -> None:
        self._max_wait = time_bound("max_wait", max_wait)
        super().__init__(self._max_wait)
        self._name = f"steps(max_wait={self._max_wait:.12g})"
        # Raises now what the first step would raise.
        checked = CheckedOptions.of("steps", options)
        refuse_short_wait(checked.common, self._max_wait, zero=True)
        self._shared: Mapping[str, Any] = options
        self._numbers = itertools.count(1)

    @overload
    def wait_for(
        self, call: Callable[[], ValueT | None], /, **options: Unpack[BoundedOptions]
    ) -> ValueT: ...
    @overload
    def wait_for(self, call: Callable[[], Any], /, **options: Unpack[StepOptions]) -> Any: ...
    def wait_for(self, call: Callable[[], Any], /, **options: Unpack[StepOptions]) -> Any:
        """Run `conditions.wait_for` in the time left; `max_wait` may shorten it."""
        with self:
            return run(truthy(call, **self._terms(options)))

    @overload
    def wait_for_match(
        self, call: Callable[[], Any], pattern: type[MatchT], /, **options: Unpack[BoundedOptions]
    ) -> MatchT: ...
    @overload
    def wait_for_match(
        self, call: Callable[[], ValueT], pattern: Any, /, **options: Unpack[BoundedOptions]
    ) -> ValueT: ...
    @overload
    def wait_for_match(
        self, call: Callable[[], Any], pattern: Any, /, **options: Unpack[StepOptions]
    ) -> Any: ...
    def wait_for_match(
        self, call: Callable[[], Any], pattern: Any, /, **options: Unpack[StepOptions]
    ) -> Any:
        """Run `conditions.wait_for_match` in the time left."""
        with self:
            return run(matching(call, pattern, **self._terms(options)))

    def wait_for_case(
        self, call: Callable[[], Any], cases: Sequence[Case], /, **options: Unpack[StepOptions]
    ) -> Any:
        """Run `conditions.wait_for_case` in the time left."""
        with self:
            return run(by_case(call, cases, **self._terms(options)))

    @overload
    def wait_for_first(
        self, conditions: Conditions, /, **options: Unpack[BoundedOptions]
    ) -> First: ...
    @overload
    def wait_for_first(self, conditions: Conditions, /, **options: Unpack[StepOptions]) -> Any: ...
    def wait_for_first(self, conditions: Conditions, /, **options: Unpack[StepOptions]) -> Any:
        """Run `conditions.wait_for_first` in the time left."""
        with self:
            return run(first_of(conditions, **self._terms(options)))

    @overload
    async def wait_for_async(
        self, call: Callable[[], Awaitable[ValueT | None]], /, **options: Unpack[BoundedOptions]
    ) -> ValueT: ...
    @overload
    async def wait_for_async(
        self, call: Callable[[], ValueT | None], /, **options: Unpack[BoundedOptions]
    ) -> ValueT: ...
    @overload
    async def wait_for_async(
        self, call: Callable[[], Any], /, **options: Unpack[StepOptions]
    ) -> Any: ...
    async def wait_for_async(
        self, call: Callable[[], Any], /, **options: Unpack[StepOptions]
    ) -> Any:
        """Run `conditions.wait_for_async` in the time left."""
        with self:
            return await run_async(truthy(call, **self._terms(options)))

    @overload
    async def wait_for_match_async(
        self, call: Callable[[], Any], pattern: type[MatchT], /, **options: Unpack[BoundedOptions]
    ) -> MatchT: ...
    @overload
    async def wait_for_match_async(
        self,
        call: Callable[[], Awaitable[ValueT]],
        pattern: Any,
        /,
        **options: Unpack[BoundedOptions],
    ) -> ValueT: ...
    @overload
    async def wait_for_match_async(
        self, call: Callable[[], Any], pattern: Any, /, **options: Unpack[StepOptions]
    ) -> Any: ...
    async def wait_for_match_async(
        self, call: Callable[[], Any], pattern: Any, /, **options: Unpack[StepOptions]
    ) -> Any:
        """Run `conditions.wait_for_match_async` in the time left."""
        with self:
            return await run_async(matching(call, pattern, **self._terms(options)))

    async def wait_for_case_async(
        self, call: Callable[[], Any], cases: Sequence[Case], /, **options: Unpack[StepOptions]
    ) -> Any:
        """Run `conditions.wait_for_case_async` in the time left."""
        with self:
            return await run_async(by_case(call, cases, **self._terms(options)))

    @overload
    async def wait_for_first_async(
        self, conditions: Conditions, /, **options: Unpack[BoundedOptions]
    ) -> First: ...
    @overload
    async def wait_for_first_async(
        self, conditions: Conditions, /, **options: Unpack[StepOptions]
    ) -> Any: ...
    async def wait_for_first_async(
        self, conditions: Conditions, /, **options: Unpack[StepOptions]
    ) -> Any:
        """Run `conditions.wait_for_first_async` in the time left."""
        with self:
            return await run_async(first_of(conditions, awaited=True, **self._terms(options)))

    def _terms(self, given: StepOptions) -> dict[str, Any]:
        own: dict[str, Any] = dict(given)
        refuse_wrong_names("a step", own, _OTHER_NAMES)
        max_wait, else_ = own.pop("max_wait", None), own.pop("else_", None)
        shared = dict(self._shared)
        for one, others in EXCLUSIVE:
            # A step's option replaces a shared one that sets the same thing in another way.
            if one in own:
                for other in others:
                    shared.pop(other, None)
            if any(other in own for other in others):
                shared.pop(one, None)
        options = {**shared, **own}
        bounded = {name: options.get(name) for name in ("initial_delay", "success_for")}
        refuse_short_wait(WaitOptions(**bounded), self._max_wait, zero=True)
        terms: dict[str, Any] = {
            "max_wait": max_wait,
            "else_": else_,
            "options": options,
            "place": f"step {next(self._numbers)} of steps with max_wait={self._max_wait:.4g} s",
        }
        if self._max_wait == 0:
            # No time, and one attempt for each step.
            terms.update(max_wait=0, besides=self)
        return terms

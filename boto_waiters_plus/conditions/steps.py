"""Several waits, one after the other, under one budget."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..deadlines import deadline
from ..options import Seconds, seconds
from .cases import Case
from .condition import run, run_async
from .form_options import EXCLUSIVE, ConditionOptions, Settings
from .forms import Conditions, First, by_case, first_of, first_of_async, matching, truthy

if TYPE_CHECKING:
    from typing_extensions import Unpack

ValueT = TypeVar("ValueT")
MatchT = TypeVar("MatchT")


class steps(deadline):  # noqa: N801 - reads as `with steps(max_wait=10) as step:`
    """Waits that need each other's results and share what time is left.

        with steps(max_wait=10, interval=0.05) as step:
            account = step.wait_for(lambda: load_account(token), max_wait=2)
            balance = step.wait_for_match(lambda: fetch_balance(account), float)

    A step that does not succeed raises, which skips the rest of the block; its error says which
    step it was and carries `last_value`. It is a `deadline` too: it bounds every other wait inside.

    Args:
        max_wait: seconds (or a `timedelta`) for all of it, from where the block is entered.
        options: fields of `ConditionOptions` for every step; what a step is given itself wins.

    Raises:
        TypeError, ValueError: a bad argument.
    """

    def __init__(self, *, max_wait: Seconds, **options: Unpack[ConditionOptions]) -> None:
        self._allowed = seconds("max_wait", max_wait)
        super().__init__(self._allowed)
        Settings.of("steps", options)  # raises here what would come with the first step
        self._shared: Mapping[str, Any] = options
        self._numbers = itertools.count(1)

    def wait_for(
        self,
        call: Callable[[], ValueT | None],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> ValueT:
        """`conditions.wait_for` in what is left; `max_wait` may make it less."""
        with self:
            value: ValueT = run(truthy(call, **self._terms(max_wait, options)), "wait_for_async")
            return value

    @overload
    def wait_for_match(
        self,
        call: Callable[[], Any],
        pattern: type[MatchT],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> MatchT: ...
    @overload
    def wait_for_match(
        self,
        call: Callable[[], ValueT],
        pattern: Any,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> ValueT: ...
    def wait_for_match(
        self,
        call: Callable[[], Any],
        pattern: Any,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> Any:
        """`conditions.wait_for_match` in what is left."""
        with self:
            condition = matching(call, pattern, **self._terms(max_wait, options))
            return run(condition, "wait_for_match_async")

    def wait_for_case(
        self,
        call: Callable[[], Any],
        cases: Sequence[Case],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> Any:
        """`conditions.wait_for_case` in what is left."""
        with self:
            condition = by_case(call, cases, **self._terms(max_wait, options))
            return run(condition, "wait_for_case_async")

    def wait_for_first(
        self,
        conditions: Conditions,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> First:
        """`conditions.wait_for_first` in what is left."""
        with self:
            condition = first_of(conditions, **self._terms(max_wait, options))
            first: First = run(condition, "wait_for_first_async")
            return first

    @overload
    async def wait_for_async(
        self,
        call: Callable[[], Awaitable[ValueT | None]],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> ValueT: ...
    @overload
    async def wait_for_async(
        self,
        call: Callable[[], ValueT | None],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> ValueT: ...
    async def wait_for_async(
        self,
        call: Callable[[], Any],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> Any:
        """`conditions.wait_for_async` in what is left."""
        with self:
            return await run_async(truthy(call, **self._terms(max_wait, options)))

    @overload
    async def wait_for_match_async(
        self,
        call: Callable[[], Any],
        pattern: type[MatchT],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> MatchT: ...
    @overload
    async def wait_for_match_async(
        self,
        call: Callable[[], Awaitable[ValueT]],
        pattern: Any,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> ValueT: ...
    async def wait_for_match_async(
        self,
        call: Callable[[], Any],
        pattern: Any,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> Any:
        """`conditions.wait_for_match_async` in what is left."""
        with self:
            condition = matching(call, pattern, **self._terms(max_wait, options))
            return await run_async(condition)

    async def wait_for_case_async(
        self,
        call: Callable[[], Any],
        cases: Sequence[Case],
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> Any:
        """`conditions.wait_for_case_async` in what is left."""
        with self:
            return await run_async(by_case(call, cases, **self._terms(max_wait, options)))

    async def wait_for_first_async(
        self,
        conditions: Conditions,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> First:
        """`conditions.wait_for_first_async` in what is left."""
        with self:
            condition = first_of_async(conditions, **self._terms(max_wait, options))
            first: First = await run_async(condition)
            return first

    def _terms(self, max_wait: Seconds | None, options: ConditionOptions) -> dict[str, Any]:
        own: Mapping[str, Any] = options
        shared = dict(self._shared)
        for one, others in EXCLUSIVE:
            # What says the same thing in another way gives way, instead of clashing.
            if one in own:
                for other in others:
                    shared.pop(other, None)
            if any(other in own for other in others):
                shared.pop(one, None)
        return {
            "max_wait": max_wait,
            "options": {**shared, **own},
            "place": f"step {next(self._numbers)} of steps with {self._allowed:.4g} s in all",
        }

"""One wait on a callable among other waits, for `wait_all` and its relatives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..batch.wait import CallableWait
from ..common.arguments import time_bound
from ..engine.acceptors import AcceptorState
from ..engine.model import WaitDescription
from ..options import Seconds, WaitOptions, refuse_short_wait
from ..settings import Observer
from ..wait.drivers import PreparedWait
from .condition import Condition, description_of
from .form_options import CheckedOptions, ConditionOptions, settings_of_forms
from .patterns import TRUTHY, Case, checked_cases, name_of, success

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ConditionWait(CallableWait):
    """A wait on any callable, to be run with others; checked when it is made.

    Example::

        which, outcome = bwp.wait_any([
            bwp.Wait(ecs, "ServicesStable", {"services": ["web"]}),
            ConditionWait(lambda: deployment.error(), label="the deployment"),
        ], max_wait=600)

    In `wait_all` and its relatives a callable runs in one of the threads of the run. One that is
    still running at the end of its wait is not interrupted: its thread is left behind. The twins
    for asyncio run a coroutine function in the event loop, and cancel it.

    Args:
        call: called without arguments at each attempt.
        pattern: what its value has to match, as for `wait_for_match`; default: any true value. Or
            a list of cases, as for `wait_for_case`, without handlers for success and failure.
        max_wait: seconds (or a `timedelta`) to wait at most, from the start of the run; 0: one
            attempt. May be left out where the run has a `max_wait`, or a `deadline` around it.
        options: fields of `ConditionOptions`.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Attributes:
        max_wait: seconds; None: not given.
        label: the caller's label, or the name of the callable.
        options: the options that every wait has, as they were given.
        is_async: whether the callable is a coroutine function.
        waiter: what messages and events call the waiter.
    """

    __slots__ = (
        "_call",
        "_cases",
        "_options",
        "is_async",
        "label",
        "max_wait",
        "options",
    )

    waiter = "condition"

    def __init__(
        self,
        call: Callable[[], Any],
        pattern: Any = TRUTHY,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> None:
        if not callable(call):
            raise TypeError(f"ConditionWait takes something to call, not {type(call).__name__}")
        self._call = call
        self._cases = _cases(pattern)
        self._options: Mapping[str, Any] = options
        self.max_wait = None if max_wait is None else time_bound("max_wait", max_wait)
        checked = CheckedOptions.of("ConditionWait", options)
        self.options = checked.common
        refuse_short_wait(self.options, self.max_wait, zero=True)
        self.label = checked.label or name_of(call)
        self.is_async = any(
            map(inspect.iscoroutinefunction, (call, getattr(call, "__call__", None)))  # noqa: B004 - which kind it is
        )

    @property
    def merged_options(self) -> WaitOptions:
        """`options`, completed by the defaults of `install` that hold now."""
        return self.options.merged_over(settings_of_forms().defaults)

    @property
    def description(self) -> WaitDescription:
        """What the wait is for, as messages and observers name it."""
        return description_of(self.waiter, self._cases, name_of(self._call))

    def prepared(
        self, max_wait: float | None, function: str, observers: Sequence[Observer], **replaced: Any
    ) -> PreparedWait:
        """Return the wait, ready to start; see `CallableWait`."""
        condition = Condition(
            self.waiter,
            self._call,
            self._cases,
            max_wait=max_wait,
            options={**self._options, **replaced},
            observers=observers,
        )
        twin = f"{function.removesuffix('_async')}_async with a coroutine function"
        return condition.prepared(None if self.is_async else twin)

    def __repr__(self) -> str:
        return f"ConditionWait({self.label}, max_wait={self.max_wait})"


def _cases(pattern: Any) -> tuple[Case, ...]:
    is_list = isinstance(pattern, Sequence) and not isinstance(pattern, str)
    if not (isinstance(pattern, Case) or (is_list and any(isinstance(c, Case) for c in pattern))):
        return (success(pattern),)
    cases = checked_cases("cases", pattern)
    for case in cases:
        if case.handler is not None and case.state is not AcceptorState.RETRY:
            raise TypeError(
                "ConditionWait: an outcome has the value itself; leave out the handlers of "
                "success() and failure()"
            )
    return cases

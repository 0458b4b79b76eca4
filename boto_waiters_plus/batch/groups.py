"""Which of many waits one call can answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, Final

from ..calls.clock import current_time
from ..engine.machine import Policy
from ..options import CancelEvent, WaitOptions
from ..service.sharing import asked_ids
from .screen_call import ScreenedGroup, screen_of
from .shared_call import SharingGroup
from .tasks import Group
from .wait import Wait

Membership = tuple[Group | None, Sequence[str]]
"""The group of a wait, and the identifiers that the wait asks for."""

ALONE: Final[Membership] = (None, ())
"""The calls of the wait cannot be shared."""


@dataclass(slots=True, eq=False, repr=False)
class Grouping:
    """The groups of a batch: same client, waiter, delays, and parameters apart from identifiers.

    `max_wait`, the number of attempts, the initial delay and what ends a wait may differ.
    """

    cancel: CancelEvent
    """Ends calls that are shared."""
    _: KW_ONLY
    screen: bool = True
    """Whether waits whose calls cannot be shared are screened."""
    by_age: bool = False
    """Whether waits may begin at different times: those whose delays depend on their age share
    calls only with others of about the same."""
    _groups: dict[tuple[Hashable, ...], Group] = field(init=False, default_factory=dict)

    def membership(self, wait: Wait, policy: Policy, options: WaitOptions) -> Membership:
        """Return the group of a wait, and what the wait asks for.

        A call in a thread that may be abandoned is never shared.
        """
        if options.call_in_thread:
            return ALONE
        coalescing = wait.bound_waiter.polling.coalescing
        asked = None if coalescing is None else asked_ids(coalescing, wait.parameters)
        if coalescing is None or asked is None:
            return self._screened(wait, policy) if self.screen else ALONE
        member, ids = asked
        others = {name: value for name, value in wait.parameters.items() if name != member}
        make = partial(SharingGroup, coalescing, member, self.cancel)
        return self._group(wait, policy, (member, _frozen(others)), make), tuple(ids)

    def _screened(self, wait: Wait, policy: Policy) -> Membership:
        """Return the group of a wait that a sibling tells the state of."""
        screen = screen_of(wait.client, wait.bound_waiter)
        scope = None if screen is None else screen.scope_of(wait.parameters)
        if screen is None or scope is None:
            return ALONE

        def make() -> Group:
            return ScreenedGroup(wait.called, wait.bound_waiter, screen, scope, self.cancel)

        group = self._group(wait, policy, _frozen(scope), make)
        return group, (wait.parameters[screen.id],)

    def _group(
        self, wait: Wait, policy: Policy, alike: Hashable, make: Callable[[], Group]
    ) -> Group | None:
        began, own = 0, policy.delays
        if own.learned is not None and self.by_age:
            began = int((current_time().clock()() - wait.age) / own.max_delay)
        delays = (own.min_delay, own.max_delay, own.pace, own.learned, began)
        called = id(wait.called), id(wait.bound_waiter.definition)
        key = (id(wait.client), *called, alike, delays)
        try:
            return self._groups.get(key) or self._groups.setdefault(key, make())
        except TypeError:  # A parameter or a delay_pace that is not hashable.
            return None

    def forget(self, client: Any) -> None:
        """Forget the groups of a client that has no open wait."""
        for key in [key for key in self._groups if key[0] == id(client)]:
            del self._groups[key]


def _frozen(value: Any) -> Any:
    """Return a hashable form of a parameter, equal for those that are sent alike.

    The types are part of it: `1 == True` in Python.
    """
    if isinstance(value, Mapping):
        return frozenset((name, _frozen(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(each) for each in value)
    return type(value), value

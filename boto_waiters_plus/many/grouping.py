"""Which of many waits one call can answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..aws.response_split import asked_ids, coalescing_of
from ..aws.shared_call import SharedCall
from ..definitions.coalescing_trait import Coalescing
from ..engine.machine import Policy
from ..options import CancelEvent, WaitOptions
from ..runtime.groups import Group
from ..runtime.tasks import Task
from .wait import Wait


@dataclass(frozen=True, slots=True)
class Membership:
    """The group of a wait, and the identifiers that the wait asks for."""

    group: Group
    ids: tuple[str, ...]


class Grouping:
    """The groups of a batch: same client, waiter, delays, and parameters apart from identifiers.

    `max_wait`, the number of attempts, the initial delay and what ends a wait may differ.

    Args:
        cancel: ends calls that are shared.
    """

    def __init__(self, cancel: CancelEvent) -> None:
        self._cancel = cancel
        self._groups: dict[tuple[Hashable, ...], Group] = {}

    def membership(self, wait: Wait, policy: Policy, options: WaitOptions) -> Membership | None:
        """Return the group of a wait; None if its calls cannot be shared.

        A call in a thread that may be abandoned is never shared.
        """
        coalescing = None if options.call_in_thread else coalescing_of(wait.bound.operation)
        asked = None if coalescing is None else asked_ids(coalescing, wait.parameters)
        if coalescing is None or asked is None:
            return None
        member, ids = asked
        others = {name: value for name, value in wait.parameters.items() if name != member}
        delays = (policy.min_delay, policy.max_delay, policy.pace)
        key = (id(wait.client), id(wait.bound.definition), member, _frozen(others), delays)
        try:
            group = self._groups.get(key) or self._groups.setdefault(key, self._new(coalescing))
        except TypeError:  # A parameter or a delay_pace that is not hashable.
            return None
        return Membership(group, tuple(ids))

    def forget(self, client: Any) -> None:
        """Forget the groups of a client that has no open wait."""
        for key in [key for key in self._groups if key[0] == id(client)]:
            del self._groups[key]

    def _new(self, coalescing: Coalescing) -> Group:
        def join(tasks: Sequence[Task]) -> SharedCall:
            requests = [task.request for task in tasks]
            judges = [task.run.judge for task in tasks]
            return SharedCall(requests, judges, coalescing, cancel=self._cancel)

        return Group(join, coalescing.limit)


def _frozen(value: Any) -> Any:
    """Return a hashable form of a parameter, equal for those that are sent alike.

    The types are part of it: `1 == True` in Python.
    """
    if isinstance(value, Mapping):
        return frozenset((name, _frozen(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(each) for each in value)
    return type(value), value

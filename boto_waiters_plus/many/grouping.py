"""Which of many waits one call can answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..aws.coalescing import SharedCall
from ..aws.response_split import asked_ids, coalescing_of
from ..definitions.coalescing import Coalescing
from ..engine.machine import Policy
from ..options import CancelEvent, WaitOptions
from ..runtime.groups import Group
from ..runtime.schedule import Task
from .wait import Wait


@dataclass(frozen=True, slots=True)
class Member:
    """What a wait is of a group."""

    group: Group
    ids: tuple[str, ...]
    """What it asks for."""


class Groups:
    """The groups of a batch: same client, waiter, delays, and parameters apart from the ids.

    How long a wait may last, how many looks it has, when it begins and what it takes for the end
    is its own in a group too.

    Args:
        cancel: ends the calls that are shared.
    """

    def __init__(self, cancel: CancelEvent) -> None:
        self._cancel = cancel
        self._groups: dict[Hashable, Group] = {}

    def member(self, wait: Wait, policy: Policy, options: WaitOptions) -> Member | None:
        """The group of a wait; None if its calls cannot be shared.

        A call that may have to be given up is nobody's but its own.
        """
        coalescing = None if options.call_in_thread else coalescing_of(wait.operation)
        asked = None if coalescing is None else asked_ids(coalescing, wait.parameters)
        if coalescing is None or asked is None:
            return None
        member, ids = asked
        others = {name: value for name, value in wait.parameters.items() if name != member}
        delays = (policy.min_delay, policy.max_delay, policy.pace)
        key = (id(wait.client), id(wait.definition), member, _frozen(others), delays)
        try:
            group = self._groups.get(key) or self._groups.setdefault(key, self._new(coalescing))
        except TypeError:  # A parameter or a pace that is not hashable.
            return None
        return Member(group, tuple(ids))

    def _new(self, coalescing: Coalescing) -> Group:
        def join(tasks: Sequence[Task]) -> SharedCall:
            requests = [task.request for task in tasks]
            judges = [task.run.judge for task in tasks]
            return SharedCall(requests, judges, coalescing, cancel=self._cancel)

        return Group(join, coalescing.limit)


def _frozen(value: Any) -> Any:
    """A parameter so that only those are equal that are sent alike: `1 == True` in Python."""
    if isinstance(value, Mapping):
        return frozenset((name, _frozen(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(each) for each in value)
    return type(value), value

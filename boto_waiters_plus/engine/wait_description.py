"""What a wait is for, in words; made once per waiter."""

from __future__ import annotations

from dataclasses import dataclass, field

from .acceptors import AcceptorState, MatchedAcceptor
from .model import DENIED_WHEN_GONE, WaiterDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitDescription:
    """What a wait is for, as messages and observers name it."""

    waiter: str
    operation: str
    service: str | None
    goal: str
    """What the waiter waits for, in words."""
    acceptors: tuple[MatchedAcceptor, ...]
    states: tuple[AcceptorState, ...]
    bases: tuple[str | None, ...] = ()
    """For each acceptor, how it is known that a state belongs to a call; None: by other states."""
    denied_when_gone: bool = False
    """Whether the service denies access to a resource that is gone."""
    new_failures: frozenset[str] = frozenset()
    """States that say failure, that no acceptor mentions, and that are newer than the waiter."""
    told: set[str] = field(default_factory=set, compare=False, repr=False)
    """The warnings that a wait has given, and no other of the waiter has to give again."""

    @classmethod
    def of(
        cls,
        definition: WaiterDefinition,
        service: str | None = None,
        new_failures: frozenset[str] = frozenset(),
    ) -> WaitDescription:
        """Return the description of a waiter."""
        return cls(
            waiter=definition.name,
            operation=definition.operation,
            service=service,
            goal=definition.goal,
            acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
            states=definition.states,
            denied_when_gone=DENIED_WHEN_GONE in definition.tags,
            new_failures=new_failures,
        )

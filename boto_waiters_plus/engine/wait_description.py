"""What a wait is for, in words; made once per waiter."""

from __future__ import annotations

from dataclasses import dataclass

from .model import DENIED_WHEN_GONE, AcceptorState, MatchedAcceptor, WaiterDefinition


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
    denied_when_gone: bool = False
    """Whether the service denies access to a resource that is gone."""

    @classmethod
    def of(cls, definition: WaiterDefinition, service: str | None = None) -> WaitDescription:
        """Return the description of a waiter."""
        return cls(
            waiter=definition.name,
            operation=definition.operation,
            service=service,
            goal=definition.goal,
            acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
            states=definition.states,
            denied_when_gone=DENIED_WHEN_GONE in definition.tags,
        )

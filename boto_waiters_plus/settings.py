"""What was set for all waits, for a session's, for a client's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from .definitions.overlays import Layer
from .options import NO_OPTIONS, WaitOptions
from .runtime.wait_run import Observer

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Definitions, defaults and observers of one level; never changed, only replaced."""

    definitions: tuple[Layer, ...] = ()
    defaults: WaitOptions = NO_OPTIONS
    observers: tuple[Observer, ...] = ()

    def extended(
        self,
        definitions: tuple[Layer, ...],
        defaults: WaitOptions | None,
        observer: Observer | None,
    ) -> Scope:
        """This scope after another `install` or `enable`: defaults replace, the rest adds up.

        Of two definitions of one waiter the one given last wins.
        """
        new = () if observer is None else (observer,)
        return Scope(
            definitions=tuple(dict.fromkeys((*definitions, *self.definitions))),
            defaults=self.defaults if defaults is None else defaults,
            observers=_once(self.observers, new),
        )

    def over(self, lower: Scope) -> Scope:
        """This scope, completed by one of lower precedence."""
        return Scope(
            definitions=tuple(dict.fromkeys((*self.definitions, *lower.definitions))),
            defaults=self.defaults.over(lower.defaults),
            observers=_once(self.observers, lower.observers),
        )


def _once(first: tuple[ItemT, ...], second: tuple[ItemT, ...]) -> tuple[ItemT, ...]:
    """Both, in this order, each item at its first place."""
    kept: list[ItemT] = []
    for item in (*first, *second):
        # By equality: a handler need not be hashable.
        if item not in kept:
            kept.append(item)
    return tuple(kept)


EMPTY = Scope()

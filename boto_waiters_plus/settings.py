"""What was set by `install` and `enable`, merged level by level.

Three levels can be set: the process (`install`), a session and a client (`enable`). Each level
keeps what was set there; what holds for a client is merged once and merged again only after a
level has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from .deadlines import deadline
    from .engine.machine import Policy
    from .engine.model import WaitDescription, WaiterDefinition
    from .options import WaitOptions

ItemT = TypeVar("ItemT")

Observer = Callable[[Any], object]
"""A function that is called with each `WaitEvent`."""


class Resolved(NamedTuple):
    """What settings and the options of a call come to, for one wait."""

    options: WaitOptions
    policy: Policy
    observers: tuple[Observer, ...]

    def with_history(
        self,
        description: WaitDescription,
        client: Any = None,
        since_call: float | None = None,
        read: dict[Any, Any] | None = None,
    ) -> Resolved:
        """Return the same with the times of earlier waits, if the wait has a `delay_history`.

        The last observer adds the time of the wait then.

        Args:
            description: that of the wait.
            client: is called, in its region; None: it is not known.
            since_call: seconds from the call of `begin` to the start of the wait; None: no call.
            read: what was read for other waits of a batch, to be read once.
        """
        options = self.options
        if not options.delay_history:
            return self
        from .history import HistoryKey, TimeKeeper, user_history, with_times  # noqa: PLC0415

        history: Any = user_history() if options.delay_history is True else options.delay_history
        region = "" if client is None else client.meta.region_name or ""
        names = description.service or "", description.waiter, region, options.delay_kind or ""
        key, offset = HistoryKey(*names, from_call=since_call is not None), since_call or 0.0
        read, place = {} if read is None else read, (id(history), key)
        if place not in read:
            read[place] = history.times(key)
        since = (each._replace(seconds=max(each.seconds - offset, 0.0)) for each in read[place])
        has_longest = options.max_delay is not None
        policy = with_times(self.policy, tuple(since), key, has_longest=has_longest)
        return Resolved(options, policy, (*self.observers, TimeKeeper(history, key, offset)))


# Not a dataclass: `install` imports this module, and a program that never waits should not pay.
class Settings(NamedTuple):
    """Definitions, default options and observers; never changed, only replaced."""

    definitions: tuple[WaiterDefinition, ...] = ()
    """Definitions of waiters, the first of a name wins."""
    defaults: WaitOptions | None = None
    """Default options; None: not given."""
    observers: tuple[Observer, ...] = ()
    """Called with each `WaitEvent`."""

    def extended(self, new: Settings) -> Settings:
        """Return these settings after another `install` or `enable` on the same level.

        Defaults replace, definitions and observers add up. Of two definitions of one waiter the
        later one wins.
        """
        return Settings(
            _joined(new.definitions, self.definitions),
            self.defaults if new.defaults is None else new.defaults,
            _joined(self.observers, new.observers),
        )

    def merged_over(self, lower: Settings) -> Settings:
        """Return these settings, completed by those of lower precedence."""
        own = self.defaults
        return Settings(
            _joined(self.definitions, lower.definitions),
            lower.defaults if own is None else own.merged_over(lower.defaults),
            _joined(self.observers, lower.observers),
        )

    def resolve(
        self,
        given: WaitOptions,
        max_wait: Any,
        policy: Callable[[WaitOptions, Any, WaitOptions], Policy],
        *,
        name: str | None = None,
        zero: bool = False,
        besides: deadline | None = None,
    ) -> Resolved:
        """Return what holds for one wait, but for its history.

        Args:
            given: the options of the call.
            max_wait: that of the call.
            policy: returns the policy under merged options and a time bound, given the options of
                the call for messages.
            name: of the wait in messages; None: who called bounds the time, and has refused a
                short one.
            zero: whether a `max_wait` of 0 has an attempt.
            besides: a deadline that does not count.

        Raises:
            TypeError, ValueError: no time bound, one that is too short, or what `policy` raises.
        """
        from .deadlines import effective_max_wait  # noqa: PLC0415 - installing needs neither
        from .options import refuse_short_wait  # noqa: PLC0415

        if name is not None:
            refuse_short_wait(given, max_wait, zero=zero)
            max_wait = effective_max_wait(name, max_wait, besides)
        options = given.merged_over(self.defaults)
        return Resolved(options, policy(options, max_wait, given), self.observers)


NO_SETTINGS = Settings()


class SettingsLevel:
    """What was set on one level, over the level below it.

    Args:
        below: the next level; None: this is the lowest.
    """

    __slots__ = ("_below", "_merged", "own")

    def __init__(self, below: SettingsLevel | None = None) -> None:
        self.own = NO_SETTINGS
        self._below = below
        # Replaced as one object: a thread sees either all of it or nothing.
        self._merged = (NO_SETTINGS, NO_SETTINGS, NO_SETTINGS)

    def merged(self) -> Settings:
        """Return what holds on this level; the same object until a level has changed."""
        below = self._below
        if below is None:
            return self.own
        own, lower = self.own, below.merged()
        merged = self._merged
        if merged[0] is not own or merged[1] is not lower:
            self._merged = merged = (own, lower, own.merged_over(lower))
        return merged[2]


PROCESS_LEVEL: Final = SettingsLevel()
"""What `install` set; the lowest level of all."""


def _joined(first: tuple[ItemT, ...], second: tuple[ItemT, ...]) -> tuple[ItemT, ...]:
    """Return both in this order, each item at its first place."""
    if not first or not second:
        return first or second
    kept: dict[object, ItemT] = {}
    for item in (*first, *second):
        kept.setdefault(item if _is_hashable(item) else id(item), item)
    return tuple(kept.values())


def _is_hashable(item: object) -> bool:
    # A handler need not be: any callable will do.
    try:
        hash(item)
    except TypeError:
        return False
    return True


class HookedSession(Protocol):
    """What clients know of the hook of their session (`sessions.SessionHook`)."""

    level: SettingsLevel
    is_explicit: bool

    @property
    def profile(self) -> str | None: ...

    def is_active(self) -> bool: ...

    def runs_waiters(self) -> bool: ...

    def unregister(self) -> None: ...

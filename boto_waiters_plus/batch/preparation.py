"""Turns the waits of a batch into tasks, which share what they have in common."""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import math
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from ..calls.client_call import Calls
from ..calls.clock import current_time, either
from ..calls.private_names import marked_as_waiter
from ..common.errors import Caller
from ..common.time_bounds import TimeBound
from ..deadlines import deadline_of
from ..engine.machine import Policy
from ..options import CancelEvent, WaitOptions, policy_for
from ..progress import Progress
from ..service.clients import waiters_of
from ..service.sharing import asked_ids
from ..service.waits import ClientRequest, client_calls, wait_of
from ..settings import PROCESS_LEVEL, Resolved, Settings
from ..wait.facts import Observer
from ..wait.wait_run import RANDOM
from .callbacks import Callbacks
from .limits import ClientConnections, ServiceLimiter, connections_kept
from .screen_call import ScreenedGroup, screen_of
from .shared_call import SharingGroup
from .tasks import Group, Task
from .wait import CallableWait, Wait

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
        make = partial(ScreenedGroup, wait.called, wait.bound_waiter, screen, scope, self.cancel)
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


# --- which of many waits one call can answer -----------------------------------------------------


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Preparation:
    """Turns the waits of a batch into tasks."""

    bound: TimeBound | None = None
    """How long all waits may last; None: each has a time bound of its own."""
    stop: threading.Event
    """Ends calls in flight."""
    grouping: Grouping | None = None
    """The groups of waits that share calls; None: no calls are shared."""
    callbacks: Callbacks
    """The caller's callbacks."""
    progress: Progress | None = None
    """Observes all waits."""
    called_at: float | None = None
    """When the caller called, which is when the time of the waits begins; None: each begins by
    itself."""
    caller: Caller | None = None
    """The line to name in warnings of waits; None: the caller is in their thread."""
    function: str = "wait_all"
    """The function that was called."""
    reads: Iterator[object] | None = None
    """Has an item for each read about failures that is left to all waits; None: no limit."""
    _clients: dict[int, _Client] = field(init=False, default_factory=dict)
    _services: dict[tuple[str, str | None], ServiceLimiter] = field(
        init=False, default_factory=dict
    )
    _callables: ServiceLimiter = field(init=False, default_factory=ServiceLimiter)
    _calls_per_second: Mapping[str, float] = field(init=False, default_factory=dict)
    _numbers: Iterator[int] = field(init=False, default_factory=itertools.count)
    _times: dict[Any, Any] = field(init=False, default_factory=dict)
    """The times of earlier waits, read once for all waits that are prepared together."""

    def tasks(
        self, waits: Sequence[Wait | CallableWait], context: contextvars.Context | None = None
    ) -> list[Task]:
        """Return a task for each wait, in order.

        Args:
            waits: the waits.
            context: the context variables that they see; None: those of the run.
        """
        self._times.clear()
        tasks = [
            self._task(wait, context) if isinstance(wait, Wait) else self._condition_task(wait)
            for wait in waits
        ]
        if self.progress is not None:
            for index, task in enumerate(tasks):
                attempted = partial(self.progress.attempted, index)
                task.run.observe_attempts(partial(self.callbacks.post, attempted))
        return tasks

    def limit_calls(self, per_second: Mapping[str, float]) -> None:
        """Limit the calls per second to each endpoint of these services, from now on."""
        self._calls_per_second = per_second
        for (service, _), limiter in self._services.items():
            limiter.calls_per_second = per_second.get(service, math.inf)

    def forget(self, client: Any) -> None:
        """Forget a client that has no open wait: another may get its identity."""
        self._clients.pop(id(client), None)
        if self.grouping is not None:
            self.grouping.forget(client)

    def _task(self, wait: Wait, context: contextvars.Context | None) -> Task:
        client = self._clients.get(id(wait.client)) or self._add_client(wait.client)
        resolved = self._resolved(wait, client)
        options, policy, observers = resolved
        if options.delay_history:
            of = (wait.description, wait.client, wait.since_call, self._times)
            _, policy, (*_, keeper) = resolved.with_history(*of)
            observers += (self.callbacks.observer(keeper, "delay_history"),)
        what = wait.called, wait.bound_waiter, wait.parameters, wait.call
        request = ClientRequest(*what, self.reads)
        group, ids = ALONE
        if self.grouping is not None:
            group, ids = self.grouping.membership(wait, policy, options)
        calls = client.calls
        if options.cancel_event is not None or options.call_in_thread:
            calls = client_calls(wait.client, options, either(self.stop, options.cancel_event))
        prepared = wait_of(
            request,
            Resolved(options, policy if group is None else group.policy(policy), observers),
            calls,
            label=wait.given_label,
            on_attempt=self._on_attempt(options),
            random=RANDOM if group is None else group.random,
            called_at=self.called_at,
            caller=self.caller,
        )
        number = next(self._numbers)
        own = {"group": group, "ids": ids, "context": context}
        return Task.of(number, prepared, options, client.connections, **own)

    def _condition_task(self, wait: CallableWait) -> Task:
        options = wait.merged_options
        # 0 is one attempt of any length, which only a deadline bounds.
        of_all = self.bound
        # The deadline around the batch bounds the condition anyway.
        most = of_all and (of_all.seconds if of_all.end is None else of_all.asked)
        is_once = wait.max_wait == 0 and of_all is not None and of_all.seconds
        with deadline_of(of_all) if is_once and of_all else contextlib.nullcontext():
            prepared = wait.prepared(
                min((each for each in (wait.max_wait, most) if each is not None), default=None),
                self.function,
                self._observers(PROCESS_LEVEL.own),
                on_attempt=self._on_attempt(options),
                cancel_event=either(self.stop, options.cancel_event),
            )
        # A throttle of one callable says nothing of another.
        connections = ClientConnections(self._callables, 1)
        return Task.of(next(self._numbers), prepared, options, connections)

    def _on_attempt(self, options: WaitOptions) -> Observer | None:
        own = options.on_attempt
        return None if own is None else self.callbacks.observer(own, "on_attempt")

    def _observers(self, settings: Settings) -> tuple[Observer, ...]:
        observer = partial(self.callbacks.observer, name="on_event")
        return tuple(map(observer, settings.observers))

    def _resolved(self, wait: Wait, client: _Client) -> Resolved:
        """Return what holds for a wait under the current settings."""
        own = wait.bound
        bound = self.bound if own is None else own.within(self.bound)
        is_as_made = wait.settings is client.settings and bound == own
        if is_as_made or wait.settings is None:
            return Resolved(wait.merged_options, wait.policy, client.observers)
        by_definition = partial(policy_for, wait.definition)
        resolved = client.settings.resolve(wait.options, bound, by_definition)
        return resolved._replace(observers=client.observers)

    def _add_client(self, client: Any) -> _Client:
        settings = waiters_of(client).settings
        meta = client.meta
        service = meta.service_model.service_name, meta.endpoint_url
        limiter = self._services.get(service)
        if limiter is None:
            limiter = self._services[service] = ServiceLimiter()
            limiter.calls_per_second = self._calls_per_second.get(service[0], math.inf)
        connections = ClientConnections(limiter, connections_kept(client), client)
        calls = Calls(client=client, cancel=self.stop)
        added = _Client(settings, self._observers(settings), connections, calls)
        self._clients[id(client)] = added
        return added


class _Client(NamedTuple):
    """What the waits of one client have in common."""

    settings: Settings
    observers: tuple[Observer, ...]
    connections: ClientConnections
    calls: Calls
    """How it is called for a wait without a cancel event or a thread of its own."""


def marked_context() -> contextvars.Context:
    """Return the caller's context variables, for calls that are marked as a waiter's."""
    with marked_as_waiter():
        return contextvars.copy_context()

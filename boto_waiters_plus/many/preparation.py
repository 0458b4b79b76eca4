"""Turns the waits of a batch into tasks; what several of them have in common they share."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ..aws.client_call import AwaitedCall, BlockingCall, ClientRequest
from ..aws.definition_judge import DefinitionJudge
from ..engine.machine import Policy
from ..hooks.clients import waiters_of
from ..options import WaitOptions, policy_for
from ..progress import Progress
from ..runtime.attempt import AsyncCall, Call
from ..runtime.clock import either
from ..runtime.observers import Observer
from ..runtime.service_limiter import ClientConnections, ServiceLimiter
from ..runtime.tasks import Task
from ..runtime.wait_run import RANDOM, WaitRun
from ..settings import Settings
from .callbacks import Callbacks
from .grouping import Grouping
from .wait import Wait

DEFAULT_CONNECTIONS: Final = 10
"""Calls in flight for a client that does not say how many connections it keeps."""


class Preparation:
    """Turns the waits of a batch into tasks.

    Args:
        bound: seconds that all waits have at most; None: each has a bound of its own.
        stop: ends calls in flight.
        grouping: the groups of waits that share calls; None: no calls are shared.
        callbacks: the caller's callbacks.
        progress: observes all waits.
        is_async: the clients are asynchronous.
    """

    def __init__(
        self,
        *,
        bound: float | None,
        stop: threading.Event,
        grouping: Grouping | None,
        callbacks: Callbacks,
        progress: Progress | None,
        is_async: bool,
    ) -> None:
        self._bound = bound
        self._stop = stop
        self._grouping = grouping
        self._callbacks = callbacks
        self._progress = progress
        self._is_async = is_async
        self._clients: dict[int, _Client] = {}
        self._services: dict[tuple[str, str | None], ServiceLimiter] = {}
        self._calls_per_second: Mapping[str, float] = {}
        self._policies: dict[tuple[int, float], Policy] = {}

    def tasks(self, waits: Sequence[Wait]) -> list[Task]:
        """Return a task for each wait, in order."""
        return [self._task(index, wait) for index, wait in enumerate(waits)]

    def limit_calls(self, per_second: Mapping[str, float]) -> None:
        """Limit the calls per second to each endpoint of these services, from now on."""
        self._calls_per_second = per_second
        for (service, _), limiter in self._services.items():
            limiter.calls_per_second = per_second.get(service, math.inf)

    def forget(self, client: Any) -> None:
        """Forget a client that has no open wait: another may get its identity."""
        self._clients.pop(id(client), None)
        if self._grouping is not None:
            self._grouping.forget(client)

    def _task(self, index: int, wait: Wait) -> Task:
        client = self._clients.get(id(wait.client)) or self._add_client(wait.client)
        options, policy = self._policy(wait, client.settings)
        membership = None
        if self._grouping is not None:
            membership = self._grouping.membership(wait, policy, options)
        group = None if membership is None else membership.group
        run = WaitRun(
            wait.bound.description,
            policy if group is None else group.policy(policy),
            DefinitionJudge(wait.bound, wait.parameters, client.endpoint),
            label=wait.label_under(options),
            show_parameters=options.show_parameters is not False,
            observers=client.observers,
            random=RANDOM if group is None else group.random,
        )
        if options.on_attempt is not None:
            run.observe_attempts(self._callbacks.observer(options.on_attempt, "on_attempt"))
        if self._progress is not None:
            attempted = partial(self._progress.attempted, index)
            run.observe_attempts(partial(self._callbacks.post, attempted))
        request = ClientRequest(wait.client, wait.bound, wait.parameters)
        return Task(
            run,
            self._call(request, options),
            client.connections,
            request=request,
            cancel=options.cancel_event,
            wake=options.wake_signal,
            group=group,
            ids=() if membership is None else membership.ids,
        )

    def _policy(self, wait: Wait, settings: Settings) -> tuple[WaitOptions, Policy]:
        """Return the options and the policy of a wait under the settings of now."""
        options, policy = wait.merged_options, wait.policy
        if settings is not wait.settings:
            options = wait.options.merged_over(settings.defaults)
            policy = policy_for(wait.bound.definition, options, policy.max_wait or 1)
        max_wait = least(wait.max_wait, self._bound)
        if max_wait != policy.max_wait:
            policy = replace(policy, max_wait=max_wait)
        return options, policy

    def _call(self, request: ClientRequest, options: WaitOptions) -> Call | AsyncCall:
        cancel = either(self._stop, options.cancel_event)
        if self._is_async:
            return AwaitedCall(request.send, request.client, cancel=cancel)
        in_thread = bool(options.call_in_thread)
        return BlockingCall(request.send, request.client, cancel=cancel, in_thread=in_thread)

    def _add_client(self, client: Any) -> _Client:
        settings = waiters_of(client).settings
        observers = tuple(
            self._callbacks.observer(observer, "on_event") for observer in settings.observers
        )
        meta = client.meta
        endpoint = meta.endpoint_url
        service = meta.service_model.service_name, endpoint
        limiter = self._services.get(service)
        if limiter is None:
            limiter = self._services[service] = ServiceLimiter()
            limiter.calls_per_second = self._calls_per_second.get(service[0], math.inf)
        limit = getattr(meta.config, "max_pool_connections", None) or DEFAULT_CONNECTIONS
        added = _Client(settings, observers, endpoint, ClientConnections(limiter, limit))
        self._clients[id(client)] = added
        return added


class _Client:
    """What the waits of one client have in common."""

    __slots__ = ("connections", "endpoint", "observers", "settings")

    def __init__(
        self,
        settings: Settings,
        observers: tuple[Observer, ...],
        endpoint: str | None,
        connections: ClientConnections,
    ) -> None:
        self.settings = settings
        self.observers = observers
        self.endpoint = endpoint
        self.connections = connections


def least(first: float | None, second: float | None) -> float | None:
    """Return the lesser of two bounds, each of which may be None."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)

"""One call of a sibling that tells the states of many waits; `engine.screen_plan` says why."""

from __future__ import annotations

import inspect
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore import xform_name
from botocore.exceptions import NoCredentialsError, PartialCredentialsError
from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.client_call import Calls
from ..calls.clients import PerClient
from ..calls.errors import is_of_the_call, on_the_way
from ..calls.private_names import is_stubbed
from ..common.errors import logger
from ..engine.acceptors import AcceptorState
from ..engine.machine import Facts
from ..engine.matching import Match
from ..engine.reports import reported_text
from ..engine.screen_plan import ScreenBalance, ScreenPlan
from ..options import CancelEvent
from ..service.bound_waiter import BoundWaiter
from ..service.errors import ErrorFacts, error_facts
from ..service.screens import Screen, with_value_at
from ..wait.facts import Attempt, SharedAttempts
from ..wait.wait_run import WaitRun

LONGEST_SCREEN: Final = 10.0
"""Seconds that the pages of one round may take."""

LARGEST_SHARE: Final = 0.25
"""Of the time left: the rest is for the calls of the waits."""

FAIR_TIME: Final = 0.5
"""Seconds. A list that does not answer in less may still be fast enough for other rounds."""

_DROPPED: Final[PerClient[set[str]]] = PerClient(lambda _: set())
"""The siblings that failed, by client."""


def screen_of(client: Any, waiter: BoundWaiter) -> Screen | None:
    """Return what tells the states of many waits; None if nothing does, or it has failed."""
    screen = waiter.polling.screen
    if screen is None or screen.operation in _DROPPED.of(client) or is_stubbed(client):
        return None
    return screen


@dataclass(slots=True, eq=False, repr=False)
class Screening:
    """What the waits that one screen is for have in common."""

    client: Any
    """Calls the sibling."""
    waiter: BoundWaiter
    """The waiter of all of them."""
    screen: Screen
    """The sibling."""
    scope: Mapping[str, str]
    """Its parameters that come from the waits."""
    cancel: CancelEvent
    """Ends a call in flight."""
    balance: ScreenBalance = field(init=False, default_factory=ScreenBalance)
    _matches: dict[str, Match] = field(init=False, default_factory=dict)

    def match(self, state: str) -> Match:
        """Return what the acceptors make of a state."""
        if state not in self._matches:
            output = with_value_at(self.screen.path, state)
            self._matches[state] = self.waiter.polling.matching.match_response(output)
        return self._matches[state]

    @property
    def sibling(self) -> OperationModel:
        """The operation that tells the states."""
        return self.waiter.operation.service_model.operation_model(self.screen.operation)

    def leaves_open(self, state: str) -> bool:
        """Return whether a wait goes on in a state."""
        index = self.match(state).index
        acceptors = self.waiter.definition.acceptors
        return index is None or acceptors[index].state is AcceptorState.RETRY

    def attempt(self, state: str, run: WaitRun) -> Attempt:
        """Return the attempt of a wait that the state leaves open."""
        match = self.match(state)
        is_sensitive = self.waiter.polling.data_model.sensitive
        reported = self.waiter.polling.reports.read(with_value_at(self.screen.path, state))
        return Attempt(
            facts=Facts(acceptor=match.index),
            observed=None if is_sensitive else match.observed,
            state=reported_text(reported) or None,
            reported=reported,
            last_response=run.last_response,
            coalesced=True,
        )

    @property
    def is_dropped(self) -> bool:
        """Whether the sibling has failed, for these waits or others of the client."""
        return self.screen.operation in _DROPPED.of(self.client)

    def drop(self, reason: str) -> None:
        """Use the sibling no more for this client."""
        dropped, sibling = _DROPPED.of(self.client), self.screen.operation
        if sibling in dropped:
            return
        dropped.add(sibling)
        model = self.waiter.operation.service_model
        logger.info(
            "Waits for %s are polled one by one: %s, which tells the states of many (permission "
            "%s:%s), failed: %s",
            self.waiter.operation.name,
            sibling,
            model.signing_name,
            sibling,
            reason,
        )


class ScreenCall:
    """The calls of a sibling, page by page, and the judge of their replies.

    Args:
        screening: what the waits have in common.
        ids: the identifier of each wait.
        runs: the waits.
    """

    def __init__(self, screening: Screening, ids: Sequence[str], runs: Sequence[WaitRun]) -> None:
        self._screening = screening
        self._runs = runs
        screen, is_open = screening.screen, screening.leaves_open
        distinct = list(dict.fromkeys(ids))
        self._requests = deque(screen.requests(screening.scope, distinct, is_open))
        self._plan = ScreenPlan(ids, is_open, len(self._requests))
        client = screening.client
        # In a thread that can be abandoned: otherwise a hook of the caller's that blocks would take
        # the time of the waits' own calls.
        calls = Calls(send=self._send, client=client, is_reply=_is_reply, in_thread=True)
        calls.cancel = screening.cancel
        self._call: Any = calls.of_client()
        self._kept = math.inf
        """The time left in which no page may be read: it is for the calls of the waits."""
        self._is_fair = True
        """Whether a list that does not answer in this time has failed."""
        awaits = inspect.iscoroutinefunction(self._call.make)
        self.make: Any = self._make_async if awaits else self._make_blocking

    # Wrapped in another reply: a page that was cut off or failed is judged, too. It is no call for
    # any of the waits.
    def _make_blocking(self, time_left: float | None) -> Reply:
        return Reply(self._call.make(self._bounded(time_left)), made=False)

    async def _make_async(self, time_left: float | None) -> Reply:
        return Reply(await self._call.make(self._bounded(time_left)), made=False)

    def _bounded(self, time_left: float | None) -> float:
        """Return the seconds that a page may take, of those that all pages may take."""
        if self._screening.is_dropped:
            return 0.0  # No call is made.
        if time_left is None:
            return LONGEST_SCREEN
        if self._kept == math.inf:
            seconds = min(LARGEST_SHARE * time_left, LONGEST_SCREEN)
            self._kept, self._is_fair = time_left - seconds, seconds >= FAIR_TIME
        return max(0.0, time_left - self._kept)

    def _send(self) -> Any:
        client = self._screening.client
        method = getattr(client, xform_name(self._screening.screen.operation))
        return method(**self._requests[0])

    def split(self, reply: Reply) -> SharedAttempts:
        """Return the attempts of the waits that stay open, or what comes instead."""
        page, plan, screening = reply.response, self._plan, self._screening
        if page.ended == "cancelled":
            return SharedAttempts(attempts=(None,) * len(self._runs))
        if page.ended == "deadline":
            # A list that takes too long is read as far as it came.
            if not plan.pages and self._is_fair:
                return self._failed(None)
        elif page.error is not None:
            facts = error_facts(page.error, screening.sibling)
            if facts.on_the_way is not None and facts.on_the_way.is_hooked:
                # The hooks of the waits' own calls may raise nothing.
                return SharedAttempts(instead="disband")
            if facts.on_the_way is not None:
                # Nothing of the sibling: the waits' own calls would end in the same.
                attempts = [facts.attempt(page.error, None) for _ in self._runs]
                return SharedAttempts(attempts=tuple(attempts))
            return self._failed(facts)
        else:
            try:
                plan.add_page(screening.screen.states(page.response))
            except TypeError as error:
                return self._failed(error_facts(error))
            if self._turn_page(page.response):
                return SharedAttempts(instead="continue")
        states = plan.open_states()
        saved = sum(state is not None for state in states)
        if not screening.balance.add(len(states), saved, plan.pages):
            return SharedAttempts(instead="disband")
        return SharedAttempts(
            attempts=tuple(
                None if state is None else screening.attempt(state, run)
                for state, run in zip(states, self._runs, strict=True)
            )
        )

    def _turn_page(self, response: Any) -> bool:
        """Return whether there is a page to read next."""
        request = self._screening.screen.next_request(self._requests.popleft(), response)
        if request is not None:
            self._requests.appendleft(request)
        return bool(self._requests) and self._plan.needs_more

    def _failed(self, error: ErrorFacts | None) -> SharedAttempts:
        self._screening.drop("it took too long" if error is None else error.code)
        throttled = error is not None and error.throttled
        return SharedAttempts(instead="disband", was_throttled=throttled)


def _is_reply(error: Exception) -> bool:
    """Return whether an error ends only the screen; each of the waits ends with any other."""
    if isinstance(error, (NoCredentialsError, PartialCredentialsError)):
        return False
    return is_of_the_call(error) or on_the_way(error) is None

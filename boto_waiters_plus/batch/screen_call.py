"""Waits whose states one call of a sibling tells, and which of them are worth their own call.

A *screen* is a call of a sibling operation that tells the states of many resources. It decides
nothing but whose turn it is: the outcome of a wait is decided on the wait's own call. In a
screened round, a wait has its own call if its state is not one that leaves it open, if the screen
does not mention it, or if this is the tenth round after the last call of its own.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from botocore import xform_name
from botocore.exceptions import NoCredentialsError, PartialCredentialsError
from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.client_call import AwaitedCall, BlockingCall, Calls
from ..calls.clients import PerClient
from ..calls.errors import is_of_the_call, on_the_way
from ..calls.private_names import is_stubbed
from ..common.errors import logger
from ..engine.acceptors import AcceptorState
from ..engine.delays import jittered_delay
from ..engine.machine import Facts
from ..engine.matching import Match
from ..engine.reports import reported_text
from ..options import CancelEvent
from ..service.bound_waiter import BoundWaiter
from ..service.errors import ErrorFacts, error_facts
from ..service.screens import Screen, with_value_at
from ..wait.facts import Attempt
from ..wait.wait_run import WaitRun
from .tasks import Due, Group, OwnCall, PlannedCall, Split, Task

FEWEST_WAITS: Final = 10
"""For fewer waits a screen is not worth its call."""

MOST_SCREENED: Final = 9
"""Rounds after a wait's own call in which a screen may take the place of the next one."""

FEWEST_OF_PAGE: Final = 4
"""Calls that a page has to save on average, or no further one is read."""

FIRST_PAGES: Final = 2
"""Pages that are always read, beside the first of each list."""


class ScreenPlan:
    """What the pages of one round tell.

    Args:
        ids: the identifier of each wait.
        leaves_open: whether a wait goes on in a state.
        lists: the lists to read, each of which has a page at least.

    Attributes:
        pages: those that were read.
    """

    def __init__(self, ids: Sequence[str], leaves_open: Callable[[str], bool], lists: int) -> None:
        self._ids = [each.lower() for each in ids]
        self._known = frozenset(self._ids)
        self._unseen = set(self._ids)
        self._leaves_open = leaves_open
        self._first_pages = lists + FIRST_PAGES
        self._most_pages = max(1, len(ids) // 3)
        self._open = 0
        self._fruitless = 0
        """Pages since the last one that told of any wait."""
        self._states: dict[str, str | None] = {}
        self.pages = 0

    @property
    def needs_more(self) -> bool:
        """Whether another page is worth its call."""
        # After pages that told of no wait, those that are left may be nowhere in the list.
        more = self._open // FEWEST_OF_PAGE if self._fruitless <= FIRST_PAGES else 0
        worth_it = min(self._most_pages, self._first_pages + more)
        return bool(self._unseen) and self.pages < worth_it

    def add_page(self, states: Mapping[str, Collection[str]]) -> None:
        """Note the states that a page tells, by identifier.

        Many services ignore case, and take the end of an ARN for the whole.
        """
        self.pages += 1
        found: dict[str, set[str]] = {}
        for name, told in states.items():
            for key in {name.lower(), name.lower().rpartition("/")[2]} & self._known:
                found.setdefault(key, set()).update(told)
        self._fruitless = 0 if found else self._fruitless + 1
        for each, told in found.items():
            # Of two resources with one identifier, one that has ended is enough.
            before = self._states.get(each, "")
            is_open = before is not None and all(map(self._leaves_open, told))
            self._states[each] = min(told) if is_open else None
            self._open += is_open - bool(before)
        self._unseen -= found.keys()

    def open_states(self) -> list[str | None]:
        """Return the state that leaves each wait open; None for one that is worth its own call."""
        return [self._states.get(each) for each in self._ids]


class ScreenBalance:
    """Whether the screens of some waits have saved more calls than they cost."""

    def __init__(self) -> None:
        self._saved = 0

    def add(self, waits: int, saved: int, pages: int) -> bool:
        """Return whether screens are worth their calls, after a round of so many waits."""
        self._saved += saved - pages
        # A list may be behind at first.
        return self._saved > -max(5, waits // 10)


# --- the waits that a screen tells the states of, and its call -----------------------------------

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


class ScreenedGroup(Group):
    """Waits that a common call screens: it tells which are worth their own call.

    Args:
        client: calls the sibling.
        waiter: the waiter of all of them.
        screen: the sibling.
        scope: its parameters that come from the waits.
        cancel: ends a call in flight.
    """

    screens = True

    def __init__(
        self,
        client: Any,
        waiter: BoundWaiter,
        screen: Screen,
        scope: Mapping[str, str],
        cancel: CancelEvent,
    ) -> None:
        super().__init__()
        self.client, self.screen, self.scope, self.cancel = client, screen, scope, cancel
        self.balance = ScreenBalance()
        self._waiter = waiter
        self._matches: dict[str, Match] = {}
        # Ends that a list showed, less those that it did not.
        self._trust = 0

    @property
    def is_apart(self) -> bool:
        """Whether each wait is polled on its own."""
        return self.is_disbanded or self.waits < FEWEST_WAITS

    def shares(self, task: Task, due: Due, now: float) -> bool:
        """Return whether the next attempt of a wait may be screened.

        A list that is behind would undo successes that have to follow each other.
        """
        run = task.run
        return (
            task.shared is not None
            and not self.is_apart
            and not run.is_last
            and not run.has_succeeded_once
            and run.attempts != run.policy.limits.max_attempts
            and not due.was_woken
            and task.shared < MOST_SCREENED
            and not _has_to_be_timed(task, task.shared, now)
        )

    def own_call_ended(self, screened: int) -> None:
        """Note that a wait ended by its own call, after so many screened rounds.

        If the list had not shown the end, it is behind: so are the other states that it tells.
        """
        self._trust += -1 if screened >= MOST_SCREENED else 1
        self.is_disbanded = self.is_disbanded or self._trust < 0

    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:
        return OwnCall(tasks) if len(tasks) == 1 else ScreenCall(self, tasks)

    def take(self) -> Sequence[Task]:
        """Remove all waits from the queue; the first alone if they are few."""
        if self.is_disbanded or sum(task.is_due for task in self.queued) < FEWEST_WAITS:
            return [self.queued.popleft()] if self.is_due else []
        taken = [task for task in self.queued if task.is_due]
        self.queued.clear()
        return taken

    # --- the sibling -----------------------------------------------------------------------

    def _match(self, state: str) -> Match:
        """Return what the acceptors make of a state."""
        if state not in self._matches:
            output = with_value_at(self.screen.path, state)
            self._matches[state] = self._waiter.polling.matching.match_response(output)
        return self._matches[state]

    @property
    def sibling(self) -> OperationModel:
        """The operation that tells the states."""
        return self._waiter.operation.service_model.operation_model(self.screen.operation)

    def leaves_open(self, state: str) -> bool:
        """Return whether a wait goes on in a state."""
        index = self._match(state).index
        acceptors = self._waiter.definition.acceptors
        return index is None or acceptors[index].state is AcceptorState.RETRY

    def attempt(self, state: str, run: WaitRun) -> Attempt:
        """Return the attempt of a wait that the state leaves open."""
        match = self._match(state)
        is_sensitive = self._waiter.polling.data_model.sensitive
        reported = self._waiter.polling.reports.read(with_value_at(self.screen.path, state))
        return Attempt(
            facts=Facts(acceptor=match.index),
            observed=None if is_sensitive else match.observed,
            state=reported_text(reported) or None,
            reported=reported,
            response=run.last_response,
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
        model = self._waiter.operation.service_model
        logger.info(
            "Waits for %s are polled one by one: %s, which tells the states of many (permission "
            "%s:%s), failed: %s",
            self._waiter.operation.name,
            sibling,
            model.signing_name,
            sibling,
            reason,
        )


def _has_to_be_timed(task: Task, shared: int, now: float) -> bool:
    """Return whether the attempt may be the only one to tell how long the wait's own call takes.

    The last attempt is given a time by the slowest call so far, and a list is a fast one.
    """
    delays, attempts = task.run.policy.delays, task.run.attempts
    if shared < attempts - 1:
        return False  # One of the attempts before was an own call.
    longest = delays.max_delay
    if delays.learned is not None:
        longest = delays.learned.longest_delay
    elif delays.pace is None:
        longest = jittered_delay(
            attempts, min_delay=delays.min_delay, max_delay=longest, random=max
        )
    return task.until - now <= longest + delays.min_delay


class ScreenCall(PlannedCall):
    """The call of a sibling for one page, which is made again for the next one.

    It is no call for any of the waits: of those that it does not tell to stay open, each has its
    own call next.

    Args:
        group: that of the waits.
        tasks: the waits.
    """

    __slots__ = ("_group", "_is_fair", "_kept", "_plan", "_requests")

    is_of_waits = False

    def __init__(self, group: ScreenedGroup, tasks: Sequence[Task]) -> None:
        # A wait that ends has its own call before.
        super().__init__(tasks, min(task.until for task in tasks))
        self._group = group
        screen, is_open = group.screen, group.leaves_open
        ids = [task.ids[0] for task in tasks]
        requests = screen.requests(group.scope, list(dict.fromkeys(ids)), is_open)
        self._requests = deque(requests)
        self._plan = ScreenPlan(ids, is_open, len(self._requests))
        self._kept = math.inf
        """The time left in which no page may be read: it is for the calls of the waits."""
        self._is_fair = True
        """Whether a list that does not answer in this time has failed."""

    def made(self) -> BlockingCall | AwaitedCall:
        # In a thread that can be abandoned: otherwise a hook of the caller's that blocks would take
        # the time of the waits' own calls.
        group = self._group
        return Calls(
            client=group.client, is_reply=_is_reply, cancel=group.cancel, in_thread=True
        ).of_client(self._send)

    def time_left(self, now: float) -> float:
        """Return the seconds that a page may take, of those that all pages may take."""
        if self._group.is_dropped:
            return 0.0  # No call is made.
        left = super().time_left(now)
        if left is None:
            return LONGEST_SCREEN
        if self._kept == math.inf:
            seconds = min(LARGEST_SHARE * left, LONGEST_SCREEN)
            self._kept, self._is_fair = left - seconds, seconds >= FAIR_TIME
        return max(0.0, left - self._kept)

    def _send(self) -> Any:
        method = getattr(self._group.client, xform_name(self._group.screen.operation))
        return method(**self._requests[0])

    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:  # noqa: ARG002 - it has read of all
        return self

    def split(self, result: Reply | Exception, live: Collection[Task], now: float) -> Split:  # noqa: ARG002 - the time does not matter
        if isinstance(result, Exception):
            return Split([(task, result) for task in self.tasks])
        try:
            return self._split(result, live)
        # A hook of the caller's may return anything.
        except Exception as error:
            return self._failed(error_facts(error), live)

    def _split(self, result: Reply, live: Collection[Task]) -> Split:
        plan, group = self._plan, self._group
        if result.ended == "cancelled":
            return self._own_calls(live)
        if result.ended == "deadline":
            # A list that takes too long is read as far as it came.
            if not plan.pages and self._is_fair:
                return self._failed(None, live)
        elif result.error is not None:
            facts = error_facts(result.error, group.sibling)
            if facts.on_the_way is None:
                return self._failed(facts, live)
            if facts.on_the_way.is_hooked:
                # The hooks of the waits' own calls may raise nothing.
                return self._disbanded(live)
            # Nothing of the sibling: the waits' own calls would end in the same.
            shares = [(task, facts.attempt(result.error, None)) for task in self.tasks]
            return Split(shares, throttled=facts.throttled)
        else:
            plan.add_page(group.screen.states(result.response))
            if self._turn_page(result.response):
                return Split(calls=[self], throttled=False)
        return self._told(live)

    def _told(self, live: Collection[Task]) -> Split:
        """Return what the pages tell: attempts of the waits that stay open, calls of the others."""
        plan, group = self._plan, self._group
        states = plan.open_states()
        saved = sum(state is not None for state in states)
        if not group.balance.add(len(states), saved, plan.pages):
            return self._disbanded(live)
        of_waits = [*zip(self.tasks, states, strict=True)]
        told = [(task, group.attempt(s, task.run)) for task, s in of_waits if s is not None]
        alone = [task for task, state in of_waits if state is None and task in live]
        return Split(told, [OwnCall([task]) for task in alone], throttled=False)

    def _turn_page(self, response: Any) -> bool:
        """Return whether there is a page to read next."""
        request = self._group.screen.next_request(self._requests.popleft(), response)
        if request is not None:
            self._requests.appendleft(request)
        return bool(self._requests) and self._plan.needs_more

    def _failed(self, error: ErrorFacts | None, live: Collection[Task]) -> Split:
        self._group.drop("it took too long" if error is None else error.code)
        return self._disbanded(live, throttled=error is not None and error.throttled)

    def _disbanded(self, live: Collection[Task], *, throttled: bool = False) -> Split:
        self._group.is_disbanded = True
        return self._own_calls(live)._replace(throttled=throttled)

    def _own_calls(self, live: Collection[Task]) -> Split:
        calls = [OwnCall([task]) for task in self.tasks if task in live]
        return Split(calls=calls, throttled=False)


def _is_reply(error: Exception) -> bool:
    """Return whether an error ends only the screen; each of the waits ends with any other."""
    if isinstance(error, (NoCredentialsError, PartialCredentialsError)):
        return False
    return is_of_the_call(error) or on_the_way(error) is None

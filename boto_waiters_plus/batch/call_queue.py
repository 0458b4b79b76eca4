"""What waits for room for its call, and whose turn comes next."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any

from .limits import ClientConnections, ServiceLimiter
from .tasks import Group, PlannedCall, Task

Entry = Task | PlannedCall | Group
"""What waits for one call."""


class CallQueue:
    """The queues of all clients, in turns.

    Args:
        threads: calls that may be in flight at once.

    Attributes:
        calling: calls in flight.
        room_at: when there is room for a call that was refused, even if no call has ended.
    """

    def __init__(self, threads: int) -> None:
        self.calling = 0
        self.room_at = math.inf
        self._threads = threads
        self._services = 0
        # The clients that have something in their queue.
        self._turns: deque[ClientConnections] = deque()

    @property
    def is_idle(self) -> bool:
        """Whether no call is in flight and no client has anything in its queue."""
        return not self.calling and not self._turns

    def add_wait(self, service: ServiceLimiter) -> None:
        """Count a wait on a service."""
        self._services += not service.waits
        service.waits += 1

    def remove_wait(self, service: ServiceLimiter) -> None:
        """Stop counting a wait on a service."""
        service.waits -= 1
        self._services -= not service.waits

    def put(self, entry: Entry, connections: ClientConnections, *, first: bool = False) -> None:
        """Queue an entry at the end of its client's queue, or before everything else there."""
        if first:
            connections.queued.appendleft(entry)
        else:
            connections.queued.append(entry)
        self._give_turns(connections)

    def put_new(self, task: Task) -> None:
        """Queue a first attempt; at the latest when the calls before it have ended.

        Of a large batch one gets a place for each call that ends. So they are spread over what the
        process and the service allow, and no second attempt waits until all first ones are over. A
        wait that has lost half of its time goes before all second attempts.
        """
        connections = task.connections
        if len(connections.queued) + connections.calling < connections.limit:
            self.put(task, connections)
        else:
            connections.unplanned.append(task)
            self._give_turns(connections)

    def take(self, now: float) -> Iterator[Entry]:
        """Remove and yield each entry that there is room for.

        In turns, so that a client with thousands of waits does not hold up a client with one.
        """
        self.room_at = math.inf
        turns, refused = self._turns, 0
        while refused < len(turns) and self.calling < self._threads:
            connections = turns.popleft()
            lane = _next_lane(connections, now)
            if not lane:
                connections.in_turn = False
                continue
            turns.append(connections)
            if not self._has_room(connections, now):
                refused += 1
                continue
            refused = 0
            queued = connections.queued
            if lane is not queued and queued and queued[0] is None:
                queued.popleft()  # Its place.
            yield lane.popleft()

    def begin_call(self, call: PlannedCall, now: float) -> None:
        """Count a call that begins."""
        self.calling += 1
        call.connections.begin_call(call, now)

    def end_call(self, call: PlannedCall, *, throttled: bool | None) -> None:
        """Count a call that is over; see `ClientConnections.end_call`."""
        self.calling -= 1
        connections = call.connections
        connections.end_call(call, throttled=throttled)
        if connections.unplanned:
            connections.queued.append(None)

    def _give_turns(self, connections: ClientConnections) -> None:
        if not connections.in_turn:
            connections.in_turn = True
            self._turns.append(connections)

    def _has_room(self, connections: ClientConnections, now: float) -> bool:
        if self._services > 1 and connections.service.calling >= self._threads - self.calling:
            return False
        free_at = max(connections.free_at(now), connections.service.free_at(now))
        if free_at > now:
            self.room_at = min(self.room_at, free_at)
            return False
        return True


def _next_lane(connections: ClientConnections, now: float) -> deque[Any]:
    """Return the queue whose first entry is next, without those whose waits have ended in it."""
    queued, unplanned = connections.queued, connections.unplanned
    while unplanned and not unplanned[0].is_due:
        unplanned.popleft()
    while queued:
        first = queued[0]
        if unplanned and (first is None or _has_lost_half(unplanned[0], now)):
            return unplanned
        if first is not None and first.is_due:
            return queued
        queued.popleft()
        if isinstance(first, Group):
            first.in_queue = False
    return unplanned


def _has_lost_half(task: Task, now: float) -> bool:
    longest = task.run.policy.limits.max_wait
    return longest is not None and task.until - now < longest / 2

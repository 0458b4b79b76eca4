"""Whole batches in virtual time over random worlds, with the laws that hold in any of them.

    python bench/batch_simulation.py --batches 20000      # seeds 0 to 19999
    python bench/batch_simulation.py --seed 4711 --verbose

Each seed decides a world: clients of one or two services with few or many connections, windows of
time in which a client is throttled, waits that share calls and waits whose calls hang, some of
them beyond their end; when things become ready, when waits are cancelled, which callbacks raise
or are slow. Everything from the scheduler down is the package's own; only the calls and the clock
are the world's. A seed that breaks a law is printed, and replays.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import logging
import queue
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from boto_waiters_plus.batch.callbacks import Callbacks
from boto_waiters_plus.batch.schedule import Schedule
from boto_waiters_plus.batch.scheduler import run_waits
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import FinishedCall, Group, Task, time_left
from boto_waiters_plus.calls.clock import SIGNAL_SLICE, SYSTEM_TIME, set_time
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.acceptors import AcceptorState, MatchedAcceptor
from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.engine.wait_description import WaitDescription
from boto_waiters_plus.exceptions import WaiterCancelledError, WaiterError, WaiterFailedError
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.wait.attempt import Attempt, SharedAttempts
from boto_waiters_plus.wait.wait_run import WaitRun

NEVER = 1e9
ROUNDING = 1e-6
DEAF_SECONDS = 500.0
"""Seconds that a call lasts if it ignores its end."""

GRACE = 0.01
"""Seconds that a wait may end after its deadline."""

LONGEST_HOLD = 1.0
"""Seconds that a call may hold up the others of its client after a throttle."""

DESCRIPTION = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThings",
    service=None,
    goal="",
    acceptors=(MatchedAcceptor(0, "success"),),
    states=(AcceptorState.SUCCESS,),
)


class BrokenLawError(AssertionError):
    """A law does not hold."""


class UnknownThingError(Exception):
    """The error of a call for a thing that the service does not know."""


class ThrottledError(Exception):
    """The error of a throttled call."""


class Clock:
    """Virtual time, as a source of time for the scheduler."""

    def __init__(self) -> None:
        self.now = 0.0
        self._planned: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()

    def call_at(self, when: float, action: Callable[[], object]) -> None:
        heapq.heappush(self._planned, (when, next(self._order), action))

    def clock(self) -> Callable[[], float]:
        return lambda: self.now

    def sleep(self, seconds: float, _: object = None) -> None:
        self.sleep_on(seconds, threading.Event())

    def sleep_on(self, seconds: float, event: Any) -> bool:
        end = self.now + seconds
        while not event.is_set():
            if not self._planned or self._planned[0][0] > end:
                self.now = max(self.now, end)
                break
            when, _, action = heapq.heappop(self._planned)
            self.now = max(self.now, when)
            action()
        return bool(event.is_set())


@dataclass(kw_only=True)
class Client:
    """A client, and what its service does to it."""

    connections: ClientConnections
    group: Group | None
    latency: float
    throttled: list[tuple[float, float]]
    has_more_pages: bool
    in_flight: int = 0


@dataclass(kw_only=True)
class Thing:
    """What one wait is for, and what happened to it."""

    index: int
    client: Client
    ready_at: float
    unknown: bool
    hangs: bool
    is_deaf: bool
    cancel_at: float
    callback: str | None
    polls: list[float] = field(default_factory=list)
    attempts: int = 0
    """Attempts for which a call was made."""
    continues: bool = False
    """The next call belongs to the same attempt."""
    ended_at: float | None = None


class World:
    """What a seed decides."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.draw = draw = random.Random(seed)
        self.clock = Clock()
        self.threads = draw.choice([1, 2, 4, 32])
        self.in_flight = 0
        services = [ServiceLimiter() for _ in range(draw.randint(1, 2))]
        self.clients = [self._client(draw.choice(services)) for _ in range(draw.randint(1, 4))]
        self.services = len({id(client.connections.service) for client in self.clients})
        self.things: list[Thing] = []
        self.policies: list[Policy] = []
        for index in range(draw.randint(1, 24)):
            self.things.append(self._thing(index))
            self.policies.append(self._policy())

    def _client(self, service: ServiceLimiter) -> Client:
        draw = self.draw
        begins = [
            draw.uniform(0, 60) * draw.choice([0, 1]) for _ in range(draw.choice([0, 0, 1, 3]))
        ]
        return Client(
            connections=ClientConnections(service, draw.choice([1, 2, 5, 10, 50])),
            group=self._group() if draw.random() < 0.4 else None,
            latency=draw.choice([0.0, 0.02, 0.5]),
            throttled=[(begin, begin + draw.uniform(0.01, 5)) for begin in begins],
            has_more_pages=draw.random() < 0.05,
        )

    def _group(self) -> Group:
        return Group(self.join, self.draw.randint(2, 10), source=random.Random(self.seed))

    def _thing(self, index: int) -> Thing:
        draw = self.draw
        client = draw.choice(self.clients)
        alone = client.group is None
        return Thing(
            index=index,
            client=client,
            ready_at=draw.choice([0, draw.uniform(0, 100), NEVER]),
            unknown=draw.random() < 0.1,
            hangs=alone and draw.random() < 0.2,
            is_deaf=alone and draw.random() < 0.05,
            cancel_at=draw.uniform(0, 60) if draw.random() < 0.1 else NEVER,
            callback=draw.choice([None, None, "raises", "is slow"]),
        )

    def _policy(self) -> Policy:
        draw = self.draw
        return Policy(
            min_delay=draw.choice([1, 2, 5]),
            max_delay=draw.choice([5, 10, 30]),
            max_wait=draw.choice([1, 5, 15, 60, 120]),
            initial_delay=draw.choice([0, 0, 0, draw.uniform(0, 50)]),
            retry_transient=draw.choice(["answered", "answered", True, True, False]),
        )

    def join(self, tasks: Sequence[Task]) -> Call:
        return Call(self, [task.call.things[0] for task in tasks], is_shared=True)


class Call:
    """A call for one thing or several, and the judge of its reply."""

    def __init__(self, world: World, things: Sequence[Thing], *, is_shared: bool) -> None:
        self.world = world
        self.things = things
        self._is_shared = is_shared

    def begin(self, time_left: float) -> tuple[Reply, float]:
        """Return the reply to a call that begins now, and the seconds until it comes."""
        now, client = self.world.clock.now, self.things[0].client
        for thing in self.things:
            thing.polls.append(now)
            thing.attempts += not thing.continues
            thing.continues = False
        seconds = client.latency
        if any(thing.hangs or thing.is_deaf for thing in self.things):
            seconds = NEVER
        if seconds > time_left:
            is_deaf = any(thing.is_deaf for thing in self.things)
            return Reply(ended="deadline"), DEAF_SECONDS if is_deaf else time_left
        return Reply(self._verdict(now)), seconds

    def _verdict(self, now: float) -> Attempt | SharedAttempts:
        client = self.things[0].client
        if any(begin <= now < end for begin, end in client.throttled):
            facts = Facts(acceptor=None, transient=True, throttled=True, answered=True)
            attempts = [Attempt(facts=facts, exception=ThrottledError()) for _ in self.things]
        elif self._is_shared and any(thing.unknown for thing in self.things):
            return self._instead("halve")
        elif self._is_shared and client.has_more_pages:
            return self._instead("disband")
        else:
            attempts = [self._attempt(thing, now) for thing in self.things]
        return SharedAttempts(attempts=tuple(attempts)) if self._is_shared else attempts[0]

    def _attempt(self, thing: Thing, now: float) -> Attempt:
        if thing.unknown:
            return Attempt(facts=Facts(acceptor=None), exception=UnknownThingError())
        acceptor = 0 if now >= thing.ready_at else None
        return Attempt(facts=Facts(acceptor=acceptor), response={"index": thing.index})

    def _instead(self, what: Any) -> SharedAttempts:
        for thing in self.things:
            thing.continues = True
        return SharedAttempts(instead=what)

    @staticmethod
    def judge(reply: Reply) -> Any:
        return reply.response


class Executor:
    """Makes calls side by side in virtual time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._over: list[FinishedCall] = []

    def begin(self, target: Any) -> None:
        world, call = self._world, target.call
        client = call.things[0].client
        world.in_flight += 1
        client.in_flight += 1
        _law(world.in_flight <= world.threads, "no more calls in flight than threads")
        _law(client.in_flight <= client.connections.limit, "no more calls than connections")
        limit = client.group.limit if client.group else 1
        _law(len(call.things) <= limit, "no more identifiers in a call than it may have")
        left = time_left(target, world.clock.now)
        assert left is not None, "each wait of the simulation has a max_wait"
        reply, seconds = call.begin(left)
        finished = FinishedCall(target, reply, None)

        def end() -> None:
            world.in_flight -= 1
            client.in_flight -= 1
            self._over.append(finished)

        world.clock.call_at(world.clock.now + seconds, end)

    def is_set(self) -> bool:
        return bool(self._over)

    def finished(self, seconds: float) -> list[FinishedCall]:
        self._world.clock.sleep_on(seconds, self)
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        pass


def simulate(seed: int) -> str:
    """Run the batch of a seed and check it against the laws; return how its waits ended."""
    world, results = _run(seed, with_callbacks=True)
    for thing, policy, result in zip(world.things, world.policies, results, strict=True):
        _check(world, thing, policy, result)
    if any(thing.callback for thing in world.things):
        other, without = _run(seed, with_callbacks=False)
        same = [_facts(*each) for each in zip(world.things, results, strict=True)]
        _law(
            same == [_facts(*each) for each in zip(other.things, without, strict=True)],
            "callbacks change nothing",
        )
    return " ".join(sorted({type(result).__name__ for result in results}))


def _run(seed: int, *, with_callbacks: bool) -> tuple[World, list[Any]]:
    callbacks, due = Callbacks(), queue.SimpleQueue[Any]()
    callbacks.defer(due)
    try:
        world = World(seed)
        set_time(world.clock)  # type: ignore[arg-type]  # the sleeps that batches use
        tasks = [_task(world, *each) for each in zip(world.things, world.policies, strict=True)]
        for task, thing in zip(tasks, world.things, strict=True):
            if with_callbacks and thing.callback:
                task.run.observe_attempts(
                    callbacks.observer(_callback(world, thing.callback), str(thing.index))
                )
        run = Schedule(world.threads)
        for task in run_waits(run, tasks, executor=Executor(world)):
            world.things[task.index].ended_at = world.clock.now
        while not due.empty():
            due.get()()
    finally:
        set_time(SYSTEM_TIME)
    return world, [task.result for task in tasks]


def _task(world: World, thing: Thing, policy: Policy) -> Task:
    cancel = None
    if thing.cancel_at < NEVER:
        cancel = threading.Event()
        world.clock.call_at(thing.cancel_at, cancel.set)
    call, group = Call(world, [thing], is_shared=False), thing.client.group
    draw = random.Random(world.draw.random())
    run = WaitRun(DESCRIPTION, policy, call, random=draw if group is None else group.random)
    return Task(
        run,
        call,
        thing.client.connections,
        cancel=cancel,
        group=group,
        ids=() if group is None else (str(thing.index),),
    )


def _callback(world: World, kind: str) -> Callable[[object], None]:
    def callback(_: object) -> None:
        if kind == "raises":
            raise ZeroDivisionError
        world.clock.sleep(3)

    return callback


def _facts(thing: Thing, result: Any) -> tuple[Any, ...]:
    return type(result), result.attempts, thing.ended_at, thing.polls


def _law(holds: bool, text: str) -> None:  # noqa: FBT001 - the condition of an assertion
    if not holds:
        raise BrokenLawError(text)


def _check(world: World, thing: Thing, policy: Policy, result: Any) -> None:
    _law(isinstance(result, (ResponseOutcome, WaiterError)), f"an end that is none: {result!r}")
    assert policy.max_wait is not None, "each wait of the simulation has a max_wait"
    assert thing.ended_at is not None, "each wait was yielded"
    _law(thing.ended_at <= policy.max_wait + GRACE, "no wait outlives its max_wait")
    _law(result.attempts == thing.attempts, "attempts are the calls that were made")
    if policy.initial_delay + policy.min_delay < policy.max_wait:  # It is no last attempt.
        initial = policy.initial_delay - ROUNDING
        _law(all(poll >= initial for poll in thing.polls), "initial_delay is kept")
    cancelled = isinstance(result, WaiterCancelledError)
    _law(not cancelled or thing.cancel_at <= thing.ended_at, "only a cancel event cancels")
    prompt = thing.cancel_at + SIGNAL_SLICE + ROUNDING
    _law(thing.ended_at <= prompt, "a cancelled wait ends at once")
    if isinstance(result, WaiterFailedError) and not thing.unknown:
        _law(policy.retry_transient is False, "a throttle ends a wait to the letter only")
    if isinstance(result, ResponseOutcome):
        _law(thing.polls[-1] >= thing.ready_at, "nothing is ready before it is")
        _law(result.response == {"index": thing.index}, "a response is that of its own wait")
    if _has_room(world, thing, policy):
        _law(bool(thing.polls), "a healthy wait is polled, throttles and hung calls or not")
        latest = policy.initial_delay + _longest_turn(world, thing) + ROUNDING
        # A group may postpone the first poll of a wait.
        is_prompt = thing.client.group is not None or thing.polls[0] <= latest
        _law(is_prompt, "the first poll comes after the initial_delay, throttles or not")


def _has_room(world: World, thing: Thing, policy: Policy) -> bool:
    """Return whether a wait has to be polled at least once, whatever happens to others."""
    hung = [each for each in world.things if each.hangs or each.is_deaf]
    of_service = thing.client.connections.service
    hung_there = [each for each in hung if each.client.connections.service is of_service]
    hung_of_client = sum(each.client is thing.client for each in hung)
    # A service may take no more threads than are left for the others.
    busy = len(world.things) if world.services > 1 else len(hung_there)
    enough_threads = world.threads > 2 * max(len(hung), busy)
    enough_connections = thing.client.connections.limit > hung_of_client
    assert policy.max_wait is not None, "each wait of the simulation has a max_wait"
    if thing.client.group is not None and thing.cancel_at < NEVER:
        return False  # The group may postpone the first poll beyond the cancel event.
    first = min(policy.max_wait, thing.cancel_at) - policy.initial_delay
    return enough_threads and enough_connections and first > _longest_turn(world, thing)


def _longest_turn(world: World, thing: Thing) -> float:
    """Return the longest time in which each wait of a client has its turn."""
    waits = sum(each.client is thing.client for each in world.things)
    return waits * (LONGEST_HOLD + thing.client.latency)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=1000, help="how many seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--verbose", action="store_true", help="one batch, step by step")
    arguments = parser.parse_args()
    if arguments.verbose:
        logging.basicConfig(level=logging.DEBUG, format="%(message)s")
        arguments.batches = 1
        world = World(arguments.seed)
        print(f"{world.threads} threads")
        for thing, policy in zip(world.things, world.policies, strict=True):
            print(thing, policy)
    else:
        logging.getLogger("boto_waiters_plus").setLevel(logging.CRITICAL)
    ends: dict[str, int] = {}
    began = time.perf_counter()
    for seed in range(arguments.seed, arguments.seed + arguments.batches):
        try:
            end = simulate(seed)
        except Exception as broken:
            print(f"seed {seed}: {type(broken).__name__}: {broken}")
            print(f"again: python bench/batch_simulation.py --seed {seed} --verbose")
            return 1
        for name in end.split():
            ends[name] = ends.get(name, 0) + 1
    took = time.perf_counter() - began
    print(f"{took:.1f} s", file=sys.stderr)
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(ends.items()))
    print(f"{arguments.batches:,} batches break no law (with {counts} among the ends).")
    return 0


if __name__ == "__main__":
    sys.exit(main())

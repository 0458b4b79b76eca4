"""Calls and a judge that give the attempts of a script, and the waits that use them."""

import asyncio
import random

from boto_waiters_plus.batch.schedule import Schedule
from boto_waiters_plus.batch.scheduler import run_waits
from boto_waiters_plus.batch.scheduler_async import run_waits_async
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import FinishedCall, time_left
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.acceptors import AcceptorState, MatchedAcceptor
from boto_waiters_plus.engine.machine import Policy
from boto_waiters_plus.engine.wait_description import WaitDescription
from boto_waiters_plus.wait.wait_run import WaitRun

THING_READY = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThing",
    service=None,
    goal="the thing is ready",
    acceptors=(MatchedAcceptor(0, "success"), MatchedAcceptor(1, "failure")),
    states=(AcceptorState.SUCCESS, AcceptorState.FAILURE),
)


class ScriptedCall:
    """Gives one reply of the script after the other; an attempt stands for the reply it is in."""

    def __init__(self, replies):
        self._replies = iter(replies)

    def make(self, time_left):
        reply = next(self._replies)
        return reply if isinstance(reply, Reply) else Reply(reply)


class AttemptJudge:
    """Returns the attempt that is the response of the reply."""

    @staticmethod
    def judge(reply):
        return reply.response


def scripted_wait(definition, *, service=None, observers=(), **policy):
    """Return a wait of 12 seconds that polls every 5 seconds, unless the policy changes that."""
    members = {"min_delay": 5, "max_delay": 5, "max_wait": 12, "pace": "fixed", **policy}
    description = described(definition, service)
    label = f"{service} thing" if service else ""
    return WaitRun(description, Policy(**members), AttemptJudge(), label=label, observers=observers)


def described(definition, service=None):
    """Return what messages and observers name of a definition."""
    return WaitDescription(
        waiter=definition.name,
        operation=definition.operation,
        service=service,
        goal=definition.goal,
        acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
        states=definition.states,
    )


def wait_run(seed=0, *, observers=(), **changes):
    """Return a wait of 300 seconds with delays of 2 to 30, unless the policy changes that."""
    policy = Policy(**{"min_delay": 2, "max_delay": 30, "max_wait": 300, **changes})
    draws = random.Random(seed)
    return WaitRun(THING_READY, policy, AttemptJudge(), random=draws, observers=observers)


def connections(limit=10):
    """Return the connections of a client that shares its service with no other."""
    return ClientConnections(ServiceLimiter(), limit)


class Awaited:
    """A call of `VirtualExecutor` as one that is awaited.

    Attributes:
        cancelled: whether it was ended before its reply.
    """

    def __init__(self, call):
        self.call = call
        self.cancelled = False

    async def make(self, time_left):
        reply, seconds = self.call.begin(time_left)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return reply


def scheduled(tasks, *, executor, **options):
    """Return a run of these waits in the calling thread."""
    return run_waits(Schedule(**options), tasks, executor=executor)


def scheduled_async(tasks, **options):
    """Return a run of these waits in the calling task."""
    return run_waits_async(Schedule(**options), tasks)


class VirtualExecutor:
    """Makes calls side by side in virtual time: `call.begin(seconds)` tells how long one takes.

    Attributes:
        most: how many calls were in flight at the same time.
        most_of: the same for each client's connections.
    """

    def __init__(self, clock):
        self.clock = clock
        self.over = []
        self.running = []
        self.most = 0
        self.most_of = {}

    def begin(self, task):
        reply, seconds, error = None, 0.0, None
        try:
            reply, seconds = task.call.begin(time_left(task, self.clock.now))
        # As that of a thread.
        except BaseException as raised:
            error = raised
        self.running.append(task)
        self.most = max(self.most, len(self.running))
        pool = task.connections
        of_pool = sum(each.connections is pool for each in self.running)
        self.most_of[pool] = max(self.most_of.get(pool, 0), of_pool)
        finished = FinishedCall(task, reply, error)
        self.clock.call_at(self.clock.now + seconds, lambda: self.over.append(finished))

    def is_set(self):
        return bool(self.over)

    def finished(self, seconds):
        self.clock.sleep_on(seconds, self)
        over, self.over = self.over, []
        for finished in over:
            self.running.remove(finished.target)
        return over

    def close(self):
        pass

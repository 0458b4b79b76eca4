"""The first attempts of many waits, in virtual time: how late attempts are, and when the last is.

    python bench/first_attempts.py [--waits 10000] [--delay 30]

Every wait sees a thing that is not ready at its first attempt and ready at its second, `--delay`
seconds later. Calls take 20 ms, and 32 may be in flight. A first attempt is planned when its turn
comes at the rate that the threads or the limit of the service allow, in the order of the waits; a
second one `--delay` seconds after the first was answered.
"""

from __future__ import annotations

import argparse
import math
import statistics
from typing import Any, NamedTuple

from boto_waiters_plus.batch.schedule import Schedule
from boto_waiters_plus.batch.scheduler import run_waits
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import FinishedCall, Task
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.acceptors import AcceptorState, MatchedAcceptor
from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.engine.wait_description import WaitDescription
from boto_waiters_plus.testing import virtual_time
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.wait_run import WaitRun

THREADS = 32
LATENCY = 0.02
MOST_LATE = 1.0
"""Seconds after its planned time at which 99 of 100 attempts have begun."""
LAST_PLANNED = 1.1
"""The last first attempt, at most: as a multiple of waits / polls a second."""

THING_READY = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThing",
    service=None,
    goal="the thing is ready",
    acceptors=(MatchedAcceptor(0, "success"),),
    states=(AcceptorState.SUCCESS,),
)


class Found(NamedTuple):
    """What one run has shown."""

    late: float
    """Seconds that attempts begin after their planned time, at the 99th percentile."""
    last: float
    """When the last first attempt began, of waits / polls a second."""
    second_late: float
    """Seconds that the second attempt of the first wait was late."""


class ThingCall:
    """The call of one wait."""

    def __init__(self) -> None:
        self.begun: list[float] = []

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt: a success from the second one on."""
        return Attempt(facts=Facts(acceptor=None if reply.response == 1 else 0), response={})


class Executor:
    """Makes calls side by side in virtual time."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._over: list[FinishedCall] = []

    def begin(self, target: Any) -> None:
        call = target.call
        call.begun.append(self._clock.now)
        finished = FinishedCall(target, Reply(len(call.begun)), None)
        self._clock.call_at(self._clock.now + LATENCY, lambda: self._over.append(finished))

    def is_set(self) -> bool:
        return bool(self._over)

    def finished(self, seconds: float) -> list[FinishedCall]:
        self._clock.sleep_on(seconds, self)
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        pass


def run(waits: int, delay: float, per_second: float = math.inf) -> Found:
    """Run the waits; `per_second` is the limit of the service."""
    service = ServiceLimiter()
    service.calls_per_second = per_second
    connections = ClientConnections(service, THREADS)
    policy = Policy(min_delay=delay, max_delay=delay, max_wait=1e6)
    with virtual_time() as clock:
        calls = [ThingCall() for _ in range(waits)]
        tasks = [Task(WaitRun(THING_READY, policy, call), call, connections) for call in calls]
        for _ in run_waits(Schedule(THREADS), tasks, executor=Executor(clock)):
            pass
    rate = min(THREADS / LATENCY, per_second)
    firsts = [call.begun[0] - index / rate for index, call in enumerate(calls)]
    seconds = [call.begun[1] - (call.begun[0] + LATENCY + delay) for call in calls]
    return Found(
        late=statistics.quantiles(firsts + seconds, n=100)[98],
        last=max(call.begun[0] for call in calls) / (waits / rate),
        second_late=seconds[0],
    )


def main() -> None:
    """Print what each limit gives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=10_000)
    parser.add_argument("--delay", type=float, default=30)
    arguments = parser.parse_args()
    print(f"| {arguments.waits:,} waits | late, p99 | the last first attempt, of planned |")
    print("|---|---|---|")
    for per_second in (math.inf, 500):
        found = run(arguments.waits, arguments.delay, per_second)
        name = "no limit" if per_second == math.inf else f"{per_second} calls a second"
        print(f"| {name} | {found.late:.2f} s | {found.last:.2f} |")
    print(f"| at most | {MOST_LATE:.2f} s | {LAST_PLANNED:.2f} |")


if __name__ == "__main__":
    main()

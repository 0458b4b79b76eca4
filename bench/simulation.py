"""Run whole waits in virtual time in random worlds, and check the laws that hold in all of them.

    python bench/simulation.py --waits 100000             # seeds 0 to 99999
    python bench/simulation.py --seed 4711 --verbose      # one wait again, step by step

Each seed decides a world: when the resource becomes ready, fails or vanishes; how long an answer
takes; which calls end in a throttle, a refused retry, a time-out, no connection or a permission
error; how long the state has to hold;
whether the clock stands still, jumps or goes back; when the wait is cancelled. A call is cut off
when its time is up or the wait is cancelled, as a call of a client is. The wait itself is real:
machine, wait run and driver, with a call and a clock from the world. A seed that breaks a law is
printed, and replays.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from boto_waiters_plus.calls.clock import SYSTEM_TIME, set_time
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.acceptors import AcceptorState, MatchedAcceptor
from boto_waiters_plus.engine.machine import (
    LEAST_LATE_RESERVE,
    SHORTEST_PAUSE,
    SLOWEST_ANSWER_MARGIN,
    Facts,
    LastAttempt,
    Pace,
    Policy,
)
from boto_waiters_plus.engine.wait_description import WaitDescription
from boto_waiters_plus.exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.sync import drive
from boto_waiters_plus.wait.wait_run import WaitRun

READY, FAILED, PENDING = "READY", "FAILED", "PENDING"
UNCONNECTED = "EndpointConnectionError"
TRANSIENT = {"Throttling", "RefusedRetry", "ReadTimeoutError", UNCONNECTED}
INDEXES = {READY: 0, FAILED: 1}
"""The acceptors that match these states."""
ROUNDING = 1e-6
NEVER = 1e9


DESCRIPTION = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThing",
    service=None,
    goal="State is READY",
    acceptors=(
        MatchedAcceptor(0, "success when State is READY"),
        MatchedAcceptor(1, "failure when State is FAILED"),
    ),
    states=(AcceptorState.SUCCESS, AcceptorState.FAILURE),
)


@dataclass
class World:
    """The world of one seed: the true state of the resource, and what the wait can see of it."""

    seed: int
    random: random.Random = field(init=False)
    now: float = 0.0
    shown: float = 0.0
    polls: list[float] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    answers: list[tuple[str, float]] = field(default_factory=list)
    """How each call ended, and when."""

    def __post_init__(self) -> None:
        draw = self.random = random.Random(self.seed)
        self.ready_at = draw.choice([0.0, draw.uniform(0, 400), draw.expovariate(1 / 60), NEVER])
        self.fails = draw.random() < 0.15
        self.vanishes_at = draw.uniform(0, 300) if draw.random() < 0.1 else NEVER
        self.answer_time = draw.choice([0.0, 0.05, 0.3, 2.0, draw.uniform(0, 20)])
        self.throttles = draw.choice([0.0, 0.0, 0.1, 0.5])
        self.refused_retries = draw.choice([0.0, 0.0, 0.1])
        self.transport_errors = draw.choice([0.0, 0.0, 0.05, 0.3])
        self.lost_connections = draw.choice([0.0, 0.0, 0.1, 0.4])
        self.denied = draw.choice([0.0, 0.0, 0.0, 0.02])
        self.clock = draw.choice(["right"] * 6 + ["still", "back", "jumping", "fast"])
        self.cancel_at = draw.choice([0, draw.uniform(0, 300)]) if draw.random() < 0.1 else NEVER
        self.policy = self._policy(draw)

    @staticmethod
    def _policy(draw: random.Random) -> Policy:
        least = draw.choice([1, 2, 5, 15, draw.uniform(0.1, 30)])
        largest = least * draw.choice([1, 2, 8, 60])
        paces: list[Pace] = [None] * 5
        paces += ["fixed", lambda attempt: least * attempt, lambda _: 0.0]
        bound = draw.choice(["time"] * 5 + ["sleep", "attempts"])
        max_wait = draw.choice([draw.uniform(0.05, 3), draw.uniform(3, 60), draw.uniform(60, 900)])
        return Policy(
            min_delay=least,
            max_delay=largest,
            max_wait=None if bound == "attempts" else max_wait,
            max_attempts=draw.randint(1, 40) if bound != "time" else draw.choice([None, None, 7]),
            pace=draw.choice(paces if max_wait < 1 else paces[:-1]),
            last_attempt=draw.choice(list(LastAttempt)),
            initial_delay=draw.choice([0, 0, 0, draw.uniform(0, 100)]),
            success_count=draw.choice([1, 1, 1, 3]),
            success_for=draw.choice([0, 0, 0, least * draw.uniform(0.1, 5)]),
            missing_ok_for=draw.choice([0, 0, 30]),
            retry_transient=draw.choice(["answered", "answered", True, False]),
            count_requests=bound == "time",
            patience=draw.choice([math.inf, 0, draw.uniform(0, 30)]),
        )

    # --- time: `now` is true, `shown` is what the clock of the wait shows ---

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        if self.clock == "right":
            self.shown += seconds
        elif self.clock == "fast":
            self.shown += seconds * 1.5
        elif self.clock == "jumping":
            self.shown += seconds + self.random.choice([0, 0, 0, 40])
        elif self.clock == "back":
            self.shown += seconds - self.random.choice([0, 0, 0, 3600])

    def clock_function(self) -> Callable[[], float]:
        return lambda: self.shown

    def sleep(self, seconds: float, _: Any = None) -> None:
        self.slept.append(seconds)
        self.pass_time(seconds)

    def sleep_on(self, seconds: float, event: Any) -> bool:
        end = min(self.now + seconds, max(self.now, self.cancel_at))
        cancelled = self.cancel_at <= self.now + seconds
        self.slept.append(seconds)
        self.pass_time(end - self.now)
        return cancelled or event.is_set()

    async def sleep_async(self, _: float) -> None:
        raise AssertionError("the blocking driver does not await")

    # --- the call ---

    def make(self, time_left: float | None) -> Reply:
        self.polls.append(self.now)
        seen = self.random.random
        takes = self.answer_time * (0.5 + seen())
        cut = min(NEVER if time_left is None else time_left, max(0.0, self.cancel_at - self.now))
        if cut < takes:
            return self._cut_off(cut, is_cancelled=cut != time_left)
        self.pass_time(takes)
        if seen() < self.throttles:
            return self._error("Throttling")
        if seen() < self.refused_retries:
            return self._error("RefusedRetry", ended="retry refused")
        if seen() < self.transport_errors:
            return self._error("EndpointConnectionError")
        if seen() < self.lost_connections:
            return self._error("ReadTimeoutError")
        if seen() < self.denied:
            return self._error("AccessDenied")
        if self.now >= self.vanishes_at:
            return self._error("NoSuchThing")
        ready = FAILED if self.fails else READY
        state = ready if self.now >= self.ready_at else PENDING
        self.answers.append((state, self.now))
        return Reply({"State": state})

    def _cut_off(self, after: float, *, is_cancelled: bool) -> Reply:
        self.pass_time(after)
        self.answers.append(("cut off", self.now))
        return Reply(ended="cancelled" if is_cancelled else "deadline")

    def _error(self, name: str, ended: Literal["retry refused"] | None = None) -> Reply:
        self.answers.append((name, self.now))
        return Reply(error=RuntimeError(name), ended=ended)

    # --- the judge ---

    @staticmethod
    def judge(reply: Reply) -> Attempt:
        if reply.error is None:
            state = reply.response["State"]
            return Attempt(
                facts=Facts(acceptor=INDEXES.get(state)), response=reply.response, observed=state
            )
        name = str(reply.error)
        facts = Facts(
            acceptor=None,
            transient=name in TRANSIENT,
            unconnected=name == UNCONNECTED,
            answered=name in ("Throttling", "AccessDenied", "NoSuchThing"),
            throttled=name == "Throttling",
            missing=name == "NoSuchThing",
            inconclusive=reply.ended is not None,
        )
        return Attempt(facts=facts, exception=reply.error, error=name)

    # --- facts for the laws ---

    def is_failure(self, number: int) -> bool | None:
        """Return whether an answer is a failure; None: the wait's clock decides."""
        answer, at = self.answers[number]
        if answer in TRANSIENT and answer != "RefusedRetry":
            return not self.is_transient(number)
        if answer == "NoSuchThing":
            return self._is_missing_too_long(at)
        return answer in (FAILED, "AccessDenied")

    def is_transient(self, number: int) -> bool:
        """Return whether an answer is a transient error that the wait polls past."""
        answer, rule = self.answers[number][0], self.policy.retry_transient
        if answer not in TRANSIENT or answer == "RefusedRetry":
            return answer == "RefusedRetry"
        if rule != "answered" or answer != UNCONNECTED:
            return rule is not False
        before = {name for name, _ in self.answers[:number]}
        return not before <= {UNCONNECTED, "ReadTimeoutError", "RefusedRetry"}

    def row_of_successes(self, number: int) -> tuple[int, float]:
        """Return how many successes count at an answer, and since when the state was seen."""
        row, since = 0, None
        for place, (answer, at) in enumerate(self.answers[: number + 1]):
            if answer == READY:
                row, since = row + 1, at if since is None else since
            else:
                row, since = row if self.is_transient(place) else 0, None
        return row, self.answers[number][1] if since is None else since

    def is_success(self, number: int) -> bool | None:
        """Return whether an answer is the last success needed; None: the wait's clock decides."""
        if self.answers[number][0] != READY:
            return False
        row, since = self.row_of_successes(number)
        if row < self.policy.success_count or not self.policy.success_for:
            return row >= self.policy.success_count
        missing = self.policy.success_for - (self.polls[number] - since)
        if self.clock != "right" or abs(missing) < ROUNDING:
            return None
        return missing < 0

    def _is_missing_too_long(self, at: float) -> bool | None:
        missing_for = at - self.polls[0] - self.policy.missing_ok_for
        if self.policy.missing_ok_for and (self.clock != "right" or abs(missing_for) < ROUNDING):
            return None
        return missing_for >= 0

    @property
    def is_bounded_in_time(self) -> bool:
        """Whether the wait may last so long, requests included."""
        return self.policy.max_wait is not None and self.policy.count_requests

    def is_in_time(self, at: float) -> bool:
        """Return whether an answer at this time counts, if the wait's clock is known."""
        policy = self.policy
        if not self.is_bounded_in_time:
            return True
        return self.clock == "right" and at <= (policy.max_wait or 0) - ROUNDING

    def is_late(self) -> bool:
        """Return whether the time was used up before the last answer, by the wait's clock."""
        policy = self.policy
        if policy.max_wait is None or not policy.count_requests:
            return False
        is_sure = self.clock in ("right", "fast", "jumping")
        return is_sure and self.shown > policy.max_wait + ROUNDING

    @property
    def uncounted(self) -> float:
        """The seconds that a clock that stands still has not counted: those of the calls."""
        return sum(at for _, at in self.answers) if self.clock == "still" else 0.0


class _Cancel:
    def __init__(self, world: World) -> None:
        self._world = world

    def is_set(self) -> bool:
        return self._world.now >= self._world.cancel_at

    def wait(self, timeout: float | None = None, /) -> bool:
        raise AssertionError(f"the world's clock sleeps on it, not for {timeout}")


class BrokenLawError(AssertionError):
    """A law does not hold in this world."""


def simulate(seed: int) -> str:
    """Run one wait and return how it ended.

    Raises:
        BrokenLawError: a law does not hold.
    """
    world = World(seed)
    set_time(_Source(world))
    wait_run = WaitRun(DESCRIPTION, world.policy, world, random=world.random)
    error: WaiterError | None = None
    try:
        drive(wait_run, world, cancel=_Cancel(world))
        end = "succeeded"
    except WaiterError as raised:
        error, end = raised, type(raised).__name__
    finally:
        set_time(SYSTEM_TIME)
    _check(world, wait_run, end, error)
    return end


class _Source:
    """The world as the drivers' source of time; `World.clock` is the kind of its clock."""

    def __init__(self, world: World) -> None:
        self.clock = world.clock_function
        self.sleep = world.sleep
        self.sleep_on = world.sleep_on
        self.sleep_async = world.sleep_async


def _law(holds: bool, text: str) -> None:  # noqa: FBT001 - a statement, not a switch
    if not holds:
        raise BrokenLawError(f"broken: {text}")


def _check(world: World, wait_run: WaitRun, end: str, error: WaiterError | None) -> None:
    _check_bounds(world, wait_run)
    _check_distances(world)
    _check_every_answer(world, end)
    _check_end(world, wait_run, end)
    if error is not None:
        _law(error.attempts == len(world.polls), "the error counts the calls")
        _law(wait_run.attempt is None, "the wait keeps nothing of its last call")
    transient = [world.is_transient(number) for number in range(len(world.answers))]
    # The last answer may have been too late to count.
    counted = (sum(transient[:-1]), sum(transient))
    _law(wait_run.transient_errors in counted, "every transient error is counted")


def _check_bounds(world: World, wait_run: WaitRun) -> None:
    policy, slept = world.policy, sum(world.slept)
    attempts = wait_run.attempts
    _law(attempts == len(world.polls), "every call is counted")
    _law(policy.max_attempts is None or attempts <= policy.max_attempts, "attempts are bounded")
    _law(wait_run.elapsed >= slept - ROUNDING or world.cancel_at < NEVER, "sleep counts as time")
    if policy.max_wait is not None:
        _law(slept <= policy.max_wait + ROUNDING, "no more sleep than was allowed")
        if policy.count_requests and world.clock in ("right", "still", "fast", "jumping"):
            in_time = all(at <= policy.max_wait + world.uncounted + ROUNDING for at in world.polls)
            _law(in_time, "no call after the end")
        if policy.count_requests and world.clock == "right":
            _law(world.now <= policy.max_wait + ROUNDING, "a wait returns at its end")
            _law(abs(wait_run.elapsed - world.now) < ROUNDING, "elapsed is what has passed")


def _check_distances(world: World) -> None:
    policy = world.policy
    _law(all(pause >= 0 for pause in world.slept), "no sleep is negative")
    if policy.max_wait is not None:
        gaps = [b - a for a, b in itertools.pairwise(world.polls)]
        _law(all(gap >= SHORTEST_PAUSE - ROUNDING for gap in gaps), "calls are apart")
    if not callable(policy.pace):
        between = world.slept[1:-1]
        apart = all(pause >= policy.min_delay - ROUNDING for pause in between)
        _law(apart, "only the first and the last pause may be short")
    if policy.initial_delay and world.polls and world.cancel_at == NEVER:
        wanted = max(policy.initial_delay, SHORTEST_PAUSE)
        first = world.slept[0]
        _law(first <= wanted + ROUNDING, "the first attempt waits no longer than initial_delay")
        shortened = policy.max_wait is not None and wanted > policy.max_wait / 2
        _law(
            first >= wanted - ROUNDING or shortened,
            "the first attempt waits as long as initial_delay",
        )


def _check_every_answer(world: World, end: str) -> None:
    """An answer that decides the wait ends it."""
    for number, (answer, at) in enumerate(world.answers):
        is_last = number == len(world.answers) - 1
        decides = world.is_failure(number) or world.is_success(number)
        _law(is_last or not decides, f"no call after the answer {answer}")
        _law(is_last or answer != "cut off", "no call after one that was cut off")
        if is_last and decides and world.is_in_time(at):
            wanted = "succeeded" if answer == READY else WaiterFailedError.__name__
            _law(end == wanted, f"an answer {answer} in time decides the wait")
        if is_last and world.is_late():
            late = (WaiterTimeoutError.__name__, WaiterCancelledError.__name__)
            _law(end in late, "a late answer does not count")
        if not is_last:
            is_before_last = number == len(world.answers) - 2
            _check_pause_after(world, number, is_before_last=is_before_last)


def _check_pause_after(world: World, number: int, *, is_before_last: bool) -> None:
    answer, at = world.answers[number]
    policy, pause = world.policy, world.polls[number + 1] - at
    if answer == READY:
        short = pause < policy.min_delay - ROUNDING
        last_attempt = is_before_last and policy.max_wait is not None
        _law(not short or last_attempt, "successes are min_delay apart")
        row, since = world.row_of_successes(number)
        needed = policy.success_for - (at - since)
        is_enough = row + 1 >= policy.success_count and policy.max_attempts is None
        if world.clock == "right" and is_enough and 0 < needed < 2 * policy.min_delay:
            wanted = max(needed, policy.min_delay)
            _law(pause <= wanted + ROUNDING, "the attempt that completes success_for is not late")
    if answer == "Throttling" and policy.pace is None and not is_before_last:
        _law(pause >= policy.max_delay - ROUNDING, "a throttle is followed by max_delay")


def _check_end(world: World, wait_run: WaitRun, end: str) -> None:
    policy = world.policy
    last, at = world.answers[-1] if world.answers else (None, world.now)
    match end:
        case "succeeded":
            decides = world.is_success(len(world.answers) - 1)
            _law(decides is not False, "a success needs the answers")
            _law(at >= world.ready_at, "nothing is ready before its time")
        case WaiterFailedError.__name__:
            decides = world.is_failure(len(world.answers) - 1)
            _law(decides is not False, "a failure needs its answer")
        case WaiterTimeoutError.__name__:
            _law(world.is_bounded_in_time or last == "cut off", "only a bound on time times out")
            _check_time_is_used(world)
        case WaiterAttemptsError.__name__:
            if wait_run.attempts == policy.max_attempts:
                _check_attempts_are_spread(world)
            else:
                _check_sleep_is_used(world)
        case WaiterCancelledError.__name__:
            _law(world.cancel_at <= world.now + ROUNDING, "only a cancel cancels")
            _law(all(poll < world.cancel_at for poll in world.polls), "no call after the cancel")
            _law(world.now <= max(world.cancel_at, 0) + ROUNDING, "a cancelled wait ends at once")
        case _:
            raise BrokenLawError(f"unknown end: {end}")


def _check_time_is_used(world: World) -> None:
    """A wait that times out made its last attempt as late as its rule says."""
    policy = world.policy
    if world.clock != "right" or not policy.count_requests or policy.max_wait is None:
        return
    if not world.polls or policy.last_attempt is LastAttempt.SPEC:
        return
    slowest = 1.5 * world.answer_time
    reserve = max(LEAST_LATE_RESERVE, SLOWEST_ANSWER_MARGIN * slowest)
    _law(world.polls[-1] >= policy.max_wait - reserve - ROUNDING, "the last attempt is late")


def _check_sleep_is_used(world: World) -> None:
    """A wait that ends by its attempts before it made them all has slept its time."""
    policy = world.policy
    is_schedule = policy.max_wait is not None and not policy.count_requests
    _law(is_schedule, "the attempts are used up")
    # The last pause leaves at most what was the shortest delay at that time.
    shortest = max(policy.min_delay, policy.initial_delay)
    if callable(policy.pace):
        shortest = max(shortest, policy.pace(len(world.polls) - 1))
    if policy.success_for:
        shortest = max(shortest, 2 * policy.min_delay, policy.success_for)
    left = (policy.max_wait or 0) - sum(world.slept)
    _law(left <= shortest + ROUNDING, "the sleep is used up")


def _check_attempts_are_spread(world: World) -> None:
    """The attempts of a stock schedule last as long as its time."""
    policy = world.policy
    if policy.count_requests or policy.max_wait is None or policy.pace is not None:
        return
    if policy.max_attempts == 1 or policy.success_count > 1 or policy.success_for:
        return
    whole = sum(world.slept) >= policy.max_wait - policy.min_delay - ROUNDING
    _law(whole, "attempts are not used up before the time")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=10_000, help="how many seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--verbose", action="store_true", help="one wait, step by step")
    arguments = parser.parse_args()
    if arguments.verbose:
        print(World(arguments.seed).policy)
        logging.basicConfig(level=logging.DEBUG, format="%(message)s")
        print(simulate(arguments.seed))
        return 0
    ends: dict[str, int] = {}
    began = time.perf_counter()
    for seed in range(arguments.seed, arguments.seed + arguments.waits):
        try:
            end = simulate(seed)
        except Exception as broken:
            print(
                f"seed {seed}: {broken}\nagain: python bench/simulation.py --seed {seed} --verbose"
            )
            return 1
        ends[end] = ends.get(end, 0) + 1
    took = time.perf_counter() - began
    print(f"{took:.1f} s, {arguments.waits / took * 60:.0f} waits a minute", file=sys.stderr)
    counts = ", ".join(f"{end} {count:,}" for end, count in sorted(ends.items()))
    print(f"{arguments.waits:,} waits break no law ({counts}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Waits that share calls and a schedule; the calls run side by side in virtual time."""

import collections
import dataclasses
import itertools
import threading

import pytest
from batch.calls import THING_READY, VirtualExecutor, connections, scheduled
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.batch.tasks import Group, ScreenedGroup, Task
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.acceptors import AcceptorState, MatchedAcceptor
from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.engine.screen_plan import FEWEST_WAITS
from boto_waiters_plus.exceptions import WaiterCancelledError, WaiterFailedError, WaiterTimeoutError
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.testing import virtual_time as open_virtual_time
from boto_waiters_plus.wait.attempt import Attempt, SharedAttempts
from boto_waiters_plus.wait.wait_run import WaitRun

DESCRIPTION = dataclasses.replace(
    THING_READY,
    acceptors=(MatchedAcceptor(0, "success"), MatchedAcceptor(1, "retry")),
    states=(AcceptorState.SUCCESS, AcceptorState.RETRY),
)


class World:
    """A service with things that are ready from some time on, and some that it does not know."""

    def __init__(self, clock, *, ready_at=None, unknown=(), latency=0.0):
        self.clock = clock
        self.ready_at = ready_at or {}
        self.unknown = dict.fromkeys(unknown, 1e9) if not isinstance(unknown, dict) else unknown
        """Until when a thing is unknown."""
        self.missing_is_retry = False
        self.raises = "any"
        """How many things of a call have to be unknown for an error: `any`, `all` or `none`."""
        self.latency = latency
        self.calls = []

    def answer(self, names, time_left, *, shared):
        now = self.clock.now
        self.calls.append((now, list(names), time_left))
        omitted = {i for i, name in enumerate(names) if now < self.unknown.get(name, 0)}
        if omitted and (
            self.raises == "any" or (self.raises == "all" and len(omitted) == len(names))
        ):
            if shared:
                return SharedAttempts(instead="halve")
            index = 1 if self.missing_is_retry else None
            return Attempt(facts=Facts(acceptor=index), exception=LookupError(), error="none")
        attempts = []
        for index, name in enumerate(names):
            ready = index not in omitted and now >= self.ready_at.get(name, 0)
            attempts.append(
                Attempt(
                    facts=Facts(acceptor=0 if ready else None),
                    response={"name": name},
                    coalesced=shared,
                )
            )
        if not shared:
            return attempts[0]
        return SharedAttempts(attempts=tuple(attempts), omitted=frozenset(omitted))

    def calls_at(self):
        return collections.Counter(moment for moment, _, _ in self.calls)

    def polls_of(self, name):
        return [moment for moment, names, _ in self.calls if name in names]


class Call:
    """The call of one wait; the reply holds the verdict already."""

    def __init__(self, world, name):
        self.world = world
        self.name = name

    def make(self, time_left):
        return Reply(self.world.answer([self.name], time_left, shared=False))

    def begin(self, time_left):
        """Return the reply of a call that begins now, and how long it takes."""
        latency = self.world.latency
        latency = latency() if callable(latency) else latency
        reply = self.make(time_left)
        if time_left is not None and latency > time_left:
            return Reply(ended="deadline"), time_left
        return reply, latency

    @staticmethod
    def judge(reply):
        return reply.response


class SharedCall(Call):
    """One call for several waits."""

    def __init__(self, tasks):
        self.world = tasks[0].call.world
        self.names = [task.call.name for task in tasks]

    def make(self, time_left):
        return Reply(self.world.answer(self.names, time_left, shared=True))


def group(limit=10):
    return Group(SharedCall, limit)


def task(world, name, within, pool, **changes):
    policy = Policy(**{"min_delay": 10, "max_delay": 60, "max_wait": 600, **changes})
    call = Call(world, name)
    run = WaitRun(DESCRIPTION, within.policy(policy), call, random=within.random)
    return Task(run, call, pool, group=within, ids=(name,))


def tasks_of(world, count, within=None, **changes):
    within, pool = within or group(), connections(100)
    return [task(world, str(index), within, pool, **changes) for index in range(count)]


def run(clock, tasks, **keywords):
    ended = {}
    for each in scheduled(tasks, executor=VirtualExecutor(clock), **keywords):
        ended[each.index] = clock.now
    assert sorted(ended) == list(range(len(tasks)))
    return ended


# --- calls ------------------------------------------------------------------------------------


def test_groups_take_turns_with_others_of_their_client(virtual_time):
    world, pool = World(virtual_time, latency=1), connections(1)
    many, few = group(limit=2), group()
    tasks = [task(world, f"m{index}", many, pool) for index in range(8)]
    tasks.append(task(world, "few", few, pool))
    run(virtual_time, tasks)
    assert world.polls_of("few") == [1]


@pytest.mark.parametrize(
    ("limit", "ids", "calls"),
    [
        (4, [["00"], ["10", "11", "12"], ["20", "21", "22"], ["30", "31"]], ["01", "2", "3"]),
        (1, [["same"]] * 30, ["".join(map(str, range(30)))]),
    ],
)
def test_a_call_asks_for_at_most_its_limit_of_ids(virtual_time, limit, ids, calls):
    world = World(virtual_time)
    tasks = tasks_of(world, len(ids), group(limit))
    for each, asked in zip(tasks, ids, strict=True):
        each.ids = asked
    run(virtual_time, tasks)
    assert ["".join(names) for _, names, _ in world.calls] == calls


# --- errors that may be about one -------------------------------------------------------------


def test_culprit_stays_alone_while_its_attempts_are_errors(virtual_time):
    ready_at = {str(i): 400 for i in range(8)}
    world = World(virtual_time, ready_at=ready_at, unknown={"3": 200})
    world.missing_is_retry = True
    tasks = tasks_of(world, 8)
    run(virtual_time, tasks)
    counts = world.calls_at()
    moments = list(counts)
    first, *early = [moment for moment in moments if moment < 200]
    late = [moment for moment in moments if moment >= 200]
    assert counts[first] == 7
    assert {counts[moment] for moment in early} == {2}
    # Once alone, then with the others again.
    assert [counts[moment] for moment in late] == [2, *[1] * (len(late) - 1)]
    assert all(isinstance(each.result, ResponseOutcome) for each in tasks)


@pytest.mark.parametrize(
    ("raises", "first", "later"),
    [
        # The batch, then the two omitted things: their own answer omits them as well.
        ("none", 2, 1),
        # The batch, those two, each of them: errors, and they stay alone.
        ("all", 4, 3),
    ],
)
def test_omitted_ids_are_asked_for_once_more(virtual_time, raises, first, later):
    ready_at = {str(i): 1000 for i in range(8)}
    world = World(virtual_time, ready_at=ready_at, unknown=["2", "5"])
    world.raises, world.missing_is_retry = raises, True
    tasks = tasks_of(world, 8, max_attempts=4)
    run(virtual_time, tasks)
    assert list(world.calls_at().values()) == [first, later, later, later]
    assert world.calls[1][1] == ["2", "5"]
    assert {each.result.attempts for each in tasks} == {4}


# --- one schedule -----------------------------------------------------------------------------


def every(seconds):
    return {"pace": lambda _: float(seconds)}


FIXED = {"min_delay": 20, "max_delay": 20}
LAST = {"max_wait": 25, "last_attempt": "deadline"}
SCHEDULES = {
    "the late one joins": [
        ("early", 90, every(30), [0, 30, 60, 90]),
        ("late", 90, {**every(30), "initial_delay": 7}, [30, 60, 90]),
    ],
    "no wait is polled before its initial delay": [
        ("early", 90, every(30), [0, 30, 60, 90]),
        ("late", 90, {**every(30), "initial_delay": 45}, [60, 90]),
    ],
    "no wait joins for which it would be too late": [
        ("early", 90, every(30), [0, 30, 60, 90]),
        ("late", 0, {**every(30), "initial_delay": 7, "max_wait": 32}, [7]),
    ],
    "a last attempt is made when it is due": [
        ("short", 24, {**every(20), **LAST}, [0, 20, 25]),
        ("long", 100, every(20), [0, 20, 40, 60, 80, 100]),
    ],
    "a last attempt postpones no other": [
        ("short", 1000, {**FIXED, "max_wait": 35}, [0, 34.75]),
        ("long", 100, FIXED, [0, 20, 40, 60, 80, 100]),
    ],
    "each has its own attempts": [
        ("few", 1000, {**every(30), "max_attempts": 2}, [0, 30]),
        ("many", 1000, {**every(30), "max_attempts": 4}, [0, 30, 60, 90]),
    ],
}


@pytest.mark.parametrize("waits", SCHEDULES.values(), ids=SCHEDULES)
def test_waits_share_a_schedule(virtual_time, waits):
    world, within, pool = World(virtual_time), group(), connections()
    world.ready_at = {name: ready_at for name, ready_at, _, _ in waits}
    run(virtual_time, [task(world, name, within, pool, **policy) for name, _, policy, _ in waits])
    assert [world.polls_of(name) for name in world.ready_at] == [polls for *_, polls in waits]


def test_slow_last_attempt_is_not_held_for_the_others(virtual_time):
    world, within, pool = World(virtual_time, latency=16), group(), connections()
    world.ready_at = {"short": 40, "later": 100}
    tasks = [
        task(world, "short", within, pool, max_wait=70, **every(30)),
        task(world, "later", within, pool, initial_delay=8, **every(30)),
    ]
    run(virtual_time, tasks)
    assert world.polls_of("short") == [0, 46]
    assert world.polls_of("later")[:2] == [8, 54]


def test_signal_to_one_wait_postpones_no_other(virtual_time):
    world = World(virtual_time, ready_at={"0": 400, "1": 400})
    tasks = tasks_of(world, 2, **every(30))
    tasks[0].wake = threading.Event()
    for moment in (12, 23, 28):
        virtual_time.call_at(moment, tasks[0].wake.set)
    run(virtual_time, tasks)
    assert world.polls_of("0")[:4] == [0, 12, 23, 28]
    assert world.polls_of("1")[:3] == [0, 30, 60]


def test_one_late_answer_postpones_no_other_wait(virtual_time):
    latencies = iter([0.1, 25.0])
    world = World(virtual_time, ready_at=dict.fromkeys("0123", 1e9))
    world.latency = lambda: next(latencies, 0.1)
    run(virtual_time, tasks_of(world, 4, group(limit=2), **every(30)))
    # In time: at 30.1, at 60.2. The delay after the late answer ends at 55.
    assert world.polls_of("0")[:3] == pytest.approx([0, 30.1, 60.2])
    assert world.polls_of("2")[:3] == pytest.approx([0, 60.2, 90.3])


def test_answers_in_sequence_postpone_the_whole_group(virtual_time):
    latencies = iter([0, 5, 10, 15, 20])
    world = World(virtual_time, ready_at={str(i): 1e9 for i in range(10)})
    world.latency = lambda: next(latencies, 0.1)
    run(virtual_time, tasks_of(world, 10, group(limit=2), **every(30)))
    assert {tuple(world.polls_of(str(index))[:2]) for index in range(10)} == {(0, 50)}


def test_delay_pace_is_called_once_for_the_group(virtual_time):
    draws = itertools.count(20)
    world = World(virtual_time, ready_at={str(i): 100 for i in range(30)})
    run(virtual_time, tasks_of(world, 30, pace=lambda _: float(next(draws))))
    assert world.calls_at() == {0: 3, 20: 3, 41: 3, 63: 3, 86: 3, 110: 3}


# --- ends -------------------------------------------------------------------------------------


def test_call_in_flight_ends_with_its_last_wait(virtual_time):
    world, within, pool = World(virtual_time, latency=60), group(), connections()
    tasks = [task(world, str(seconds), within, pool, max_wait=seconds) for seconds in (20, 50, 80)]
    ended = run(virtual_time, tasks)
    assert [time_left for _, _, time_left in world.calls] == [80]
    assert ended == pytest.approx({0: 20, 1: 50, 2: 60}, abs=0.01)
    kinds = [WaiterTimeoutError, WaiterTimeoutError, ResponseOutcome]
    assert [type(each.result) for each in tasks] == kinds


def test_screen_that_hangs_leaves_the_first_to_end_its_own_call(virtual_time):
    world, within = World(virtual_time, latency=1000), ScreenedGroup(SharedCall)
    pool, ends = connections(), range(100, 100 + FEWEST_WAITS)
    run(virtual_time, [task(world, str(end), within, pool, max_wait=end) for end in ends])
    assert world.calls[0][2] == 100
    assert within.waits == 0


def test_wait_cancelled_during_call_leaves_it_to_others(virtual_time):
    world = World(virtual_time, latency=30, unknown=["2"])
    tasks = tasks_of(world, 8)
    tasks[6].cancel = threading.Event()
    virtual_time.call_at(5, tasks[6].cancel.set)
    run(virtual_time, tasks)
    assert isinstance(tasks[6].result, WaiterCancelledError)
    assert isinstance(tasks[2].result, WaiterFailedError)
    others = [each.result for index, each in enumerate(tasks) if index not in (2, 6)]
    assert all(isinstance(result, ResponseOutcome) for result in others)
    assert all("6" not in names for _, names, _ in world.calls[1:])


def test_group_whose_waits_expired_in_queue_is_polled_again(virtual_time):
    world, within, pool = World(virtual_time), group(), connections()
    busy = World(virtual_time, latency=30)
    tasks = [
        task(busy, "busy", group(), connections()),
        task(world, "first", within, pool, max_wait=20),
        task(world, "second", within, pool, initial_delay=50),
    ]
    run(virtual_time, tasks, threads=1)
    assert isinstance(tasks[1].result, WaiterTimeoutError)
    assert [names for _, names, _ in world.calls] == [["second"]]


def test_halves_that_queue_too_long_time_out(virtual_time):
    world = World(virtual_time, latency=5, unknown=["0"])
    hung = World(virtual_time, latency=1000)
    tasks = tasks_of(world, 4, max_wait=45)
    tasks.append(task(hung, "hung", group(), connections(1), max_wait=2000))
    # With one thread, the call that hangs comes between the batch and its halves.
    ended = run(virtual_time, tasks, threads=1)
    assert [names for _, names, _ in world.calls] == [["0", "1", "2", "3"]]
    assert all(isinstance(each.result, WaiterTimeoutError) for each in tasks[:4])
    assert {each.result.attempts for each in tasks[:4]} == {1}
    assert [ended[index] for index in range(4)] == pytest.approx([45] * 4, abs=0.01)


# --- whatever happens -------------------------------------------------------------------------

THINGS = st.lists(
    st.fixed_dictionaries(
        {
            "ready_at": st.floats(0, 150),
            "unknown_until": st.one_of(st.just(0.0), st.floats(0, 100), st.just(1e9)),
            "initial_delay": st.sampled_from([0, 0, 0, 5, 33]),
        }
    ),
    min_size=1,
    max_size=25,
)


@given(
    things=THINGS,
    limit=st.integers(2, 10),
    threads=st.integers(1, 4),
    latency=st.sampled_from([0.0, 0.2, 3.0]),
    retried=st.booleans(),
    raises=st.sampled_from(["any", "all", "none"]),
)
def test_each_wait_ends_as_it_would_alone(things, limit, threads, latency, retried, raises):
    with open_virtual_time() as clock:
        world = World(clock, latency=latency)
        world.missing_is_retry, world.raises = retried, raises
        within, pool = group(limit), connections()
        tasks = []
        for index, thing in enumerate(things):
            world.ready_at[str(index)] = thing["ready_at"]
            world.unknown[str(index)] = thing["unknown_until"]
            initial = thing["initial_delay"]
            tasks.append(task(world, str(index), within, pool, initial_delay=initial))
        run(clock, tasks, threads=threads)
        assert clock.now <= 600 + 0.01
    assert pool.calling == pool.service.calling == 0
    assert all(len(names) <= limit for _, names, _ in world.calls)
    for index, (thing, each) in enumerate(zip(things, tasks, strict=True)):
        polls = world.polls_of(str(index))
        assert polls[0] >= thing["initial_delay"]
        unknown = polls[0] < thing["unknown_until"]
        if retried or raises == "none":
            expected = WaiterTimeoutError if thing["unknown_until"] > 600 else ResponseOutcome
            assert isinstance(each.result, expected)
        elif unknown and latency == 0:
            assert isinstance(each.result, WaiterFailedError)
        elif not unknown:
            assert isinstance(each.result, ResponseOutcome)
        if isinstance(each.result, ResponseOutcome):
            assert polls[-1] >= thing["ready_at"]
            assert each.result.response == {"name": str(index)}

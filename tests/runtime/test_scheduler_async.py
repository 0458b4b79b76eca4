"""Many waits in one event loop: what is awaited, and what is called in threads."""

import asyncio
import contextlib
import contextvars
import random
import threading

import pytest

from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.engine.model import AcceptorState, MatchedAcceptor
from boto_waiters_plus.exceptions import WaiterCancelledError, WaiterTimeoutError
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.runtime.attempt import Attempt
from boto_waiters_plus.runtime.schedule import Lane, Pool, Task
from boto_waiters_plus.runtime.scheduler_async import AsyncScheduler, run_in_task
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun

SUBJECT = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThing",
    service=None,
    goal="the thing is ready",
    acceptors=(MatchedAcceptor(0, "success"),),
    states=(AcceptorState.SUCCESS,),
)


class Awaited:
    """Ready from some time on; a look takes `latency` seconds of the loop's."""

    def __init__(self, clock, *, ready_at=0.0, latency=0.0):
        self.clock = clock
        self.ready_at = ready_at
        self.latency = latency
        self.looks = []
        self.cancelled = False

    async def poll(self, time_left):
        self.looks.append(self.clock.now)
        ready = self.clock.now >= self.ready_at
        try:
            await asyncio.sleep(self.latency)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return Attempt(facts=Facts(acceptor=0 if ready else None), response={})


class Called(Awaited):
    def poll(self, time_left):
        self.looks.append(self.clock.now)
        ready = self.clock.now >= self.ready_at
        return Attempt(facts=Facts(acceptor=0 if ready else None), response={})


def wait_run(**changes):
    policy = Policy(**{"min_delay": 2, "max_delay": 30, "max_wait": 300, **changes})
    return WaitRun(SUBJECT, policy, random=random.Random(0))


def every(seconds):
    return {"pace": lambda _: seconds}


async def ran(tasks, **keywords):
    return [task.index async for task in AsyncScheduler(tasks, **keywords).run()]


@pytest.mark.parametrize("kind", [Awaited, Called])
def test_waits_look_at_their_own_times(virtual_time, kind):
    things = [kind(virtual_time, ready_at=10 * i) for i in range(6)]
    tasks = [Task(wait_run(**every(5.0)), thing, Pool(Lane(), 10)) for thing in things]
    order = asyncio.run(ran(tasks))
    assert order == list(range(6))
    assert [thing.looks for thing in things] == [
        [5 * look for look in range(2 * i + 1)] for i in range(6)
    ]
    assert all(isinstance(task.result, ResponseOutcome) for task in tasks)


def test_awaited_calls_run_side_by_side_up_to_the_limits(virtual_time):
    things = [Awaited(virtual_time, latency=10) for _ in range(5)]
    pool = Pool(Lane(), 2)
    tasks = [Task(wait_run(), thing, pool) for thing in things]
    asyncio.run(ran(tasks))
    assert [thing.looks for thing in things] == [[0], [0], [10], [10], [20]]


def test_a_call_that_outlasts_its_time_does_not_hold_up_those_that_queue(virtual_time):
    pool = Pool(Lane(), 1)
    tasks = [
        Task(wait_run(max_wait=500), Awaited(virtual_time, latency=400), pool),
        Task(wait_run(max_wait=20), Awaited(virtual_time), pool),
    ]
    ended = {}

    async def run():
        async for task in AsyncScheduler(tasks).run():
            ended[task.index] = virtual_time.now

    asyncio.run(run())
    assert isinstance(tasks[1].result, WaiterTimeoutError)
    assert ended[1] == pytest.approx(20, abs=0.01)


@pytest.mark.parametrize("kind", [Awaited, Called])
def test_other_tasks_of_the_loop_have_their_turns(virtual_time, kind):
    things = [kind(virtual_time, ready_at=1e9) for _ in range(5)]
    tasks = [Task(wait_run(max_wait=60, **every(1.0)), thing, Pool(Lane(), 10)) for thing in things]
    ticks = []

    async def tick():
        while True:
            await asyncio.sleep(7)
            ticks.append(virtual_time.now)

    async def run():
        ticking = asyncio.create_task(tick())
        await ran(tasks)
        ticking.cancel()

    asyncio.run(run())
    assert ticks == [7, 14, 21, 28, 35, 42, 49, 56]


def test_answers_that_are_there_at_once_do_not_keep_the_loop_to_themselves(virtual_time):
    turns = []

    class Counting(Called):
        def poll(self, time_left):
            self.turns = len(turns)
            return super().poll(time_left)

    async def turn():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    async def run():
        turning = asyncio.create_task(turn())
        await ran(tasks)
        turning.cancel()

    things = [Counting(virtual_time) for _ in range(20)]
    pool = Pool(Lane(), 1)
    tasks = [Task(wait_run(), thing, pool) for thing in things]
    asyncio.run(run())
    assert things[-1].turns > things[0].turns


def test_what_a_port_raises_is_the_error_of_its_wait_alone(virtual_time):
    class Broken:
        async def poll(self, time_left):
            raise ZeroDivisionError

    tasks = [
        Task(wait_run(), Broken(), Pool(Lane(), 1)),
        Task(wait_run(), Awaited(virtual_time), Pool(Lane(), 1)),
    ]
    asyncio.run(ran(tasks))
    assert isinstance(tasks[0].result, ZeroDivisionError)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_a_cancel_event_ends_its_wait_alone(virtual_time):
    stop = threading.Event()
    virtual_time.call_at(30, stop.set)
    tasks = [
        Task(wait_run(), Awaited(virtual_time, ready_at=1e9), Pool(Lane(), 1), cancel=stop),
        Task(wait_run(), Awaited(virtual_time, ready_at=50), Pool(Lane(), 1)),
    ]
    ended = {}

    async def run():
        async for task in AsyncScheduler(tasks).run():
            ended[task.index] = virtual_time.now

    asyncio.run(run())
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert ended[0] == pytest.approx(30, abs=0.06)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_a_signal_makes_its_wait_look_at_once(virtual_time):
    news = threading.Event()
    virtual_time.call_at(12.5, news.set)
    thing = Awaited(virtual_time, ready_at=12)
    task = Task(wait_run(min_delay=100, max_delay=200), thing, Pool(Lane(), 1), wake=news)
    asyncio.run(ran([task]))
    assert thing.looks == pytest.approx([0, 12.5], abs=0.06)


def test_cancelling_the_task_leaves_nothing_behind():
    class Hanging:
        def __init__(self):
            self.begun = asyncio.Event()
            self.ended = False

        async def poll(self, time_left):
            self.begun.set()
            try:
                await asyncio.sleep(1000)
            finally:
                # Letting go of a connection takes a few turns of the loop.
                for _ in range(5):
                    await asyncio.sleep(0)
                self.ended = True

    async def run():
        hanging = Hanging()
        waiting = asyncio.create_task(ran([Task(wait_run(), hanging, Pool(Lane(), 1))]))
        await hanging.begun.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert hanging.ended
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_cancelling_the_task_stops_calls_in_threads():
    stop = threading.Event()
    begun, ended = threading.Event(), threading.Event()

    class Hanging:
        def poll(self, time_left):
            begun.set()
            assert stop.wait(30)
            ended.set()
            return Attempt(facts=Facts(acceptor=None), cut_off="cancel")

    async def run():
        task = Task(wait_run(), Hanging(), Pool(Lane(), 1))
        waiting = asyncio.create_task(ran([task], stop=stop))
        assert await asyncio.to_thread(begun.wait, 30)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    assert ended.wait(30)


def test_the_answer_of_a_call_left_to_itself_does_not_need_the_loop(monkeypatch):
    errors = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    released, begun = threading.Event(), threading.Event()
    threads = []

    class Hanging:
        def poll(self, time_left):
            threads.append(threading.current_thread())
            begun.set()
            assert released.wait(30)
            return Attempt(facts=Facts(acceptor=0), response={})

    async def run():
        waiting = asyncio.create_task(ran([Task(wait_run(), Hanging(), Pool(Lane(), 1))]))
        assert await asyncio.to_thread(begun.wait, 30)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    released.set()
    threads[0].join(30)
    assert not threads[0].is_alive()
    assert errors == []


@pytest.mark.parametrize("kind", ["awaited", "called"])
def test_calls_see_the_context_that_was_given(kind):
    variable = contextvars.ContextVar("variable", default="outside")
    seen = []

    class Sees:
        def poll(self, time_left):
            seen.append(variable.get())
            return Attempt(facts=Facts(acceptor=0), response={})

    class SeesAwaited(Sees):
        async def poll(self, time_left):
            return super().poll(time_left)

    context = contextvars.copy_context()
    context.run(variable.set, "inside")
    port = Sees() if kind == "called" else SeesAwaited()
    asyncio.run(ran([Task(wait_run(), port, Pool(Lane(), 1))], context=context))
    assert seen == ["inside"]


def test_a_run_goes_on_in_its_task_while_the_caller_is_busy(virtual_time):
    things = [Awaited(virtual_time, ready_at=10 * i) for i in range(3)]
    tasks = [Task(wait_run(**every(10.0)), thing, Pool(Lane(), 1)) for thing in things]
    ended = []

    async def run():
        async with contextlib.aclosing(run_in_task(AsyncScheduler(tasks).run())) as items:
            async for task in items:
                await asyncio.sleep(100)
                ended.append((task.index, virtual_time.now))

    asyncio.run(run())
    assert ended == [(0, 100), (1, 200), (2, 300)]
    assert things[2].looks == [0, 10, 20]


def test_closing_a_run_in_a_task_stops_it(virtual_time):
    hung = Awaited(virtual_time, latency=1000)
    tasks = [
        Task(wait_run(), Awaited(virtual_time), Pool(Lane(), 1)),
        Task(wait_run(), hung, Pool(Lane(), 1)),
    ]

    async def run():
        items = run_in_task(AsyncScheduler(tasks).run())
        assert await anext(items) is tasks[0]
        await items.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert hung.cancelled


def test_an_error_of_a_run_in_a_task_is_the_callers():
    async def broken():
        raise ZeroDivisionError
        yield

    async def run():
        async for _ in run_in_task(broken()):
            pass

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())

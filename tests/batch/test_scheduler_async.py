"""Many waits in one event loop, with calls that are awaited or made in threads."""

import asyncio
import contextlib
import contextvars
import threading

import freezegun
import pytest
from batch.calls import connections, scheduled_async, wait_run

from boto_waiters_plus.batch.scheduler_async import run_in_task
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import Task
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.exceptions import WaiterCancelledError, WaiterTimeoutError
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.wait.attempt import Attempt


class Awaited:
    """An awaited call, which takes `latency` seconds; its thing is ready from some time on."""

    def __init__(self, clock, *, ready_at=0.0, latency=0.0):
        self.clock = clock
        self.ready_at = ready_at
        self.latency = latency
        self.polls = []
        self.cancelled = False

    async def make(self, time_left):
        self.polls.append(self.clock.now)
        ready = self.clock.now >= self.ready_at
        try:
            await asyncio.sleep(self.latency)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return Reply(Attempt(facts=Facts(acceptor=0 if ready else None), response={}))


class Called(Awaited):
    def make(self, time_left):
        self.polls.append(self.clock.now)
        ready = self.clock.now >= self.ready_at
        return Reply(Attempt(facts=Facts(acceptor=0 if ready else None), response={}))


def every(seconds):
    return {"pace": lambda _: seconds}


async def ended_at(clock, tasks):
    return {task.index: clock.now async for task in scheduled_async(tasks)}


async def ran(tasks, **keywords):
    return [task.index async for task in scheduled_async(tasks, **keywords)]


@pytest.mark.parametrize("kind", [Awaited, Called])
def test_waits_poll_by_their_own_schedules(virtual_time, kind):
    things = [kind(virtual_time, ready_at=10 * i) for i in range(6)]
    tasks = [Task(wait_run(**every(5.0)), thing, connections()) for thing in things]
    order = asyncio.run(ran(tasks))
    assert order == list(range(6))
    assert [thing.polls for thing in things] == [
        [5 * number for number in range(2 * i + 1)] for i in range(6)
    ]
    assert all(isinstance(task.result, ResponseOutcome) for task in tasks)


def test_awaited_calls_stay_within_the_connections(virtual_time):
    things = [Awaited(virtual_time, latency=10) for _ in range(5)]
    pool = connections(2)
    tasks = [Task(wait_run(), thing, pool) for thing in things]
    asyncio.run(ran(tasks))
    assert [thing.polls for thing in things] == [[0], [0], [10], [10], [20]]


def test_hung_clients_hold_no_wait_past_its_deadline(virtual_time):
    service = ServiceLimiter()
    tasks = [
        Task(
            wait_run(max_wait=20),
            Awaited(virtual_time, latency=1000),
            ClientConnections(service, 10),
        )
        for _ in range(36)
    ]
    late = Awaited(virtual_time)
    tasks.append(Task(wait_run(max_wait=2), late, ClientConnections(service, 10)))
    ended = asyncio.run(ended_at(virtual_time, tasks))
    assert ended[36] == pytest.approx(2, abs=0.01)
    assert max(ended.values()) == pytest.approx(20, abs=0.01)
    assert (tasks[36].result.attempts, late.polls) == (0, [])


@pytest.mark.parametrize("kind", [Awaited, Called])
def test_other_tasks_of_the_loop_have_their_turns(virtual_time, kind):
    things = [kind(virtual_time, ready_at=1e9) for _ in range(5)]
    tasks = [Task(wait_run(max_wait=60, **every(1.0)), thing, connections()) for thing in things]
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


def test_immediate_replies_leave_turns_to_other_tasks(virtual_time):
    turns = []

    class Counting(Called):
        def make(self, time_left):
            self.turns = len(turns)
            return super().make(time_left)

    async def turn():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    async def run():
        turning = asyncio.create_task(turn())
        await ran(tasks)
        turning.cancel()

    things = [Counting(virtual_time) for _ in range(20)]
    pool = connections(1)
    tasks = [Task(wait_run(), thing, pool) for thing in things]
    asyncio.run(run())
    assert things[-1].turns > things[0].turns


def test_error_raised_by_a_call_ends_its_wait_only(virtual_time):
    class Broken:
        async def make(self, time_left):
            raise ZeroDivisionError

    tasks = [
        Task(wait_run(), Broken(), connections(1)),
        Task(wait_run(), Awaited(virtual_time), connections(1)),
    ]
    asyncio.run(ran(tasks))
    assert isinstance(tasks[0].result, ZeroDivisionError)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_cancel_event_of_a_wait_ends_it_only(virtual_time):
    stop = threading.Event()
    virtual_time.call_at(30, stop.set)
    tasks = [
        Task(wait_run(), Awaited(virtual_time, ready_at=1e9), connections(1), cancel=stop),
        Task(wait_run(), Awaited(virtual_time, ready_at=50), connections(1)),
    ]
    ended = asyncio.run(ended_at(virtual_time, tasks))
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert ended[0] == pytest.approx(30, abs=0.06)
    assert isinstance(tasks[1].result, ResponseOutcome)


@pytest.mark.timeout(10)
def test_frozen_clock_ends_the_run():
    class Creating:
        async def make(self, time_left):
            return Reply(Attempt(facts=Facts(acceptor=None), response={}))

    task = Task(wait_run(max_wait=0.05, **every(0.02)), Creating(), connections())
    with freezegun.freeze_time("2024-01-01", real_asyncio=True):
        asyncio.run(ran([task]))
    assert isinstance(task.result, WaiterTimeoutError)


def test_cancelling_the_task_leaves_no_tasks():
    class Hanging:
        def __init__(self):
            self.begun = asyncio.Event()
            self.ended = False

        async def make(self, time_left):
            self.begun.set()
            try:
                await asyncio.sleep(1000)
            finally:
                # Closing a connection takes a few turns of the loop.
                for _ in range(5):
                    await asyncio.sleep(0)
                self.ended = True

    async def run():
        hanging = Hanging()
        waiting = asyncio.create_task(ran([Task(wait_run(), hanging, connections(1))]))
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
        def make(self, time_left):
            begun.set()
            assert stop.wait(30)
            ended.set()
            return Reply(ended="cancelled")

    async def run():
        task = Task(wait_run(), Hanging(), connections(1))
        waiting = asyncio.create_task(ran([task], stop=stop))
        assert await asyncio.to_thread(begun.wait, 30)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    assert ended.wait(30)


def test_abandoned_call_does_not_need_the_loop(monkeypatch):
    errors = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    released, begun = threading.Event(), threading.Event()
    threads = []

    class Hanging:
        def make(self, time_left):
            threads.append(threading.current_thread())
            begun.set()
            assert released.wait(30)
            return Reply(Attempt(facts=Facts(acceptor=0), response={}))

    async def run():
        waiting = asyncio.create_task(ran([Task(wait_run(), Hanging(), connections(1))]))
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
def test_calls_see_the_given_context(kind):
    variable = contextvars.ContextVar("variable", default="outside")
    seen = []

    class Sees:
        def make(self, time_left):
            seen.append(variable.get())
            return Reply(Attempt(facts=Facts(acceptor=0), response={}))

    class SeesAwaited(Sees):
        async def make(self, time_left):
            return super().make(time_left)

    context = contextvars.copy_context()
    context.run(variable.set, "inside")
    call = Sees() if kind == "called" else SeesAwaited()
    asyncio.run(ran([Task(wait_run(), call, connections(1))], context=context))
    assert seen == ["inside"]


def test_run_in_task_goes_on_while_caller_is_busy(virtual_time):
    things = [Awaited(virtual_time, ready_at=10 * i) for i in range(3)]
    tasks = [Task(wait_run(**every(10.0)), thing, connections(1)) for thing in things]
    ended = []

    async def run():
        async with contextlib.aclosing(run_in_task(scheduled_async(tasks))) as items:
            async for task in items:
                await asyncio.sleep(100)
                ended.append((task.index, virtual_time.now))

    asyncio.run(run())
    assert ended == [(0, 100), (1, 200), (2, 300)]
    assert things[2].polls == [0, 10, 20]


def test_closing_a_run_in_task_stops_it(virtual_time):
    hung = Awaited(virtual_time, latency=1000)
    tasks = [
        Task(wait_run(), Awaited(virtual_time), connections(1)),
        Task(wait_run(), hung, connections(1)),
    ]

    async def run():
        items = run_in_task(scheduled_async(tasks))
        assert await anext(items) is tasks[0]
        await items.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert hung.cancelled


def test_error_of_a_run_in_task_is_raised():
    async def broken():
        raise ZeroDivisionError
        yield

    async def run():
        async for _ in run_in_task(broken()):
            pass

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())

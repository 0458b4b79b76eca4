"""Virtual time in tasks and threads: everything happens in the order of its time."""

import asyncio
import threading

import pytest

from boto_waiters_plus import WaiterTimeoutError
from boto_waiters_plus.conditions import wait_for, wait_for_async
from boto_waiters_plus.engine.machine import Cancelled, Woken
from boto_waiters_plus.testing import loop_jumper
from boto_waiters_plus.wait.pauses import pause_async


def test_a_task_sleeps_in_virtual_time(virtual_time):
    async def main():
        assert await asyncio.sleep(5, result="slept") == "slept"
        assert await asyncio.sleep(0) is None
        await asyncio.sleep(-1)
        return virtual_time.now

    assert asyncio.run(main()) == 5


def test_tasks_wake_in_the_order_of_their_times(virtual_time):
    woken = []

    async def sleeper(name, *delays):
        for delay in delays:
            await asyncio.sleep(delay)
            woken.append((name, virtual_time.now))

    async def main():
        await asyncio.gather(sleeper("a", 3, 3, 3), sleeper("b", 4, 4), sleeper("c", 1, 10))

    asyncio.run(main())
    assert woken == [("c", 1), ("a", 3), ("b", 4), ("a", 6), ("b", 8), ("a", 9), ("c", 11)]


async def turns(count):
    loop = asyncio.get_running_loop()
    for _ in range(count):
        turn = loop.create_future()
        loop.call_soon(turn.set_result, None)
        await turn


async def time_after(clock, work):
    """Return the time after some work beside a task that sleeps."""
    sleeper = asyncio.ensure_future(asyncio.sleep(1000))
    await work
    now = clock.now
    sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)
    return now


async def real(seconds):
    """Act as input and output do: the loop has nothing to run, and real time passes."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    loop.call_later(seconds, done.set_result, None)
    await done


def test_time_stops_while_any_task_can_run(virtual_time):
    assert asyncio.run(time_after(virtual_time, turns(1000))) == 0


def test_time_stops_for_some_turns_in_other_loops(virtual_time, monkeypatch):
    """Such as uvloop, which does not show what is ready to run."""
    monkeypatch.setattr(loop_jumper, "ready_of", lambda _: None)
    assert asyncio.run(time_after(virtual_time, turns(8))) == 0
    assert asyncio.run(time_after(virtual_time, asyncio.sleep(5))) == 5


def test_asyncio_loops_show_what_is_ready():
    async def main():
        loop = asyncio.get_running_loop()
        before = len(loop_jumper.ready_of(loop))
        loop.call_soon(int)
        return len(loop_jumper.ready_of(loop)) - before

    assert asyncio.run(main()) == 1


# --- hold -----------------------------------------------------------------------


def test_time_stops_while_it_is_held(virtual_time):
    async def held():
        with virtual_time.hold():
            await real(0.05)
            await asyncio.to_thread(threading.Event().wait, 0.05)

    assert asyncio.run(time_after(virtual_time, held())) == 0


def test_a_holder_may_sleep_itself(virtual_time):
    async def held():
        with virtual_time.hold():
            await real(0.02)
            await asyncio.sleep(5)
            with virtual_time.hold():
                await asyncio.ensure_future(asyncio.sleep(3))
            await real(0.02)

    assert asyncio.run(time_after(virtual_time, held())) == 8


def test_a_sleeping_holder_does_not_release_others(virtual_time):
    async def held(work):
        with virtual_time.hold():
            await work

    async def main():
        await asyncio.gather(held(asyncio.sleep(5)), held(noted()))

    async def noted():
        await real(0.05)
        times.append(virtual_time.now)

    times = []
    assert asyncio.run(time_after(virtual_time, main())) == 5
    assert times == [0]


def test_waits_of_several_tasks_poll_in_turn(virtual_time):
    calls = []

    async def waiting(name, delay, ready_at):
        async def call():
            calls.append((name, virtual_time.now))
            return virtual_time.now >= ready_at and virtual_time.now

        return await wait_for_async(call, max_wait=60, interval=delay)

    async def main():
        return await asyncio.gather(waiting("a", 3, 9), waiting("b", 4, 6))

    assert asyncio.run(main()) == [9, 8]
    assert calls == [("a", 0), ("b", 0), ("a", 3), ("b", 4), ("a", 6), ("b", 8), ("a", 9)]


def test_a_planned_action_wakes_a_task(virtual_time):
    async def main():
        event = asyncio.Event()
        virtual_time.call_at(5, event.set)
        sleeper = asyncio.ensure_future(asyncio.sleep(20))
        await event.wait()
        now = virtual_time.now
        await sleeper
        return now, virtual_time.now

    assert asyncio.run(main()) == (5, 20)


def test_a_pause_of_a_task_ends_with_its_events(virtual_time):
    wake, cancel = threading.Event(), threading.Event()
    virtual_time.call_at(3, wake.set)
    virtual_time.call_at(7, cancel.set)

    async def main():
        first = await pause_async(10, cancel=cancel, wake=wake)
        second = await pause_async(10, cancel=cancel, wake=wake)
        return first, second

    assert asyncio.run(main()) == (Woken(early=True), Cancelled())
    assert virtual_time.now == pytest.approx(7, abs=0.06)


def test_waits_of_other_threads_follow_it(virtual_time):
    ended = []

    def target():
        with pytest.raises(WaiterTimeoutError):
            wait_for(dict, max_wait=3600, interval=5)
        ended.append(1)

    threads = [threading.Thread(target=target) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert ended == [1] * 4


def test_loops_of_other_threads_follow_it(virtual_time):
    ended = []

    def target():
        asyncio.run(asyncio.sleep(3600))
        ended.append(virtual_time.now >= 3600)

    threads = [threading.Thread(target=target) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert ended == [True, True]


def test_locks_and_events_keep_real_timeouts(virtual_time):
    assert not threading.Event().wait(0.001)
    assert virtual_time.now == 0

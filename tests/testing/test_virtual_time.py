"""Virtual time in blocking code and in tasks: everything happens in the order of its time."""

import asyncio
import concurrent.futures
import contextlib
import threading
import time

import freezegun
import pytest

from boto_waiters_plus.testing import loop_jumper
from boto_waiters_plus.testing import virtual_time as open_virtual_time


def real_names():
    of_time = time.monotonic, time.sleep, asyncio.base_events.time
    return *of_time, asyncio.sleep, threading.Condition.wait


def test_everything_is_restored_after_an_error():
    before = real_names()
    with open_virtual_time() as clock:
        during = real_names()
        with pytest.raises(RuntimeError, match="nest"), open_virtual_time():
            pytest.fail("opened twice")
        assert (real_names(), clock.now) == (during, 0)
    assert all(one is not other for one, other in zip(before, during, strict=True))
    with pytest.raises(KeyboardInterrupt), open_virtual_time():
        raise KeyboardInterrupt
    assert real_names() == before
    with open_virtual_time():
        pass


def test_time_does_not_go_back(virtual_time):
    with pytest.raises(ValueError):
        virtual_time.advance(-1)
    with pytest.raises(ValueError):
        time.sleep(-1)
    assert virtual_time.now == 0


def test_timers_of_event_loops_stay_real_after_freezegun():
    """It leaves a copy of the method that tells the time on the class of the loop."""
    with freezegun.freeze_time("2024-01-01", real_asyncio=True):
        pass
    with contextlib.closing(asyncio.new_event_loop()) as loop, open_virtual_time() as clock:
        before = loop.time()
        clock.advance(1_000_000)
        assert 0 <= loop.time() - before < 50_000


def test_wall_clock_stays_real(virtual_time):
    before = time.time()
    time.sleep(100_000)
    assert time.time() - before < 50_000


def test_planned_actions_happen_in_order(virtual_time):
    happened = []

    def note(word):
        return lambda: happened.append((word, virtual_time.now))

    def first():
        time.sleep(2)
        virtual_time.call_at(6, note("planned by an action"))

    virtual_time.call_at(7, note("later"))
    virtual_time.call_at(3, note("sooner"))
    virtual_time.call_at(3, first)
    virtual_time.call_at(50, note("not yet"))
    virtual_time.advance(10)
    virtual_time.call_at(3, note("in the past"))
    virtual_time.advance(0)
    words = ["sooner", "planned by an action", "later", "in the past"]
    assert happened == list(zip(words, [3, 6, 7, 10], strict=True))
    assert virtual_time.now == 10


def test_timeouts_of_locks_and_events_stay_real(virtual_time):
    assert not threading.Event().wait(0.001)
    assert virtual_time.now == 0


SAFETY = 60
"""Real seconds in which all of this ends on any machine."""


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


# --- what stops time ---


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


async def real(seconds=0.02):
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


def test_time_stops_while_it_is_held_unless_the_holder_sleeps(virtual_time):
    async def held():
        with virtual_time.hold():
            await real()
            await asyncio.to_thread(threading.Event().wait, 0.02)
            assert virtual_time.now == 0
            await asyncio.sleep(5)
            with virtual_time.hold():
                await asyncio.ensure_future(asyncio.sleep(3))
            await real()

    assert asyncio.run(time_after(virtual_time, held())) == 8


def test_a_sleeping_holder_does_not_release_others(virtual_time):
    async def held(work):
        with virtual_time.hold():
            await work

    async def noted():
        await real()
        times.append(virtual_time.now)

    async def main():
        await asyncio.gather(held(asyncio.sleep(5)), held(noted()))

    times = []
    assert asyncio.run(time_after(virtual_time, main())) == 5
    assert times == [0]


# --- waits and actions ---


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


def test_loops_of_other_threads_follow_it(virtual_time):
    def target():
        asyncio.run(asyncio.sleep(3600))
        return virtual_time.now >= 3600

    with concurrent.futures.ThreadPoolExecutor() as threads:
        futures = [threads.submit(target) for _ in range(2)]
        assert all(future.result(SAFETY) for future in futures)

"""`Signal`: it ends delays in threads, tasks and virtual time."""

import asyncio
import copy
import pickle
import threading

import pytest
from conditions.conftest import Box

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import Signal, wait_for, wait_for_async

LONG = 120
"""Seconds that a wait takes if a notification is lost."""
SOON = 30
"""Seconds in which a woken thread runs on any machine."""


@pytest.fixture
def box(virtual_time):
    return Box(virtual_time)


@pytest.mark.parametrize("make", [Signal, threading.Event])
@pytest.mark.parametrize(("options", "times"), [
    ({"interval": 20}, [0, 3.21]),
    ({"initial_delay": 30}, [3.21]),
    ({"polling": False}, [0, 3.21]),
    ({"polling": False, "cancel_event": threading.Event()}, [0, 3.21]),
    # Polling continues beside the signal.
    ({"interval": 2}, [0, 2, 3.21]),
])  # fmt: skip
def test_a_signal_ends_a_delay(forms, box, make, options, times):
    signal = make()
    if make is Signal:
        # No wait remembers what was before it.
        signal.notify()
    box.fill_at(3.21, signal.set)
    assert forms.wait_for(box.read, max_wait=60, signal=signal, **options) == "full"
    assert box.times == pytest.approx(times, abs=0.06)
    assert make is Signal or not signal.is_set()


@pytest.mark.parametrize(
    ("options", "times"), [({"polling": False}, [0, 59.75]), ({"interval": 4}, [0, 4, 8])]
)
def test_attempts_without_a_signal_remain(forms, box, options, times):
    box.fill_at(5)
    result = forms.wait_for(box.read, max_wait=60, signal=Signal(), **options)
    assert (result, box.times) == ("full", times)


def test_without_polling_only_signals_start_attempts(forms, box, virtual_time):
    signal = Signal()
    for when in (1, 2.5):
        virtual_time.call_at(when, signal.notify)
    box.fill_at(9, signal.notify)
    assert forms.wait_for(box.read, max_wait=60, signal=signal, polling=False) == "full"
    assert box.times == [0, 1, 2.5, 9]


def test_a_signal_alone_does_not_end_a_wait(forms, box, virtual_time):
    signal = Signal()
    virtual_time.call_at(59.8, signal.notify)
    virtual_time.call_at(30, signal.notify)
    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(box.read, max_wait=60, signal=signal, polling=False)
    assert box.times[:2] == [0, 30]
    assert virtual_time.now >= 59.5


def test_a_signal_wakes_many_tasks_by_its_name(box):
    box.fill_at(5, Signal("many").notify)

    async def main():
        return await asyncio.gather(
            *(wait_for_async(box.read, max_wait=60, signal="many", polling=False) for _ in range(9))
        )

    assert asyncio.run(main()) == ["full"] * 9
    assert box.times == [0] * 9 + [5] * 9


@pytest.mark.parametrize("consumer", ["thread", "loop"])
def test_no_notification_is_ever_lost(consumer):
    """Each item is put after the last one was seen, so that one lost notification stops it."""
    signal, rounds = Signal(), 300
    put, seen = [0], threading.Semaphore(0)

    async def consume():
        options = {"max_wait": LONG, "signal": signal, "polling": False}
        for number in range(1, rounds + 1):
            if consumer == "thread":
                wait_for(lambda n=number: put[0] >= n, **options)
            else:
                await wait_for_async(lambda n=number: put[0] >= n, **options)
            seen.release()

    thread = threading.Thread(target=lambda: asyncio.run(consume()), daemon=True)
    thread.start()
    for _ in range(rounds):
        put[0] += 1
        signal.notify()
        assert seen.acquire(timeout=SOON), f"stuck at item {put[0]}"
    thread.join(SOON)


def test_a_closed_loop_does_no_harm_to_notify():
    signal = Signal()

    async def listening():
        wait = wait_for_async(lambda: None, max_wait=LONG, signal=signal, polling=False)
        task = asyncio.get_running_loop().create_task(wait)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task

    loop = asyncio.new_event_loop()
    task = loop.run_until_complete(listening())
    task._log_destroy_pending = False  # It is left behind on purpose.
    loop.close()
    signal.notify()
    del task


def test_a_listener_may_notify_its_own_signal():
    signal, calls = Signal(), []

    def listener():
        calls.append(1)
        if len(calls) < 3:
            signal.notify()

    stop = signal.subscribe().listen(listener)
    signal.notify()
    stop()
    signal.notify()
    assert len(calls) == 3


def test_signals_of_one_name_are_equal():
    one, same, other, nameless = Signal("a"), Signal("a"), Signal("b"), Signal()
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, other, nameless, Signal()}) == 4
    assert (repr(one), repr(nameless)) == ("Signal('a')", "Signal()")
    with pytest.raises(TypeError):
        Signal([])


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_signal_cannot_be_copied(take):
    with pytest.raises(TypeError, match="one process"):
        take(Signal("a"))


def test_subscriptions_are_independent():
    signal, other = Signal("a"), Signal("b")
    early, of_other = signal.subscribe(), other.subscribe()
    assert signal.notify() is None
    late = Signal("a").subscribe()
    assert [early.is_set(), late.is_set(), of_other.is_set()] == [True, False, False]
    Signal("a").set()
    early.clear()
    assert [early.is_set(), late.is_set(), late.wait(0)] == [False, True, True]

"""`Signal`: waits that look again at once, in threads, tasks and virtual time."""

import asyncio
import copy
import gc
import pickle
import threading

import boto3
import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import (
    Signal,
    poll,
    poll_async,
    steps,
    wait_for,
    wait_for_async,
)
from boto_waiters_plus.signals import signalling

LONG = 120
"""Seconds that a wait may take where a wake-up that got lost would make it take them."""
SOON = 30
"""Seconds in which a woken thread has had its turn on any machine."""


class Box:
    """Something that becomes full at a time, and remembers when it was looked at."""

    def __init__(self, clock):
        self._clock = clock
        self.content = None
        self.times = []

    def look(self):
        self.times.append(round(self._clock.now, 3))
        return self.content

    def fill_at(self, when, signal, content="full"):
        def fill():
            self.content = content
            signal.notify()

        self._clock.call_at(when, fill)


@pytest.fixture
def box(virtual_time):
    return Box(virtual_time)


# --- waits in virtual time ---------------------------------------------------


def test_a_signalled_wait_looks_again_at_once(forms, box):
    signal = Signal()
    box.fill_at(3.21, signal)
    assert forms.wait_for(box.look, max_wait=60, interval=20, signal=signal) == "full"
    assert box.times == [0, 3.21]


def test_a_signal_of_the_same_name_is_the_same(forms, box):
    box.fill_at(3.21, Signal(("buffer", 7)))
    assert forms.wait_for(box.look, max_wait=60, interval=20, signal=("buffer", 7)) == "full"
    assert box.times == [0, 3.21]


def test_polling_remains_as_the_safety_net(forms, box, virtual_time):
    virtual_time.call_at(5, lambda: setattr(box, "content", "unannounced"))
    assert forms.wait_for(box.look, max_wait=60, interval=2, signal=Signal()) == "unannounced"
    assert box.times == [0, 2, 4, 6]


def test_without_polling_only_signals_make_it_look(forms, box, virtual_time):
    signal = Signal()
    for when in (1, 2.5):
        virtual_time.call_at(when, signal.notify)
    box.fill_at(9, signal)
    assert forms.wait_for(box.look, max_wait=60, signal=signal, polling=False) == "full"
    assert box.times == [0, 1, 2.5, 9]


def test_without_polling_the_look_at_the_end_remains(forms, box, virtual_time):
    virtual_time.call_at(5, lambda: setattr(box, "content", "unannounced"))
    result = forms.wait_for(box.look, max_wait=60, signal=Signal(), polling=False)
    assert result == "unannounced"
    assert box.times == [0, 59.75]


def test_a_signal_that_changes_nothing_does_not_end_the_wait(forms, box, virtual_time):
    signal = Signal()
    virtual_time.call_at(59.8, signal.notify)
    virtual_time.call_at(30, signal.notify)
    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(box.look, max_wait=60, signal=signal, polling=False)
    assert box.times[:2] == [0, 30]
    assert virtual_time.now >= 59.5


def test_a_signal_during_a_look_counts(forms, virtual_time):
    signal = Signal()
    times = []

    def look():
        times.append(round(virtual_time.now, 2))
        if len(times) == 1:
            signal.notify()
            return None
        return "full"

    assert forms.wait_for(look, max_wait=60, signal=signal, polling=False) == "full"
    assert times == [0, 0]


def test_a_signal_before_the_wait_is_none_of_its(forms, box):
    signal = Signal()
    signal.notify()
    box.fill_at(5, signal)
    forms.wait_for(box.look, max_wait=60, signal=signal, polling=False)
    assert box.times == [0, 5]


def test_a_signal_ends_the_initial_delay(forms, box):
    signal = Signal()
    box.fill_at(2, signal)
    forms.wait_for(box.look, max_wait=60, initial_delay=30, signal=signal)
    assert box.times == [2]


def test_a_cancelled_wait_ends_though_it_has_a_signal_too(forms, box, virtual_time):
    stop = threading.Event()
    virtual_time.call_at(5, stop.set)
    with pytest.raises(bwp.WaiterCancelledError):
        forms.wait_for(box.look, max_wait=60, signal=Signal(), polling=False, cancel_event=stop)
    assert virtual_time.now == pytest.approx(5, abs=0.06)


def test_a_signal_and_a_cancel_event_work_together(forms, box):
    signal = Signal()
    box.fill_at(5.02, signal)
    result = forms.wait_for(
        box.look, max_wait=60, signal=signal, polling=False, cancel_event=threading.Event()
    )
    assert result == "full"
    assert box.times == [0, pytest.approx(5.02, abs=0.06)]


def test_a_thread_event_serves_as_a_signal(forms, box, virtual_time):
    event = threading.Event()
    virtual_time.call_at(2.95, lambda: setattr(box, "content", "full"))
    virtual_time.call_at(3, event.set)
    forms.wait_for(box.look, max_wait=60, interval=20, signal=event)
    assert box.times == [0, pytest.approx(3, abs=0.06)]
    assert not event.is_set()


def test_many_tasks_on_one_signal_all_wake(box):
    signal = Signal()
    box.fill_at(5, signal)

    async def main():
        return await asyncio.gather(
            *(wait_for_async(box.look, max_wait=60, signal=signal, polling=False) for _ in range(9))
        )

    assert asyncio.run(main()) == ["full"] * 9
    assert box.times == [0] * 9 + [5] * 9


def test_steps_share_a_signal(box, virtual_time):
    signal = Signal()
    box.fill_at(5, signal, "a")
    box.fill_at(8, signal, "b")
    with steps(max_wait=60, signal=signal, polling=False) as step:
        assert step.wait_for_match(box.look, "a") == "a"
        assert step.wait_for_match(box.look, "b") == "b"
    assert box.times == [0, 5, 5, 8]


READY = {
    "acceptors": [
        {
            "state": "success",
            "matcher": {"output": {"path": "@", "expected": "full", "comparator": "stringEquals"}},
        }
    ]
}


def test_poll_takes_a_signal(box):
    signal = Signal()
    box.fill_at(3.21, signal)
    poll(box.look, READY, max_wait=60, min_delay=20, wake_signal=signal)
    assert box.times == [0, 3.21]


def test_poll_async_takes_a_signal(box):
    signal = Signal()
    box.fill_at(3.21, signal)

    async def look():
        return box.look()

    asyncio.run(poll_async(look, READY, max_wait=60, min_delay=20, wake_signal=signal))
    assert box.times == [0, 3.21]


@pytest.fixture
def bucket():
    """A client whose bucket is there at the second look."""
    client = bwp.enable(boto3.client("s3", region_name="us-east-1"))
    with Stubber(client) as stubber:
        stubber.add_client_error("head_bucket", "404", http_status_code=404)
        stubber.add_response("head_bucket", {"ResponseMetadata": {"HTTPStatusCode": 200}})
        yield client


def test_a_waiter_of_a_client_takes_a_signal(bucket, virtual_time):
    signal = Signal()
    virtual_time.call_at(1.5, signal.notify)
    outcome = bucket.wait_until_bucket_exists(
        Bucket="b", max_wait=60, min_delay=20, wake_signal=signal
    )
    assert (outcome.attempts, outcome.elapsed) == (2, pytest.approx(1.5, abs=0.01))


def test_get_waiter_takes_a_signal(bucket, virtual_time):
    bwp.install()
    try:
        signal = Signal()
        virtual_time.call_at(1.5, signal.notify)
        waiter = bucket.get_waiter("bucket_exists")
        outcome = waiter.wait(Bucket="b", WaiterConfig={"Delay": 20}, wake_signal=signal)
    finally:
        bwp.uninstall()
    assert (outcome.attempts, virtual_time.now) == (2, pytest.approx(1.5, abs=0.01))


# --- threads and loops -------------------------------------------------------


def test_waits_in_threads_and_loops_all_wake_by_one_signal():
    signal, full, looked = Signal("all"), threading.Event(), threading.Semaphore(0)
    done = threading.Semaphore(0)

    def look():
        looked.release()
        return full.is_set()

    def in_thread():
        wait_for(look, max_wait=LONG, signal="all", polling=False)
        done.release()

    def in_loop():
        async def one():
            await wait_for_async(look, max_wait=LONG, signal="all", polling=False)
            done.release()

        async def main():
            await asyncio.gather(*(one() for _ in range(5)))

        asyncio.run(main())

    threads = [threading.Thread(target=target, daemon=True) for target in [in_thread, in_loop] * 3]
    for thread in threads:
        thread.start()
    for _ in range(18):
        assert looked.acquire(timeout=SOON)
    full.set()
    signal.notify()
    for _ in range(18):
        assert done.acquire(timeout=SOON)
    for thread in threads:
        thread.join(SOON)


@pytest.mark.parametrize("consumer", ["thread", "loop"])
def test_no_wake_up_is_lost_however_the_two_meet(consumer):
    """Each item is put only after the one before was seen, so that any lost signal stops it all."""
    signal, rounds = Signal(), 300
    put, seen = [0], threading.Semaphore(0)

    def consume():
        for number in range(1, rounds + 1):
            wait_for(lambda n=number: put[0] >= n, max_wait=LONG, signal=signal, polling=False)
            seen.release()

    async def consume_async():
        for number in range(1, rounds + 1):
            await wait_for_async(
                lambda n=number: put[0] >= n, max_wait=LONG, signal=signal, polling=False
            )
            seen.release()

    target = consume if consumer == "thread" else lambda: asyncio.run(consume_async())
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    for _ in range(rounds):
        put[0] += 1
        signal.notify()
        assert seen.acquire(timeout=SOON), f"stuck at item {put[0]}"
    thread.join(SOON)


def test_a_loop_that_is_closed_does_not_stop_the_others():
    signal = Signal()

    async def listening():
        loop = asyncio.get_running_loop()
        task = loop.create_task(
            wait_for_async(lambda: None, max_wait=LONG, signal=signal, polling=False)
        )
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task

    loop = asyncio.new_event_loop()
    task = loop.run_until_complete(listening())
    task._log_destroy_pending = False  # It is left behind on purpose.
    loop.close()
    signal.notify()
    del task


def test_nothing_listens_once_a_wait_is_over():
    signal = Signal()

    async def main():
        with pytest.raises(bwp.WaiterTimeoutError):
            await wait_for_async(lambda: None, max_wait=0.05, signal=signal)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(main()) == set()
    assert signal._board.listeners == {}


def test_a_signal_notified_from_a_listener_of_itself_does_not_deadlock():
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


# --- the object --------------------------------------------------------------


def test_signals_of_one_name_are_one():
    one, same, other, nameless = Signal("a"), Signal("a"), Signal("b"), Signal()
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, other, nameless, Signal()}) == 4
    assert (repr(one), repr(nameless)) == ("Signal('a')", "Signal()")


def test_a_name_nobody_holds_is_forgotten():
    name = ("forgotten", 1)
    signal = Signal(name)
    view = signal.subscribe()
    del signal
    gc.collect()
    assert name in signalling._boards
    del view
    gc.collect()
    assert name not in signalling._boards


def test_a_wait_keeps_the_name_alive(box, virtual_time):
    def fill():
        gc.collect()
        box.content = "full"
        Signal("kept").notify()

    virtual_time.call_at(5, fill)
    wait_for(box.look, max_wait=60, signal="kept", polling=False)
    assert box.times == [0, 5]


def test_set_is_notify_by_another_name():
    signal = Signal()
    view = signal.subscribe()
    signal.set()
    assert view.is_set()


@pytest.mark.parametrize("name", [[], {}, set()])
def test_a_name_must_be_hashable(name):
    with pytest.raises(TypeError):
        Signal(name)


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_signal_stays_where_it_is(take):
    with pytest.raises(TypeError, match="one process"):
        take(Signal("a"))


@given(st.lists(st.sampled_from(["notify", "clear", "wait"]), max_size=20))
def test_one_view_is_set_from_a_signal_until_it_is_cleared(actions):
    signal = Signal()
    view, expected = signal.subscribe(), False
    for action in actions:
        match action:
            case "notify":
                signal.notify()
                expected = True
            case "clear":
                view.clear()
                expected = False
            case "wait":
                assert view.wait(0) == expected
        assert view.is_set() == expected


class Views(RuleBasedStateMachine):
    """Views of signals, old and new, are independent of each other."""

    views = Bundle("views")

    def __init__(self):
        super().__init__()
        self.signals = {"a": Signal("a"), "b": Signal("b")}
        self.expected = {}

    @rule(target=views, name=st.sampled_from("ab"))
    def subscribe(self, name):
        view = Signal(name).subscribe()
        self.expected[view] = (name, False)
        return view

    @rule(name=st.sampled_from("ab"))
    def notify(self, name):
        Signal(name).notify()
        self.expected = {
            view: (of, news or of == name) for view, (of, news) in self.expected.items()
        }

    @rule(view=views)
    def clear(self, view):
        view.clear()
        self.expected[view] = (self.expected[view][0], False)

    @rule()
    def compare(self):
        assert {view: view.is_set() for view in self.expected} == {
            view: news for view, (_, news) in self.expected.items()
        }


TestViews = Views.TestCase

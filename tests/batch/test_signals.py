"""Signals of many waits: no signal is lost, and no subscription outlives its waits."""

import asyncio
import contextlib
import itertools
import threading
from types import SimpleNamespace

import boto3
import pytest
from batch.calls import parsed

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, as_completed, as_completed_async, wait_all, wait_any
from boto_waiters_plus.signals import Signal

from .conftest import all_in_task, any_in_task

LONG = 120
"""Seconds after which a wait counts as one that missed its signal."""
SOON = 60


class Buckets:
    """Answers HeadBucket from a set of names, and calls a function of the test during each call."""

    def __init__(self):
        self.there = set()
        self.polls = []
        self.during_call = lambda name, polls: None
        self.client = boto3.client("s3", region_name="us-east-1")
        events = self.client.meta.events
        events.register("provide-client-params.s3.HeadBucket", self._note)
        events.register("before-call.s3.HeadBucket", self._answer)

    def _note(self, params, context, **_):
        context["bucket"] = params["Bucket"]

    def _answer(self, context, **_):
        name = context["bucket"]
        self.polls.append(name)
        # The service decides before the test's function runs.
        is_there = name in self.there
        self.during_call(name, self.polls.count(name))
        return parsed({}) if is_there else parsed({"Error": {"Code": "404"}}, 404)

    def wait(self, name, **options):
        options = {"max_wait": LONG, "min_delay": LONG - 20, "max_delay": LONG, **options}
        return Wait(self.client, "bucket_exists", {"Bucket": name}, **options)


@pytest.fixture
def buckets():
    return Buckets()


class Counted:
    """A signal that counts its subscriptions."""

    def __init__(self):
        self.signal = Signal()
        self.subscribed = self.left = 0

    def subscribe(self):
        self.subscribed += 1
        view = self.signal.subscribe()
        methods = {name: getattr(view, name) for name in ("is_set", "wait", "clear")}
        return SimpleNamespace(**methods, unsubscribe=self._leave)

    def _leave(self):
        self.left += 1


# --- none is lost -----------------------------------------------------------------------------


def test_signal_during_a_call_causes_another_attempt(all_of, buckets, virtual_time):
    signals = {"late": Signal(), **{f"other-{n}": Signal() for n in range(20)}}

    def during_call(name, polls):
        if name == "late" and polls == 1:
            buckets.there.add("late")
            signals["late"].notify()

    buckets.during_call = during_call
    waits = [buckets.wait(name, wake_signal=signal) for name, signal in signals.items()]
    outcome = all_of(waits, on_failure="collect")[0]
    assert (outcome.attempts, outcome.elapsed) == (2, pytest.approx(0, abs=0.06))


def test_signal_during_a_long_call_is_kept(all_of, buckets):
    signal, polled_on = Signal(), threading.Event()

    def during_call(name, polls):
        if name == "late" and polls == 1:
            signal.notify()
            # Until the loop has seen the signal: it makes the other wait's polls.
            assert polled_on.wait(SOON)
            buckets.there.add("late")
        elif name == "other" and polls == 5:
            polled_on.set()
        elif name == "late":
            buckets.there.add("other")

    buckets.during_call = during_call
    late = buckets.wait("late", wake_signal=signal)
    other = buckets.wait("other", delay_pace=lambda _: 0.02)
    outcome = all_of([late, other])[0]
    assert (outcome.attempts, outcome.elapsed < SOON) == (2, True)


def as_wait(client, **options):
    return [Wait(client, "bucket_exists", {"Bucket": "a"}, **options)]


async def in_task(client, **options):
    return await bwp.wait_until_async(client, "bucket_exists", Bucket="a", **options)


ONE = {
    "alone": lambda client, **o: bwp.wait_until(client, "bucket_exists", Bucket="a", **o),
    "alone in a task": lambda client, **o: asyncio.run(in_task(client, **o)),
    "of many": lambda client, **o: wait_all(as_wait(client, **o))[0],
    "of many in a task": lambda client, **o: all_in_task(as_wait(client, **o))[0],
}


@pytest.mark.parametrize("run_one", ONE.values(), ids=ONE)
@pytest.mark.parametrize(("min_delay", "most"), [(60, 6), (0.1, 35)])
def test_many_signals_cause_few_attempts(buckets, virtual_time, run_one, min_delay, most):
    signal = Signal()
    for millisecond in range(1, 3201):
        virtual_time.call_at(millisecond / 1000, signal.notify)
    # Ready between two attempts, at the time of the last notification.
    virtual_time.call_at(3.1995, lambda: buckets.there.add("a"))
    options = {"max_wait": LONG, "min_delay": min_delay, "max_delay": 60, "wake_signal": signal}
    outcome = run_one(buckets.client, delay_pace=lambda _: 60, **options)
    assert outcome.attempts <= most
    assert virtual_time.now <= 3.2 + min(1, min_delay) + 0.06


def test_signal_in_the_queue_causes_no_extra_attempt(all_of, buckets, virtual_time):
    signal = Signal()

    def during_call(name, polls):
        # The second wait has no thread yet.
        if name == "first" and polls == 1:
            buckets.there.update(["first", "second"])
            signal.notify()

    buckets.during_call = during_call
    waits = [buckets.wait(name, wake_signal=signal) for name in ("first", "second")]
    outcomes = all_of(waits, threads=1)
    assert [outcome.attempts for outcome in outcomes] == [2, 1]


@pytest.mark.parametrize("shared", [True, False], ids=["one signal", "one each"])
def test_no_signal_is_lost(all_of, buckets, shared):
    """Each bucket exists after the one before was seen: one lost signal stops all."""
    rounds, seen = 30, threading.Semaphore(0)
    signals = [Signal()] * 3 if shared else [Signal() for _ in range(3)]

    def consume():
        for number in range(rounds):
            all_of([buckets.wait(f"{number}-{n}", wake_signal=s) for n, s in enumerate(signals)])
            seen.release()

    thread = threading.Thread(target=consume, daemon=True)
    thread.start()
    for number in range(rounds):
        for n, signal in enumerate(signals):
            buckets.there.add(f"{number}-{n}")
            signal.notify()
        assert seen.acquire(timeout=SOON), f"stuck at round {number}"
    thread.join(SOON)


def test_waits_share_a_subscription_until_the_last_has_ended(all_of, buckets, virtual_time):
    counted, names = Counted(), [str(number) for number in range(30)]

    def create():
        buckets.there.update(names)
        counted.signal.notify()

    virtual_time.call_at(7, create)
    left_at = []
    virtual_time.call_at(20, lambda: left_at.append(counted.left))
    waits = [buckets.wait(name, wake_signal=counted) for name in names]
    waits.append(buckets.wait("never", max_wait=50, min_delay=5, max_delay=5))
    *outcomes, _ = all_of(waits, on_failure="collect")
    assert {(outcome.attempts, outcome.elapsed < 8) for outcome in outcomes} == {(2, True)}
    assert counted.subscribed == 1
    assert left_at == [1]


@pytest.fixture
def ends_of_all(buckets, virtual_time):
    """Waits with one signal that end in every way; at the end, none is subscribed."""
    counted, stop = Counted(), threading.Event()
    buckets.there.add("there")
    virtual_time.call_at(3, stop.set)
    yield [
        buckets.wait("there", wake_signal=counted),
        buckets.wait("never", wake_signal=counted, max_wait=20, min_delay=5),
        buckets.wait("stopped", wake_signal=counted, cancel_event=stop),
    ]
    assert counted.subscribed == counted.left == 1


@pytest.mark.parametrize("some", [slice(1), slice(1, 2), slice(2, 3), slice(3)])
def test_every_end_unsubscribes(all_of, ends_of_all, some):
    # Outcomes and errors may still be referenced.
    assert all_of(ends_of_all[some], on_failure="collect")


def leave_half_way(waits):
    with contextlib.closing(as_completed(waits)) as completed:
        assert next(completed)


def leave_a_task_half_way(waits):
    async def main():
        async with contextlib.aclosing(as_completed_async(waits)) as completed:
            assert await anext(completed)

    asyncio.run(main())


@pytest.mark.parametrize("leave", [wait_any, any_in_task, leave_half_way, leave_a_task_half_way])
def test_leaving_before_all_have_ended_unsubscribes(ends_of_all, leave):
    leave(ends_of_all)


def test_interrupted_batch_unsubscribes(all_of, buckets):
    counted, polls = Counted(), itertools.count(1)

    def during_call(name, number):
        if next(polls) == 2:
            raise KeyboardInterrupt

    buckets.during_call = during_call
    waits = [buckets.wait(str(number), wake_signal=counted) for number in range(2)]
    with pytest.raises(KeyboardInterrupt):
        all_of(waits)
    assert counted.left == 1


def test_cancel_event_ends_the_pause_beside_a_signal(buckets):
    class Pressed(threading.Event):
        def wait(self, timeout=None):
            # Not in the thread that listens during a call.
            if threading.current_thread() is threading.main_thread():
                self.set()
            return super().wait(timeout)

    options = {"cancel_event": Pressed(), "wake_signal": Signal(), "max_wait": 1}
    wait = Wait(buckets.client, "bucket_exists", {"Bucket": "b"}, **options)
    [error] = wait_all([wait], on_failure="collect")
    assert isinstance(error, bwp.WaiterCancelledError)

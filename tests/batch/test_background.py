"""Waits that are added to a background thread at any time."""

import contextvars
import gc
import queue
import threading

import pytest
from batch.calls import THING_READY, AttemptJudge
from batch.calls import connections as shared_connections

from boto_waiters_plus.batch.background import BackgroundScheduler
from boto_waiters_plus.batch.tasks import Task
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.exceptions import WaiterCancelledError
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.wait_run import WaitRun


class Call:
    """A call that succeeds, after `release` is set if there is one."""

    def __init__(self, release=None, error=None):
        self.begun = threading.Event()
        self._release = release
        self._error = error

    def make(self, time_left):
        self.begun.set()
        if self._release is not None:
            self._release.wait(10)
        if self._error is not None:
            raise self._error
        return Reply(Attempt(facts=Facts(acceptor=0), response={}))


@pytest.fixture
def connections():
    return shared_connections(1)


@pytest.fixture
def scheduler():
    scheduler = BackgroundScheduler(contextvars.Context())
    yield scheduler
    scheduler.close()


@pytest.fixture
def ended():
    return queue.SimpleQueue()


def task(call, connections):
    policy = Policy(min_delay=0.01, max_delay=0.01, max_wait=30)
    return Task(WaitRun(THING_READY, policy, AttemptJudge()), call, connections)


@pytest.mark.usefixtures("collect_garbage")
def test_waits_that_ended_are_let_go(scheduler, connections, ended):
    release = threading.Event()
    open_wait = task(Call(release), shared_connections(1))
    scheduler.add([(open_wait, ended.put)])
    for _ in range(5):
        scheduler.add([(task(Call(), connections), lambda _: ended.put(None)) for _ in range(100)])
        for _ in range(100):
            ended.get(timeout=10)
    assert open_wait in runs_alive()
    assert len(runs_alive()) < 250
    release.set()


def runs_alive():
    return [each for each in gc.get_objects() if type(each) is Task]


def test_a_client_is_free_after_its_waits_were_cancelled(scheduler, connections, ended):
    release = threading.Event()
    calling = Call(release)
    first, queued = task(calling, connections), task(Call(), connections)
    scheduler.add([(first, ended.put), (queued, ended.put)])
    assert calling.begun.wait(10)
    for each in (queued, first):
        scheduler.cancel(each)
        assert ended.get(timeout=10) is each
        assert isinstance(each.result, WaiterCancelledError)
    last = task(Call(), connections)
    scheduler.add([(last, ended.put)])
    release.set()
    assert ended.get(timeout=10) is last
    assert isinstance(last.result, ResponseOutcome)


def test_the_thread_ends_with_the_last_wait(scheduler, connections, ended):
    # Those of earlier tests may end meanwhile.
    before = {*threading.enumerate()}
    for _ in range(3):
        scheduler.add([(task(Call(), connections), ended.put)])
        assert ended.get(timeout=10)
    for _ in range(500):
        if before.issuperset(threading.enumerate()):
            return
        threading.Event().wait(0.01)
    pytest.fail("threads are left")


def test_a_cancelled_wait_that_never_began_changes_nothing(scheduler, connections, ended):
    release = threading.Event()
    scheduler.cancel(task(Call(), connections))
    running = task(Call(release), connections)
    scheduler.add([(running, ended.put)])
    scheduler.cancel(task(Call(), connections))
    release.set()
    assert ended.get(timeout=10) is running
    assert isinstance(running.result, ResponseOutcome)


def test_what_is_no_exception_ends_all_waits(scheduler, connections, ended, caplog):
    others = shared_connections(1)
    release = threading.Event()
    waiting = task(Call(release), others)
    failing = task(Call(error=SystemExit()), connections)
    scheduler.add([(waiting, ended.put), (failing, ended.put)])
    for _ in range(2):
        assert "SystemExit" in str(ended.get(timeout=10).result)
    release.set()
    assert not scheduler.is_usable
    with pytest.raises(RuntimeError, match=r"^the background thread failed: SystemExit$"):
        scheduler.add([(task(Call(), connections), ended.put)])


def test_a_callback_that_raises_is_logged(scheduler, connections, ended, caplog):
    called = threading.Event()
    scheduler.add([(task(Call(), connections), ended.put)])
    scheduler.deliveries.put(lambda: 1 / 0)
    scheduler.deliveries.put(called.set)
    assert called.wait(10)
    assert "ZeroDivisionError" in caplog.text

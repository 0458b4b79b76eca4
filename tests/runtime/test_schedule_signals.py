"""The events that many waits share: what it costs to ask them."""

import threading

import pytest

from boto_waiters_plus.runtime.schedule import Lane, Pool, Schedule, Stage, Task
from boto_waiters_plus.runtime.schedule_events import Signals


class CountedTask(Task):
    """A task that knows how often it was asked whether it has ended."""

    asked = 0

    def __getattribute__(self, name):
        if name == "stage":
            CountedTask.asked += 1
        return super().__getattribute__(name)


@pytest.mark.parametrize("kind", ["wake", "cancel"])
@pytest.mark.parametrize("order", [1, -1], ids=["first to last", "last to first"])
def test_waits_that_have_ended_are_not_asked_again_and_again(monkeypatch, kind, order):
    monkeypatch.setattr(CountedTask, "asked", 0)
    waits, event = 300, threading.Event()
    pool = Pool(Lane(), 1)
    tasks = [CountedTask(None, None, pool, **{kind: event}) for _ in range(waits)]
    signals = Signals(tasks, [])
    for task in tasks[::order]:
        assert signals.events == [event]
        task.stage = Stage.ENDED
        signals.heed(Schedule(1), 0)
    assert signals.events == []
    # Two a round, one for each that ended.
    assert CountedTask.asked < 5 * waits

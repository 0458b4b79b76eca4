"""What it costs to check the events that many waits share."""

import threading

import pytest

from boto_waiters_plus.batch.schedule import Schedule
from boto_waiters_plus.batch.schedule_events import ScheduleEvents
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import Task, TaskStage


class CountedTask(Task):
    """A task that counts how often its stage is read."""

    reads = 0

    def __getattribute__(self, name):
        if name == "stage":
            CountedTask.reads += 1
        return super().__getattribute__(name)


@pytest.mark.parametrize("kind", ["wake", "cancel"])
@pytest.mark.parametrize("order", [1, -1], ids=["first to last", "last to first"])
def test_ended_waits_are_not_checked_again(monkeypatch, kind, order):
    monkeypatch.setattr(CountedTask, "reads", 0)
    waits, event = 300, threading.Event()
    pool = ClientConnections(ServiceLimiter(), 1)
    tasks = [CountedTask(None, None, pool, **{kind: event}) for _ in range(waits)]
    events = ScheduleEvents([])
    events.add(tasks)
    for task in tasks[::order]:
        assert events.watched == [event]
        task.stage = TaskStage.ENDED
        events.apply(Schedule(), 0)
    assert events.watched == []
    # Two in each round, and one for each wait that ended.
    assert CountedTask.reads < 5 * waits

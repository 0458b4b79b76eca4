"""All waits of the demo, run at the same time and measured."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from ...engine.wait_event import WaitEvent
from ...hooks.installation import enable
from ...options import WaitOptions
from .scenarios import RETURNED_NONE, SCENARIOS, Scenario, Way
from .server import MotoServer

UPDATE_EVERY = 0.1
"""Seconds between two updates of the display."""

JOIN_TIMEOUT = 2.0
"""Seconds that a thread is given to end. Threads in botocore's own loop are not waited for."""

TOO_EARLY = 5.0
"""Seconds before the change of its resource from which the end of a wait is wrong.

Less is normal: the last attempt is made before the deadline, and moto may answer a wait before it
answers the request that made the change.
"""


class StoppedError(Exception):
    """The demo ended before the wait did."""


class CallCounter:
    """Counts the operation calls and the HTTP requests of one client, by botocore's events.

    Args:
        client: a client that only one wait uses.
        stop: an event that makes the client's next call raise `StoppedError`.
    """

    def __init__(self, client: Any, stop: threading.Event) -> None:
        self.attempts = 0
        """Operation calls, which are the attempts of the wait."""
        self.requests = 0
        """HTTP requests, including the SDK's own retries."""
        self._stop = stop
        client.meta.events.register("before-call", self._on_call)
        client.meta.events.register("request-created", self._on_request)

    def _on_call(self, **_: Any) -> None:
        # botocore's own loop has no way to cancel it; only a call can raise.
        if self._stop.is_set():
            raise StoppedError
        self.attempts += 1

    def _on_request(self, **_: Any) -> None:
        self.requests += 1


class TimedWait:
    """One wait in one of the three ways, on a resource and with a client of its own."""

    def __init__(self, scenario: Scenario, way: Way, stop: threading.Event) -> None:
        self.scenario = scenario
        self.way = way
        self.resource = f"{scenario.title} {way.value}".replace(" ", "-").replace("_", "-")
        self.started_at = 0.0
        self.ended_at: float | None = None
        self.changed_at: float | None = None
        """When the resource really changed."""
        self.next_attempt_at: float | None = None
        """When the next attempt is due. botocore's own loop does not report it."""
        self.outcome: Any = None
        self.error: Exception | None = None
        client = scenario.server.client(scenario.service)
        if way is not Way.STOCK:
            enable(client, defaults=WaitOptions(cancel_event=stop), on_event=self._on_event)
        self.calls = CallCounter(client, stop)
        self._wait = scenario.bind_wait(way, client, scenario.prepare(self.resource))

    def run(self) -> None:
        """Wait, and record how the wait ended."""
        self.started_at = time.monotonic()
        try:
            self.outcome = self._wait()
        # The report shows whatever is raised.
        except Exception as error:
            self.error = error
        self.ended_at = time.monotonic()

    @property
    def result(self) -> str:
        """The class of what was returned or raised."""
        if self.ended_at is None:
            return "not ended"
        if self.error is not None:
            return type(self.error).__name__
        return RETURNED_NONE if self.outcome is None else type(self.outcome).__name__

    @property
    def complaint(self) -> str | None:
        """What is not as expected; None if everything is."""
        expected = self.scenario.expected[list(Way).index(self.way)]
        if self.result != expected:
            return f"{self.result}, not {expected}"
        if self.late is None or self.late < -TOO_EARLY:
            return f"{self.result}, but too early"
        return None

    @property
    def seconds(self) -> float:
        """The seconds that the wait took, or has taken so far."""
        return (self.ended_at or time.monotonic()) - self.started_at

    @property
    def late(self) -> float | None:
        """The seconds from the change, or the deadline, to the end of the wait or to now.

        None as long as the resource has not changed.
        """
        if self.scenario.deadline is not None:
            return self.seconds - self.scenario.deadline
        if self.changed_at is None:
            return None
        return (self.ended_at or time.monotonic()) - self.changed_at

    def _on_event(self, event: WaitEvent) -> None:
        delay = event.next_delay
        self.next_attempt_at = None if delay is None else time.monotonic() + delay


class Comparison:
    """Every scenario, each waited for in all three ways, each wait in a thread.

    Args:
        server: where the resources are.
        scenarios: the classes of the scenarios.

    Attributes:
        waits: every wait, in the order of the scenarios.
        news: lines about what happens, as it happens.
    """

    def __init__(self, server: MotoServer, scenarios: Iterable[type[Scenario]] = SCENARIOS) -> None:
        self.scenarios = [scenario(server) for scenario in scenarios]
        self._stop = threading.Event()
        self.waits = [
            TimedWait(scenario, way, self._stop) for scenario in self.scenarios for way in Way
        ]
        self.news: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._started_at = 0.0
        self._threads: list[threading.Thread] = []

    @property
    def as_expected(self) -> bool:
        """Whether every wait ended as expected."""
        return not any(wait.complaint for wait in self.waits)

    def run(self, update: Callable[[], object]) -> None:
        """Run all waits to their ends, calling `update` regularly and once at the end.

        Raises:
            Exception: whatever kept a resource from changing.
        """
        for scenario in self.scenarios:
            scenario.start()
        self._started_at = time.monotonic()
        unchanged = sorted(self.scenarios, key=lambda scenario: scenario.change_after)
        # Before the first call can be answered.
        while unchanged and unchanged[0].change_after <= 0:
            self._change(unchanged.pop(0))
        for wait in self.waits:
            name = f"demo {wait.resource}"
            thread = threading.Thread(target=self._wait, args=(wait,), name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        while any(wait.ended_at is None for wait in self.waits):
            while unchanged and unchanged[0].change_after <= time.monotonic() - self._started_at:
                self._change(unchanged.pop(0))
            update()
            time.sleep(UPDATE_EVERY)
        update()

    def stop(self) -> None:
        """End the waits that still run: this package's now, botocore's at their next call."""
        self._stop.set()
        for thread in self._threads:
            if not thread.name.endswith(Way.STOCK.value):
                thread.join(JOIN_TIMEOUT)

    def _wait(self, wait: TimedWait) -> None:
        wait.run()
        self._report(f"{wait.scenario.title}: {wait.way.value}, {wait.result}")

    def _change(self, scenario: Scenario) -> None:
        for wait in self.waits:
            if wait.scenario is scenario:
                wait.changed_at = scenario.change(wait.resource) or time.monotonic()
        self._report(f"{scenario.title}: now")

    def _report(self, text: str) -> None:
        self.news.put(f"{time.monotonic() - self._started_at:5.1f} s  {text}")

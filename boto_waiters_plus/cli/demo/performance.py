"""The demo itself: all waits at the same time, each measured by what really happened."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ...engine.wait_event import WaitEvent
from ...hooks.installation import enable
from ...options import WaitOptions
from .scenarios import RETURNED_NONE, SCENARIOS, Scenario, Way
from .stage import Stage
from .traffic import Traffic

LOOK_EVERY = 0.1
"""Seconds between two updates of the progress."""

JOIN_WITHIN = 2.0
"""Seconds that a thread of ours is given to end; one of botocore's sleeps as long as it likes."""

TOO_EARLY = 5.0
"""Seconds before what is waited for at which an end is wrong.

Less is right: a last look is made before the deadline, on a slow machine as much earlier as answers
took, at most `min_delay`; and moto's answer to who made
something happen may come after the one to who waited for it.
"""

_Subject = TypeVar("_Subject")


class Side:
    """One wait, one way, on a resource and with a client of its own."""

    def __init__(self, scenario: Scenario, way: Way, stop: threading.Event) -> None:
        self.scenario = scenario
        self.way = way
        self.resource = f"{scenario.title} {way.value}".replace(" ", "-").replace("_", "-")
        self.began = 0.0
        self.ended: float | None = None
        self.happened: float | None = None
        """When what is waited for really happened."""
        self.next_look: float | None = None
        """When the next look is due; botocore's own loop tells nobody."""
        self.outcome: Any = None
        self.error: Exception | None = None
        client = scenario.stage.client(scenario.service)
        if way is not Way.STOCK:
            enable(client, defaults=WaitOptions(cancel_event=stop), on_event=self._on_event)
        self.traffic = Traffic(client, stop)
        self._wait = scenario.waiting(way, client, scenario.prepare(self.resource))

    def run(self) -> None:
        """Wait."""
        self.began = time.monotonic()
        try:
            self.outcome = self._wait()
        # Whatever it is belongs into the table.
        except Exception as error:
            self.error = error
        self.ended = time.monotonic()

    @property
    def kind(self) -> str:
        """What came back: the class of what was returned or raised."""
        if self.ended is None:
            return "no end"
        if self.error is not None:
            return type(self.error).__name__
        return RETURNED_NONE if self.outcome is None else type(self.outcome).__name__

    @property
    def complaint(self) -> str | None:
        """What is not as expected, in words."""
        expected = self.scenario.expected(self.way)
        if self.kind != expected:
            return f"{self.kind}, not {expected}"
        if self.late is None or self.late < -TOO_EARLY:
            return f"{self.kind}, but too early"
        return None

    @property
    def seconds(self) -> float:
        """How long the wait took, or has taken so far."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def late(self) -> float | None:
        """Seconds from what was waited for to the end of the wait; None without one of them."""
        if self.ended is None:
            return None
        if self.scenario.deadline is not None:
            return self.seconds - self.scenario.deadline
        return None if self.happened is None else self.ended - self.happened

    def _on_event(self, event: WaitEvent) -> None:
        pause = event.next_delay
        self.next_look = None if pause is None else time.monotonic() + pause


class Performance:
    """All scenarios, each in all ways, in threads of their own.

    Args:
        stage: where they play.
        scenarios: which.

    Attributes:
        sides: every wait, scenario by scenario.
        news: lines about what happens, as it happens.
    """

    def __init__(self, stage: Stage, scenarios: Iterable[type[Scenario]] = SCENARIOS) -> None:
        self.scenarios = [make(stage) for make in scenarios]
        self._go = threading.Event()
        self._stop = threading.Event()
        self.sides = [Side(scenario, way, self._stop) for scenario in self.scenarios for way in Way]
        self.news: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.began = 0.0
        self.trouble: Exception | None = None
        """What kept the resources from coming, if anything did."""
        self._threads: list[threading.Thread] = []

    def of(self, scenario: Scenario) -> list[Side]:
        """The waits of one scenario."""
        return [side for side in self.sides if side.scenario is scenario]

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    @property
    def as_expected(self) -> bool:
        """Whether every wait ended as it should."""
        return self.trouble is None and not any(s.complaint for s in self.sides)

    def play(self, show: Callable[[], object]) -> None:
        """Run it to its end.

        Args:
            show: called ten times a second, and once at the end.
        """
        for side in self.sides:
            self._start(self._wait, side, side.resource)
        for scenario in self.scenarios:
            self._start(self._happen, scenario, scenario.title)
        for scenario in self.scenarios:
            scenario.start()
        self.began = time.monotonic()
        self._go.set()
        while not self._stop.is_set() and any(side.ended is None for side in self.sides):
            show()
            time.sleep(LOOK_EVERY)
        show()

    def stop(self) -> None:
        """End what still runs: ours at once, botocore's at its next look (in daemon threads)."""
        self._stop.set()
        self._go.set()
        for thread in self._threads:
            if not thread.name.endswith(Way.STOCK.value):
                thread.join(JOIN_WITHIN)

    def _start(self, target: Callable[[_Subject], None], subject: _Subject, name: str) -> None:
        thread = threading.Thread(target=target, args=(subject,), name=f"demo {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _wait(self, side: Side) -> None:
        self._go.wait()
        side.run()
        self._tell(f"{side.scenario.title}: {side.way.value}, {side.kind}")

    def _happen(self, scenario: Scenario) -> None:
        self._go.wait()
        if self._stop.wait(self.began + scenario.after - time.monotonic()):
            return
        try:
            for side in self.of(scenario):
                side.happened = scenario.happen(side.resource)
        except Exception as error:
            self.trouble = error
            self._stop.set()
            return
        self._tell(f"{scenario.title}: now")

    def _tell(self, text: str) -> None:
        self.news.put(f"{self.seconds:5.1f} s  {text}")

"""All waits of `demo --all`: run at the same time, measured, and shown as a table."""

from __future__ import annotations

import contextlib
import random
import shutil
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TextIO

from botocore import xform_name

from ...hooks.installation import enable
from ..text import columns, printable
from .scenarios import SCENARIOS, Scenario
from .server import MotoServer

WAYS = ("stock", "get_waiter", "wait_until")
"""botocore alone, the same line after `enable(client)`, and a method."""

NOTES = """
stock       client.get_waiter(...).wait(...) with botocore alone
get_waiter  the same line after enable(client)
wait_until  client.wait_until_<name>(..., max_wait=60)
result      the class of what was returned or raised
calls       HTTP requests, including the SDK's own retries
late        seconds from the change of the resource, which comes at a random
            time, or from the deadline of 12 s, to the end of the wait
"""


def requests_of(client: Any) -> list[Any]:
    """Return a list that every HTTP request of the client is added to from now on."""
    requests: list[Any] = []
    client.meta.events.register("request-created", lambda request, **_: requests.append(request))
    return requests


class Timed(threading.Thread):
    """A call with its duration and its end, in a thread that the process does not wait for."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
        super().__init__(daemon=True)
        self._call = partial(function, *arguments, **keywords)
        self._started_at = time.monotonic()
        self._ended_at: float | None = None
        self.outcome: Any = None
        """What was returned or raised."""

    def run(self) -> None:
        """Make the call, in the calling thread."""
        self._started_at = time.monotonic()
        try:
            self.outcome = self._call()
        # The demo shows whatever is raised.
        except Exception as error:
            self.outcome = error
        self._ended_at = time.monotonic()

    @property
    def end(self) -> float:
        """When the call ended, or now."""
        return time.monotonic() if self._ended_at is None else self._ended_at

    @property
    def seconds(self) -> float:
        """The seconds that the call took, or has taken so far."""
        return self.end - self._started_at

    @property
    def result(self) -> str:
        """The class of what was returned or raised; "waiting" until then."""
        if self._ended_at is None:
            return "waiting"
        return "returned None" if self.outcome is None else type(self.outcome).__name__


class TimedWait(Timed):
    """One wait in one of the three ways, on a resource and with a client of its own."""

    def __init__(self, server: MotoServer, scenario: Scenario, way: str, change_at: float) -> None:
        self.scenario, self.way, self.change_at = scenario, way, change_at
        self.label = f"{scenario.title}, {way}"
        self.changed_at: float | None = None
        self._resource = f"{scenario.title} {way}".replace(" ", "-").replace("_", "-")
        # Not the client of the wait, whose requests are counted.
        self._changing_client, client = (server.client(scenario.service) for _ in range(2))
        parameters = scenario.prepare(client, self._resource)
        if way != "stock":
            enable(client)
        self.requests = requests_of(client)
        name, config = xform_name(scenario.waiter), dict(scenario.waiter_config)
        if way == "wait_until":
            wait = partial(getattr(client, f"wait_until_{name}"), max_wait=scenario.max_wait)
        else:
            wait = partial(client.get_waiter(name).wait, WaiterConfig=config)
        super().__init__(wait, **parameters)

    def change(self) -> None:
        """Make the change that is waited for."""
        self.scenario.change(self._changing_client, self._resource)
        self.changed_at = time.monotonic()

    @property
    def complaint(self) -> str | None:
        """What is not as expected; None if everything is."""
        expected = self.scenario.expected[WAYS.index(self.way)]
        if self.result != expected:
            return f"{self.label}: {self.result}, not {expected}"
        # A little before is normal: the last attempt is made before the deadline, for example.
        is_early = self.late is None or self.late < -5
        return f"{self.label}: {self.result}, but too early" if is_early else None

    @property
    def late(self) -> float | None:
        """The seconds from the change to the end of the wait or to now; None before the change."""
        return None if self.changed_at is None else self.end - self.changed_at


class Comparison:
    """Every scenario, each waited for in all three ways, each wait in a thread."""

    def __init__(self, server: MotoServer, scenarios: Iterable[Scenario] = SCENARIOS) -> None:
        self.waits = [
            TimedWait(server, scenario, way, change_at)
            for scenario in scenarios
            for change_at in [random.uniform(*scenario.change_between)]  # noqa: S311
            for way in WAYS
        ]

    def run(self) -> Iterator[str]:
        """Run all waits to their ends; yield a line about each change and each end."""
        began, running, unchanged = time.monotonic(), list(self.waits), list(self.waits)
        for wait in running:
            wait.start()
        while running:
            time.sleep(0.1)
            elapsed = time.monotonic() - began
            for wait in [wait for wait in unchanged if wait.change_at <= elapsed]:
                unchanged.remove(wait)
                wait.change()
                if wait.way == WAYS[-1]:
                    yield f"{elapsed:5.1f} s  {wait.scenario.title}: now"
            for wait in [wait for wait in running if not wait.is_alive()]:
                running.remove(wait)
                yield f"{elapsed:5.1f} s  {wait.label}: {wait.result}"

    def show(self, stream: TextIO, *, plain: bool) -> None:
        """Run all waits: with a table on a terminal with rich, else with a line per event."""
        live = None if plain or not stream.isatty() else self._live_table(stream)
        with live or contextlib.nullcontext():
            for line in self.run():
                if live is None:
                    print(line, file=stream, flush=True)

    def report(self, stream: TextIO) -> bool:
        """Print errors, notes, table and summary; return whether all waits ended as expected."""
        for wait in self.waits:
            if isinstance(wait.outcome, Exception):
                if wait.way == WAYS[0]:
                    print(f"{wait.scenario.title}, the errors:", file=stream)
                print(beside(wait.way, str(wait.outcome) or wait.result), file=stream)
        print(NOTES, self._table(), "", sep="\n", file=stream)
        complaints = [wait.complaint for wait in self.waits if wait.complaint]
        summary = f"All {len(self.waits)} waits ended as expected."
        print("NOT as expected:" if complaints else summary, *complaints, sep="\n", file=stream)
        return not complaints

    def _live_table(self, stream: TextIO) -> Any:
        """Return rich's display of the table; None where it cannot be drawn."""
        try:
            from rich.console import Console  # noqa: PLC0415 - an extra
            from rich.live import Live  # noqa: PLC0415 - an extra
            from rich.text import Text  # noqa: PLC0415 - an extra
        except ImportError:
            return None
        terminal = Console(file=stream)
        display = Live(
            get_renderable=lambda: Text(self._table(), no_wrap=True, overflow="crop"),
            console=terminal,
            transient=True,
        )
        return None if terminal.is_dumb_terminal else display

    def _table(self) -> str:
        rows: list[tuple[Any, ...]] = [("wait", "way", "result", "calls", "seconds", "late")]
        for wait in self.waits:
            # The width of the longest result: columns must not move while they are read.
            result = wait.result.ljust(len("WaiterAttemptsError"))
            # Adding 0.0 turns -0.0 into 0.0.
            late = "    -" if wait.late is None else round(wait.late, 2) + 0.0
            counts = len(wait.requests), wait.seconds, late
            rows.append((wait.scenario.title, wait.way, result, *counts))
        return columns(rows)


def beside(name: str, text: str) -> str:
    """Return a text beside its name, in at most four lines."""
    return textwrap.fill(
        printable(text),
        min(100, shutil.get_terminal_size((100, 40)).columns),
        initial_indent=f"  {name:14}",
        subsequent_indent=" " * 16,
        break_on_hyphens=False,
        max_lines=4,
        placeholder=" ...",
    )

"""The progress of many waits: reported to a callback, or shown as a table on stderr."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from .calls.clock import current_time
from .common.errors import refuse_missing
from .common.labels import LabelCell, ShortLabels, one_line
from .engine.model import WaitDescription
from .engine.reports import Reported
from .engine.wait_event import WaitEvent
from .exceptions import WaiterCancelledError, WaiterError
from .outcome import WaiterOutcome

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from typing_extensions import Self

__all__ = ["WaitProgress"]

MAX_ROWS: Final = 25
"""The most waits that the table shows; the line below it counts all."""

OTHER_LINES: Final = 3
"""The lines of the screen besides rows: the head, the count and the cursor's."""

NARROW: Final = 64
"""The width of a screen below which attempts and elapsed time are left out."""

REFRESHES_PER_SECOND: Final = 4

LOG_INTERVAL: Final = 30
"""The least seconds between two lines where the table cannot be redrawn."""

LabelledWait = tuple[WaitDescription, str]

Row = tuple[Sequence["RenderableType"], Sequence[str]]
"""The texts of a wait, and its numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitProgress:
    """The progress of one of many waits, and the number of waits that have ended."""

    index: int
    """The position of the wait among those that were given."""
    waiter: str
    """The name of the waiter."""
    label: str
    """The resource: `s3 Bucket=my-bucket`."""
    service: str | None
    """botocore's name of the service."""
    state: Literal["waiting", "succeeded", "failed", "cancelled"] = "waiting"
    """How the wait ended, or `waiting`."""
    observed: str | None = None
    """The state seen by the last attempt, or the code of its error, if it is safe to show."""
    reported: Reported = field(default_factory=dict, hash=False)
    """What the definition reports of that state, by word; see `WaiterOutcome.reported`."""
    attempts: int = 0
    """The number of calls answered."""
    elapsed: float = 0.0
    """Seconds from the start to the last attempt."""
    next_delay: float | None = None
    """Seconds from the last attempt to the next one; None if there is none."""
    ended: int = 0
    """The number of waits that have ended."""
    failed: int = 0
    """The number of waits that ended neither in success nor by being cancelled."""
    unpolled: int = 0
    """The number of waits whose first attempt is still to come."""
    total: int = 0
    """The number of all waits."""


class Progress:
    """Reports the progress of many waits to a callback.

    Args:
        waits: the waits, in order: each waiter with the label of its wait.
        callback: called after each attempt and at the end of each wait.
        clock: tells when a wait is polled next, where that is shown.
    """

    def __init__(
        self,
        waits: Sequence[LabelledWait],
        callback: Callable[[WaitProgress], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._callback = callback
        self.waits = [
            WaitProgress(index=index, waiter=wait.waiter, label=label, service=wait.service)
            for index, (wait, label) in enumerate(waits)
        ]
        self._unpolled = len(waits)
        # A table is drawn in a thread of its own.
        self._lock = threading.Lock()
        self._clock = clock
        self._started_at = self._clock()
        self._next_attempts = [math.nan] * len(waits)
        self.running = dict.fromkeys(range(len(waits)))
        """The places of the waits that have not ended."""
        self._failures: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def attempted(self, index: int, event: WaitEvent) -> None:
        """Report an attempt of the wait at `index`."""
        self._unpolled -= not self.waits[index].attempts
        self._report(
            replace(
                self.waits[index],
                observed=self._observed(event),
                reported=event.reported,
                attempts=event.attempt,
                elapsed=event.elapsed,
                next_delay=event.next_delay,
            )
        )

    def ended(self, index: int, result: WaiterOutcome[Any] | Exception) -> None:
        """Report the end of the wait at `index`."""
        state: Literal["succeeded", "failed", "cancelled"] = "succeeded"
        if isinstance(result, Exception):
            state = "cancelled" if isinstance(result, WaiterCancelledError) else "failed"
        self._unpolled -= not self.waits[index].attempts
        wait = replace(self.waits[index], state=state, next_delay=None)
        if isinstance(result, (WaiterOutcome, WaiterError)):
            wait = replace(wait, attempts=result.attempts, elapsed=result.elapsed)
        self._report(wait)

    @staticmethod
    def _observed(event: WaitEvent) -> str | None:
        return event.error or event.state

    def _report(self, wait: WaitProgress) -> None:
        with self._lock:
            if wait.next_delay is not None:
                self._next_attempts[wait.index] = self._clock() + wait.next_delay
            if wait.state != "waiting":
                self.running.pop(wait.index, None)
            if wait.state == "failed":
                self._failures.append(wait.index)
        ended = len(self.waits) - len(self.running)
        wait = replace(wait, ended=ended, failed=len(self._failures))
        wait = replace(wait, unpolled=self._unpolled, total=len(self.waits))
        self.waits[wait.index] = wait
        self._callback(wait)

    def _next_in(self, wait: WaitProgress, now: float) -> str:
        left = self._next_attempts[wait.index] - now
        return f"{left:.0f} s" if left > 0 else "now"


class ProgressTable(Progress):
    """A table of the waits on stderr, drawn by rich.

    Where stderr is not a terminal, a line with the counts is printed every `LOG_INTERVAL` seconds
    at most, and the table at the end.

    Args:
        waits: the waits, in order: each waiter with the label of its wait.
        console: where to draw; stderr by default.

    Raises:
        ImportError: rich is not installed.
    """

    def __init__(self, waits: Sequence[LabelledWait], console: Console | None = None) -> None:
        super().__init__(waits, self._update, current_time().clock())
        try:
            # rich is optional, and takes 60 ms to import.
            from rich.console import Console  # noqa: PLC0415
            from rich.live import Live  # noqa: PLC0415
        except ImportError as error:
            refuse_missing("progress=True", "cli", error)
        self._logged_at = self._started_at
        self._console = console or Console(stderr=True)
        self._labels = ShortLabels(_name(wait) for wait in self.waits)
        self._can_redraw = self._console.is_terminal and not self._console.is_dumb_terminal
        self._is_final = False
        self._live = Live(
            console=self._console,
            get_renderable=self.render,
            refresh_per_second=REFRESHES_PER_SECOND,
        )

    def __enter__(self) -> Self:
        if self._can_redraw:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_final = True
        if self._can_redraw:
            self._live.stop()
        else:
            self._console.print(self.render())

    def render(self) -> RenderableType:
        """Return the table and the line below it, as of now."""
        with self._lock:
            waits = [self.waits[index] for index in self._visible()]
            now, summary = self._clock(), one_line(self._summary(len(waits)))
            rows = [self._row(wait, now) for wait in waits]
        titles = ("", "wait", "state seen"), ("attempts", "elapsed", "next")
        return waits_table(self._console, *titles, rows, summary) if waits else summary

    def _update(self, _: WaitProgress) -> None:
        if not self._can_redraw and self._clock() - self._logged_at >= LOG_INTERVAL:
            self._logged_at = self._clock()
            self._console.print(self._counts())

    def _visible(self) -> list[int]:
        """Return failures, then running waits, which get at least half of the rows."""
        most = MAX_ROWS
        # The final table may scroll.
        if self._can_redraw and not self._is_final:
            most = max(1, min(most, self._console.height - OTHER_LINES))
        failures = self._failures[: most - min(len(self.running), most // 2)]
        running = itertools.islice(self.running, most - len(failures))
        return [*failures, *running]

    def _row(self, wait: WaitProgress, now: float) -> Row:
        is_waiting = wait.state == "waiting"
        elapsed = now - self._started_at if is_waiting else wait.elapsed
        # The state is in words too, for screens without colours.
        following = self._next_in(wait, now) if is_waiting else wait.state
        texts = (
            one_line(str(wait.index), "dim"),
            LabelCell(_name(wait), self._labels, "red" if wait.state == "failed" else ""),
            one_line(wait.observed or ""),
        )
        return texts, (str(wait.attempts), f"{elapsed:.0f} s", following)

    def _summary(self, visible: int) -> str:
        hidden = len(self.running) + len(self._failures) - visible
        return f"{self._counts()}; {hidden} more not shown" if hidden > 0 else self._counts()

    def _counts(self) -> str:
        total, unpolled = len(self.waits), self._unpolled
        text = f"{total - len(self.running)} of {total} ended, {len(self._failures)} failed"
        # The first attempts of many waits are spread over what process and service allow.
        seconds = (self._clock() - self._started_at) * unpolled / max(1, total - unpolled)
        if total <= MAX_ROWS or seconds < 1:
            return text
        return f"{text}, {unpolled} not polled yet (about {seconds:.0f} s)"


def waits_table(
    console: Console,
    texts: Sequence[str],
    numbers: Sequence[str],
    rows: Iterable[Row],
    below: RenderableType | None = None,
) -> RenderableType:
    """Return a table of waits as wide as the console, by its titles, and what stands below it.

    On a narrow one the first two numbers are left out.
    """
    from rich.console import Group  # noqa: PLC0415 - optional
    from rich.constrain import Constrain  # noqa: PLC0415 - the same
    from rich.table import Table  # noqa: PLC0415 - the same

    left_out = 2 * (console.width < NARROW)
    table = Table(box=None, pad_edge=False, header_style="dim")
    # rich narrows only columns that may wrap: text gives way to numbers.
    for title in texts:
        table.add_column(one_line(title))
    for title in numbers[left_out:]:
        table.add_column(title, justify="right", no_wrap=True)
    for shown, counted in rows:
        table.add_row(*shown, *counted[left_out:])
    # A terminal echoes `^C` behind it, and rich would clear a line too few if that wrapped.
    return Constrain(table if below is None else Group(table, below), console.width - len("^C"))


def _name(wait: WaitProgress) -> str:
    return f"{wait.waiter} {wait.label}" if wait.label else wait.waiter

"""How many waits are getting on: for a callback, or as a table on stderr."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal

from .engine.wait_event import WaitEvent
from .exceptions import WaiterCancelledError, WaiterError
from .outcome import WaiterOutcome
from .runtime.clock import current_time
from .runtime.wait_run import WaitDescription

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from typing_extensions import Self

MOST_ROWS: Final = 25
"""Waits that the table shows where the screen is high enough; the line below it counts all."""

OTHER_LINES: Final = 3
"""The head, the line that counts, and the one of the cursor."""

NARROW: Final = 64
"""Columns of a screen that has no room for all of a row's numbers."""

REFRESHES_PER_SECOND: Final = 4

CUT: Final[dict[str, Any]] = {"no_wrap": True, "overflow": "ellipsis"}
"""How rich is told to keep words on one line."""

SECONDS_OF_SILENCE: Final = 30
"""A log gets a line that counts so often, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitProgress:
    """How one of many waits is getting on, and how many are over."""

    index: int
    """Its place among the waits that were given."""
    waiter: str
    """The waiter's name."""
    service: str | None
    """The service's name, as botocore spells it."""
    state: Literal["waiting", "succeeded", "failed", "cancelled"] = "waiting"
    """Whether it is over, and how."""
    observed: str | None = None
    """The state that the last attempt saw, or the code of its error, where it may be shown."""
    attempts: int = 0
    """Calls answered."""
    elapsed: float = 0.0
    """Seconds since the start."""
    next_look: float | None = None
    """Seconds from then until the next attempt; None if there is none."""
    ended: int = 0
    """Waits that are over, of all."""
    failed: int = 0
    """Waits that neither succeeded nor were cancelled, of all."""
    total: int = 0
    """All waits."""


class Progress:
    """Takes the news of many waits and passes it on.

    Args:
        descriptions: what is waited for, in order.
        callback: is told after each attempt and at each end.
    """

    def __init__(
        self, descriptions: Sequence[WaitDescription], callback: Callable[[WaitProgress], object]
    ) -> None:
        self._callback = callback
        self._waits = [
            WaitProgress(index=index, waiter=description.waiter, service=description.service)
            for index, description in enumerate(descriptions)
        ]
        self._ended = 0
        self._failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return

    def attempted(self, index: int, event: WaitEvent) -> None:
        """An attempt of the wait at `index` was answered."""
        self._tell(
            replace(
                self._waits[index],
                observed=event.error or event.observed,
                attempts=event.attempts,
                elapsed=event.elapsed,
                next_look=event.next_delay,
            )
        )

    def is_over(self, index: int, result: WaiterOutcome[Any] | Exception) -> None:
        """The wait at `index` ended."""
        state: Literal["succeeded", "failed", "cancelled"] = "succeeded"
        if isinstance(result, Exception):
            state = "cancelled" if isinstance(result, WaiterCancelledError) else "failed"
        self._ended += 1
        self._failed += state == "failed"
        last = replace(self._waits[index], state=state, next_look=None)
        if isinstance(result, (WaiterOutcome, WaiterError)):
            last = replace(last, attempts=result.attempts, elapsed=result.elapsed)
        self._tell(last)

    def _tell(self, wait: WaitProgress) -> None:
        wait = replace(wait, ended=self._ended, failed=self._failed, total=len(self._waits))
        self._waits[wait.index] = wait
        self._callback(wait)


class ProgressTable(Progress):
    """A table of the waits on stderr, by rich.

    Where that is no terminal (a log), the line that counts comes now and then, and the table at
    the end.

    Args:
        descriptions: what is waited for, in order.
        console: where it is drawn; stderr if not given.

    Raises:
        ModuleNotFoundError: rich is not installed.
    """

    def __init__(
        self, descriptions: Sequence[WaitDescription], console: Console | None = None
    ) -> None:
        super().__init__(descriptions, self._note)
        try:
            # Optional, and 60 ms that nobody else shall pay.
            from rich.console import Console  # noqa: PLC0415
            from rich.live import Live  # noqa: PLC0415
        except ImportError as error:
            raise ModuleNotFoundError(
                "progress=True needs rich: pip install 'boto-waiters-plus[cli]'"
            ) from error
        # The thread that draws reads what the one that waits writes.
        self._lock = threading.Lock()
        self._clock = current_time().clock()
        self._began = self._clock()
        self._looks = [math.nan] * len(descriptions)
        self._running = dict.fromkeys(range(len(descriptions)))
        self._failures: list[int] = []
        self._console = console or Console(stderr=True)
        self._can_redraw = self._console.is_terminal and not self._console.is_dumb_terminal
        self._said_at = self._began
        self._is_over = False
        self._live = Live(
            console=self._console,
            get_renderable=self.drawn,
            refresh_per_second=REFRESHES_PER_SECOND,
        )

    def __enter__(self) -> Self:
        if self._can_redraw:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over = True
        if self._can_redraw:
            self._live.stop()
        else:
            self._console.print(self.drawn())

    def drawn(self) -> RenderableType:
        """The table and the line below it, as of now."""
        from rich.console import Group  # noqa: PLC0415 - optional
        from rich.table import Table  # noqa: PLC0415 - optional
        from rich.text import Text  # noqa: PLC0415 - optional

        is_narrow = self._console.width < NARROW
        table = Table(box=None, pad_edge=False, header_style="dim")
        # Columns that could be wrapped give way to those that could not: words to numbers.
        table.add_column("", no_wrap=True)
        table.add_column("waiter")
        table.add_column("seen")
        for title in ("next look",) if is_narrow else ("attempts", "elapsed", "next look"):
            table.add_column(title, justify="right", no_wrap=True)
        with self._lock:
            waits = [self._waits[index] for index in self._shown()]
            now, summary = self._clock(), self._summary(len(waits))
            for wait in waits:
                row = self._row(wait, now)
                table.add_row(*(row[:3] + row[5:] if is_narrow else row))
        last = Text(summary, **CUT)
        return Group(table, last) if waits else last

    def _note(self, wait: WaitProgress) -> None:
        with self._lock:
            if wait.next_look is not None:
                self._looks[wait.index] = self._clock() + wait.next_look
            if wait.state != "waiting":
                self._running.pop(wait.index, None)
            if wait.state == "failed":
                self._failures.append(wait.index)
        if not self._can_redraw and self._clock() - self._said_at >= SECONDS_OF_SILENCE:
            self._said_at = self._clock()
            self._console.print(self._count())

    def _shown(self) -> list[int]:
        """Failures first, then what still runs, to which at least half of the rows are left."""
        most = MOST_ROWS
        # What is drawn last may scroll.
        if self._can_redraw and not self._is_over:
            most = max(1, min(most, self._console.height - OTHER_LINES))
        shown = self._failures[: most - min(len(self._running), most // 2)]
        for index in self._running:
            if len(shown) >= most:
                break
            shown.append(index)
        return shown

    def _row(self, wait: WaitProgress, now: float) -> tuple[Any, ...]:
        from rich.text import Text  # noqa: PLC0415 - optional

        is_over = wait.state != "waiting"
        elapsed = wait.elapsed if is_over else now - self._began
        left = self._looks[wait.index] - now
        # Said in words too: not every screen has colours.
        look = wait.state if is_over else "now" if not left > 0 else f"{left:.0f} s"
        name = f"{wait.service} {wait.waiter}" if wait.service else wait.waiter
        return (
            Text(str(wait.index), style="dim"),
            Text(name, style="red" if wait.state == "failed" else "", **CUT),
            # Never markup: what a service said is not ours to interpret.
            Text(wait.observed or "", **CUT),
            str(wait.attempts),
            f"{elapsed:.0f} s",
            look,
        )

    def _summary(self, shown: int) -> str:
        hidden = len(self._waits) - self._ended + self._failed - shown
        return f"{self._count()}; {hidden} more not shown" if hidden > 0 else self._count()

    def _count(self) -> str:
        return f"{self._ended} of {len(self._waits)} over, {self._failed} failed"

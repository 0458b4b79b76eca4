"""The progress of waits on stderr: a table that is redrawn on a terminal, else plain lines."""

from __future__ import annotations

import contextlib
import logging
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from ..common.labels import LabelCell, ShortLabels, one_line
from ..engine.redaction import printable
from ..engine.wait_event import WaitEvent
from ..progress import (
    OTHER_LINES,
    REFRESHES_PER_SECOND,
    LabelledWait,
    Progress,
    Row,
    WaitProgress,
    waits_table,
)
from .output import span

if TYPE_CHECKING:
    from rich.console import RenderableType
    from typing_extensions import Self

REPEAT_AFTER = 60.0
"""Seconds after which a line is printed although the state has not changed."""


class PlainProgress(Progress):
    """Progress as lines: one for each change of a state, and one a minute.

    Args:
        waits: the waits, in order: each waiter with the label of its wait.
        max_wait: the seconds that they may take.
        stream: where to print; None prints nothing.
    """

    def __init__(
        self, waits: Sequence[LabelledWait], max_wait: float, stream: TextIO | None
    ) -> None:
        super().__init__(waits, self._update, time.monotonic)
        self._max_wait = max_wait
        self._stream = stream
        # When a line was printed, and the state that it told.
        self._printed: list[tuple[float, str | None]] = [(-math.inf, None)] * len(waits)

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        """Clear the screen for other output inside the block."""
        yield

    def interrupted(self) -> list[WaitProgress]:
        """Return the waits that have not ended, with the time that has passed by now."""
        elapsed = self._clock() - self._started_at
        return [replace(self.waits[index], elapsed=elapsed) for index in self.running]

    @staticmethod
    def _observed(event: WaitEvent) -> str | None:
        return (not event.transient and event.message) or event.state or event.error

    def _update(self, wait: WaitProgress) -> None:
        now, (printed_at, told) = self._clock(), self._printed[wait.index]
        is_due = now - printed_at >= REPEAT_AFTER or wait.observed != told
        if wait.next_delay is not None and is_due:
            self._printed[wait.index] = now, wait.observed
            left = span(self._max_wait - wait.elapsed)
            attempt = f"attempt {wait.attempts} after {span(wait.elapsed)}"
            times = f"{attempt}, next in {span(wait.next_delay)}, {left} left"
            self._print(f"{wait.label}: {printable(wait.observed or 'no state')}, {times}")

    def _print(self, line: str) -> None:
        if self._stream is None:
            return
        try:
            print(line, file=self._stream, flush=True)
        except OSError:
            # The reader has gone, which is no reason to end a wait.
            self._stream = None


class LiveProgress(PlainProgress):
    """Progress as a table of the waits that have not ended, redrawn by rich.

    Raises:
        ImportError: rich is not installed.
    """

    def __init__(self, waits: Sequence[LabelledWait], max_wait: float, stream: TextIO) -> None:
        super().__init__(waits, max_wait, None)
        # rich is optional, and takes 20 ms to import.
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        self.console = Console(file=stream)
        self._labels = ShortLabels(label for _, label in waits)
        self._make_live = partial(
            Live,
            console=self.console,
            get_renderable=self.render,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        # One that is started again draws over what was printed in between.
        self._live = self._make_live()
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        """Remove the table; draw it again at the end if a wait is left."""
        self._live.stop()
        yield
        if self.running:
            self.__enter__()

    def render(self) -> RenderableType:
        """Return the table as of now."""
        now = self._clock()
        with self._lock:
            visible = [*self.running][: max(1, self.console.height - OTHER_LINES)]
            rows = [self._row(self.waits[index], now) for index in visible]
            running = len(self.running)
        count = f"{len(self.waits) - running} of {len(self.waits)} ended"
        if hidden := running - len(visible):
            count += f"; {hidden} more not shown"
        below = one_line(count, "dim") if len(self.waits) > 1 else None
        titles = ("waiting for", "state seen"), ("attempts", "elapsed", "left", "next")
        return waits_table(self.console, *titles, rows, below)

    def _row(self, wait: WaitProgress, now: float) -> Row:
        state = one_line(printable(wait.observed or ""), "bold")
        elapsed = now - self._started_at
        left = max(0.0, self._max_wait - elapsed)
        numbers = str(wait.attempts), span(elapsed), span(left), self._next_in(wait, now)
        return (LabelCell(wait.label, self._labels), state), numbers


def progress_on_stderr(
    waits: Sequence[LabelledWait], max_wait: float, *, quiet: bool
) -> PlainProgress:
    """Return the progress of waits on stderr, in the form that suits it."""
    stream: Any = None if quiet else sys.stderr
    # The table would be drawn over the lines of `--debug`.
    is_logged = logging.getLogger("boto_waiters_plus").isEnabledFor(logging.DEBUG)
    if stream and stream.isatty() and not is_logged:
        with contextlib.suppress(ImportError):
            live = LiveProgress(waits, max_wait, stream)
            if not live.console.is_dumb_terminal:
                return live
    return PlainProgress(waits, max_wait, stream)

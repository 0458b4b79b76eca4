"""The progress of waits on stderr: a table that is redrawn on a terminal, else plain lines."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from ..common.labels import LabelCell, ShortLabels, one_line
from ..engine.redaction import printable
from ..engine.wait_event import WaitEvent
from ..progress import OTHER_LINES, REFRESHES_PER_SECOND, Row, WaitProgress, waits_table
from .output import span

if TYPE_CHECKING:
    from rich.console import RenderableType
    from typing_extensions import Self

REPEAT_AFTER = 60.0
"""Seconds after which a line is printed although the state has not changed."""


class PlainProgress:
    """Progress as lines: one for each change of a state, and one a minute.

    Args:
        labels: what the waits are about.
        max_wait: the seconds that they may take.
        stream: where to print; None prints nothing.
    """

    def __init__(self, labels: Sequence[str], max_wait: float, stream: TextIO | None) -> None:
        self.waits = [
            # The command names the one waiter itself.
            WaitProgress(index=index, waiter="", label=label, service=None)
            for index, label in enumerate(labels)
        ]
        self._max_wait = max_wait
        self._stream = stream
        self._lock = threading.Lock()
        self._started_at = time.monotonic()
        self._attempted_at = [self._started_at] * len(labels)
        self._printed_at = [float("-inf")] * len(labels)
        self._running = dict.fromkeys(range(len(labels)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def observer(self, index: int) -> Callable[[WaitEvent], None]:
        """Return the `on_attempt` of the wait at `index`."""
        return partial(self._attempted, index)

    def ended(self, index: int) -> None:
        """Note the end of the wait at `index`."""
        with self._lock:
            self._running.pop(index, None)

    @property
    def running(self) -> list[int]:
        """The places of the waits that have not ended."""
        return list(self._running)

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        """Clear the screen for other output inside the block."""
        yield

    def _attempted(self, index: int, event: WaitEvent) -> None:
        now = time.monotonic()
        with self._lock:
            before, delay = self.waits[index], event.next_delay
            self._attempted_at[index] = now
            self.waits[index] = wait = replace(
                before,
                observed=(not event.transient and event.message) or event.state or event.error,
                reported=event.reported,
                attempts=event.attempt,
                elapsed=event.elapsed,
                next_delay=delay,
            )
            is_due = now - self._printed_at[index] >= REPEAT_AFTER
            if delay is not None and (is_due or wait.observed != before.observed):
                self._printed_at[index] = now
                self._print(f"{_plain(wait, delay)}, {span(self._max_wait - event.elapsed)} left")

    def _print(self, line: str) -> None:
        if self._stream is None:
            return
        try:
            print(line, file=self._stream, flush=True)
        except OSError:
            # The reader has gone, which is no reason to end a wait.
            self._stream = None


def _plain(wait: WaitProgress, delay: float) -> str:
    state = printable(wait.observed or "no state")
    attempt = f"attempt {wait.attempts} after {span(wait.elapsed)}"
    return f"{wait.label}: {state}, {attempt}, next in {span(delay)}"


class LiveProgress(PlainProgress):
    """Progress as a table of the waits that have not ended, redrawn by rich.

    Raises:
        ImportError: rich is not installed.
    """

    def __init__(self, labels: Sequence[str], max_wait: float, stream: TextIO) -> None:
        super().__init__(labels, max_wait, None)
        # rich is optional, and takes 20 ms to import.
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        self.console = Console(file=stream)
        self._labels = ShortLabels(labels)
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
        if self._running:
            self.__enter__()

    def render(self) -> RenderableType:
        """Return the table as of now."""
        now = time.monotonic()
        with self._lock:
            visible = self.running[: max(1, self.console.height - OTHER_LINES)]
            rows = [self._row(self.waits[index], now) for index in visible]
            running = len(self._running)
        count = f"{len(self.waits) - running} of {len(self.waits)} ended"
        if hidden := running - len(visible):
            count += f"; {hidden} more not shown"
        below = one_line(count, "dim") if len(self.waits) > 1 else None
        titles = ("waiting for", "state seen"), ("attempts", "elapsed", "left", "next")
        return waits_table(self.console, *titles, rows, below)

    def _row(self, wait: WaitProgress, now: float) -> Row:
        state = one_line(printable(wait.observed or ""), "bold")
        elapsed = now - self._started_at
        due_in = self._attempted_at[wait.index] + (wait.next_delay or 0) - now
        following = f"{due_in:.0f} s" if due_in > 0 else "now"
        left = max(0.0, self._max_wait - elapsed)
        numbers = str(wait.attempts), span(elapsed), span(left), following
        return (LabelCell(wait.label, self._labels), state), numbers


def progress_on_stderr(labels: Sequence[str], max_wait: float, *, quiet: bool) -> PlainProgress:
    """Return the progress of waits on stderr, in the form that suits it."""
    stream: Any = None if quiet else sys.stderr
    if stream and stream.isatty():
        with contextlib.suppress(ImportError):
            live = LiveProgress(labels, max_wait, stream)
            if not live.console.is_dumb_terminal:
                return live
    return PlainProgress(labels, max_wait, stream)

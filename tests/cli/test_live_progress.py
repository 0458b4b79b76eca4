"""The progress of waits, as lines and as a table."""

import io
import re
import sys

import pytest

from boto_waiters_plus.cli.live_progress import LiveProgress, PlainProgress, progress_on_stderr
from boto_waiters_plus.engine.wait_event import WaitEvent


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ClosedPipe(io.StringIO):
    def write(self, _):
        raise BrokenPipeError


@pytest.fixture
def event():
    """`event(state, attempts)`."""

    def make(state, attempts=1, **facts):
        facts = {"elapsed": 90.0, "next_delay": 5.0, "state": state, "attempt": attempts, **facts}
        return WaitEvent(kind="attempt", wait_id=1, waiter="W", operation="O", **facts)

    return make


@pytest.fixture
def terminal(monkeypatch):
    """A terminal as stderr: `terminal(columns)`."""

    def make(columns):
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", "6")
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        return stream

    return make


def drawn(progress):
    with progress.console.capture() as capture:
        progress.console.print(progress.render())
    return [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in capture.get().splitlines()]


def test_a_line_for_each_change_of_the_state(event):
    stream = io.StringIO()
    progress = PlainProgress(["s3 Bucket=b"], 300, stream)
    attempted = progress.observer(0)
    for number, state in enumerate(["A", "A", "B\n"], 1):
        attempted(event(state, number))
    attempted(event("C", 4, next_delay=None))
    assert stream.getvalue().splitlines() == [
        "s3 Bucket=b: A, attempt 1 after 1m30s, next in 5.0 s, 3m30s left",
        "s3 Bucket=b: B\\n, attempt 3 after 1m30s, next in 5.0 s, 3m30s left",
    ]


def test_a_closed_stream_ends_the_lines_only(event):
    PlainProgress(["s3"], 300, ClosedPipe()).observer(0)(event("A"))


def test_table_on_a_terminal(terminal, event, virtual_time):
    terminal(80)
    progress = progress_on_stderr(["s3 Bucket=a", "s3 Bucket=b"], 300, quiet=False)
    progress.observer(1)(event("[red]", 2))
    head, first, second, _ = drawn(progress)
    titles = ["waiting for", "state seen", "attempts", "elapsed", "left", "next"]
    assert re.split(r"  +", head) == titles
    assert re.split(r"  +", first) == ["s3 Bucket=a", "0", "0.0 s", "5m00s", "now"]
    assert re.split(r"  +", second)[:3] == ["s3 Bucket=b", "[red]", "2"]
    assert re.split(r"  +", second)[4:] == ["5m00s", "5 s"]
    progress.ended(0)
    assert [line[:13] for line in drawn(progress)[1:]] == ["s3 Bucket=b  ", "1 of 2 ended"]


@pytest.mark.parametrize("columns", [30, 60, 80, 140])
def test_table_fits_the_screen(terminal, event, columns):
    terminal(columns)
    labels = [f"s3 Bucket={'b' * 60}{number}" for number in range(9)]
    progress = progress_on_stderr(labels, 300, quiet=False)
    progress.observer(0)(event("A" * 200))
    lines = drawn(progress)
    assert max(map(len, lines)) <= columns
    assert len(lines) == 6 - 1  # the cursor has a line
    assert lines[0].endswith("left     next") or lines[0].endswith("left  next")


@pytest.mark.parametrize("columns", [60, 80])
def test_rows_of_200_waits_can_be_told_apart(terminal, event, columns, monkeypatch):
    terminal(columns)
    monkeypatch.setenv("LINES", "24")
    names = [f"my-companys-production-eu-west-1-shard-{number:03}" for number in range(200)]
    progress = progress_on_stderr([f"s3 Bucket={name}" for name in names], 300, quiet=False)
    for index in range(200):
        progress.observer(index)(event("404"))
    _, *rows, last = drawn(progress)
    assert [row.split()[0][-9:] for row in rows] == [name[-9:] for name in names[:21]]
    assert last == "0 of 200 ended; 179 more not shown"


def test_no_colour_is_respected(terminal, event, monkeypatch):
    stream = terminal(80)
    monkeypatch.setenv("NO_COLOR", "1")
    with progress_on_stderr(["s3"], 300, quiet=False) as progress:
        assert isinstance(progress, LiveProgress)
        progress.observer(0)(event("A"))
    assert not re.search(r"\x1b\[[\d;]*3\d", stream.getvalue())


@pytest.mark.parametrize(("term", "hidden"), [("dumb", None), ("xterm", "rich.live")])
def test_lines_stand_in_for_a_table(terminal, monkeypatch, term, hidden):
    terminal(80)
    monkeypatch.setenv("TERM", term)
    if hidden:
        monkeypatch.setitem(sys.modules, hidden, None)
    assert not isinstance(progress_on_stderr(["s3"], 300, quiet=False), LiveProgress)


def test_lines_printed_in_between_stay_above_the_table(terminal, event):
    stream = terminal(80)
    with progress_on_stderr(["s3 Bucket=a", "s3 Bucket=b"], 300, quiet=False) as progress:
        progress.observer(0)(event("A"))
        progress.ended(0)
        with progress.cleared():
            stream.write("the outcome\n")
        progress.ended(1)
        with progress.cleared():
            stream.write("the other\n")
    drawn_after = stream.getvalue().partition("the outcome\n")[2]
    table = drawn_after.index("waiting for")
    assert "\x1b[1A" not in drawn_after[:table]  # would go up, over the outcome
    assert "waiting for" not in drawn_after.partition("the other\n")[2]

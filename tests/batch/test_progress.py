"""Progress: what a callback gets, and the table on stderr."""

import contextlib
import io
import json
import os
import re
import sys
import threading
from unittest import mock

import pytest
from batch.calls import run_blocking
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from boto_waiters_plus import Wait, wait_all
from boto_waiters_plus.testing import virtual_time as open_virtual_time

MOST_ROWS = 25
DENIED = {"Error": {"Code": "AccessDenied", "Message": "no"}}
IS_SET = threading.Event()
IS_SET.set()


def test_callback_gets_each_attempt_and_each_end(exists, s3, virtual_time):
    virtual_time.call_at(15, lambda: s3.create_bucket(Bucket="late"))
    reports = []
    waits = [exists(s3, "late", delay_pace=lambda _: 10), exists(s3, "never", max_attempts=1)]
    wait_all(waits, progress=reports.append, on_failure="collect")
    told = [[], []]
    for r in reports:
        told[r.index].append((r.state, r.observed, r.attempts, r.elapsed, r.next_delay))
    assert told[0] == [
        ("waiting", "404", 1, 0, 10),
        ("waiting", "404", 2, 10, 10),
        ("waiting", None, 3, 20, None),
        ("succeeded", None, 3, 20, None),
    ]
    assert [each[:3] for each in told[1]] == [("waiting", "404", 1), ("failed", "404", 1)]
    assert {(r.waiter, r.service, r.total) for r in reports} == {("BucketExists", "s3", 2)}
    assert [(r.ended, r.failed) for r in reports][-1] == (2, 1)
    assert [r.unpolled for r in reports][::5] == [1, 0]
    assert sorted((r.ended, r.failed) for r in reports) == [(r.ended, r.failed) for r in reports]


def interrupt(_):
    raise KeyboardInterrupt


def lines_of(streams, *, columns=100, seconds=0, err=None, **options):
    """Return the lines on stderr until the waits for streams end, or one is interrupted.

    Args:
        streams: the state of each, or a response, and the options of its wait.
        columns: of the screen.
        seconds: how long a call takes.
        err: stands for stderr.
        options: of all waits.
    """

    def waits_of(clients):
        for name, (_, own) in streams.items():
            fixed = {"min_delay": 30, "delay_pace": "fixed", "max_wait": 300}
            yield Wait(clients["us-east-1"], "stream_exists", {"StreamName": name}, **fixed | own)

    def answer(_name, params):
        state, _ = streams[json.loads(params["body"])["StreamName"]]
        state = state() if callable(state) else state
        response = {"StreamDescription": {"StreamStatus": state}}
        return seconds, DENIED if state is DENIED else response

    err = err or io.StringIO()
    with (
        mock.patch.dict(os.environ, COLUMNS=str(columns), LINES="8", TERM="xterm"),
        contextlib.redirect_stderr(err),
        contextlib.suppress(KeyboardInterrupt),
    ):
        of_all = {"service": "kinesis", "progress": True, **options}
        run_blocking(["us-east-1"], answer, waits_of, **of_all)
    return err.getvalue().splitlines()


FAILING, RUNNING = (DENIED, {}), ("CREATING", {})
INTERRUPTED = ("CREATING", {"initial_delay": 100, "on_attempt": interrupt})


def test_row_has_state_seen_and_time_to_next_attempt(virtual_time):
    late = ("CREATING", {"initial_delay": 200})
    streams = {"a": ("[red]boo[/red]", {}), "b": late, "c": INTERRUPTED}
    head, *rows, _, counts = [line.split() for line in lines_of(streams)][-5:]
    assert head == ["wait", "state", "seen", "attempts", "elapsed", "next"]
    label = ["StreamExists", "kinesis"]
    assert rows == [
        # Not read as markup.
        ["0", *label, "StreamName=a", "[red]boo[/red]", "4", "100", "s", "20", "s"],
        ["1", *label, "StreamName=b", "0", "100", "s", "now"],
    ]
    assert counts == ["0", "of", "3", "ended,", "0", "failed"]


def test_failures_come_first_and_successes_are_dropped(virtual_time):
    cancelled = ("CREATING", {"cancel_event": IS_SET})
    given = (("ACTIVE", {}), RUNNING, FAILING, cancelled, INTERRUPTED)
    streams = dict(zip("abcde", given, strict=True))
    *_, failed, running, _, counts = lines_of(streams)
    assert [failed.split()[0], running.split()[0]] == ["2", "1"]
    assert "AccessDenied" in failed
    assert counts == "3 of 5 ended, 1 failed"


def test_table_shows_few_waits_and_counts_all(virtual_time):
    streams = {"a": ("ACTIVE", {}), **{f"b{n}": FAILING for n in range(60)}}
    lines = lines_of(streams)
    assert len(lines) == MOST_ROWS + 2
    assert lines[-1] == f"61 of 61 ended, 60 failed; {60 - MOST_ROWS} more not shown"


def test_table_counts_the_first_attempts_to_come(virtual_time):
    streams = {f"a{n}": RUNNING for n in range(300)}
    streams["a100"] = ("CREATING", {"on_attempt": interrupt})
    *_, counts = lines_of(streams, seconds=0.04, threads=1)
    assert counts.startswith("0 of 300 ended, 0 failed, 200 not polled yet (about 8 s)")


class Terminal(io.StringIO):
    """A screen that tells when a table was drawn on it.

    Attributes:
        drawings: what was drawn, each as lines.
    """

    def __init__(self):
        super().__init__()
        self.drawings = []
        self.is_drawn = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        if "ended" in text:
            plain = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", text)
            self.drawings.append([line.split() for line in plain.strip().splitlines()])
            self.is_drawn.set()
        return len(text)


def test_counts_fit_on_a_low_screen(virtual_time):
    err = Terminal()

    def draw(event):
        # The second has begun after all that was reported so far.
        for _ in range(2):
            err.is_drawn.clear()
            err.is_drawn.wait(60)
        shown.extend(err.drawings[-1:])
        interrupt(event)

    shown, streams = [], {f"a{n}": FAILING if n < 20 else RUNNING for n in range(300)}
    streams["last"] = ("CREATING", {"initial_delay": 5, "on_attempt": draw})
    lines_of(streams, err=err, threads=1)
    [table] = shown
    assert len(table) == 7
    # Half of the rows are for running waits.
    assert [row[0] for row in table[1:-1]] == ["0", "1", "2", "20", "21"]
    assert table[-1][-4:] == ["296", "more", "not", "shown"]
    # The final table may scroll.
    assert len(err.drawings[-1]) == MOST_ROWS + 2


def test_narrow_screen_cuts_text_before_numbers(virtual_time):
    long = "A" * 60
    streams = {
        **{f"{long}{n}": ("CREATING" * 5, {}) for n in range(3)},
        "failing": FAILING,
        "last": ("CREATING", {"initial_delay": 5, "on_attempt": interrupt}),
    }
    head, failed, running, *others = lines_of(streams, columns=40)
    assert all(len(line) <= 40 for line in (head, failed, running, *others))
    assert (failed[:2], failed[-6:]) == ("3 ", "failed")
    assert (running[:2], running[-4:]) == ("0 ", "25 s")
    assert head.endswith("next")


@given(
    start=st.text("ab-", max_size=50),
    end=st.text("ab-", max_size=50),
    ids=st.sets(st.text("0123", min_size=1, max_size=6), min_size=2, max_size=MOST_ROWS),
    columns=st.integers(64, 120),
)
@settings(max_examples=10)
def test_rows_of_long_names_can_be_told_apart(start, end, ids, columns):
    with open_virtual_time():
        streams = {f"{start}{each}{end}": FAILING for each in ids}
        _, *rows, _ = lines_of(streams, columns=columns)
    assert max(map(len, rows)) <= columns
    assert len({tuple(row.split()[1:]) for row in rows}) == len(ids)


def test_log_gets_counts_regularly_and_the_final_table(virtual_time):
    def state():
        return "ACTIVE" if virtual_time.now >= 122 else "CREATING"

    def end(event):
        if event.elapsed == 124:
            interrupt(event)

    often = {"min_delay": 2}
    streams = {"a": (state, often), "b": ("CREATING", {**often, "on_attempt": end})}
    *logged, _, row, counts = lines_of(streams)
    assert logged == ["0 of 2 ended, 0 failed"] * 4
    assert row.split()[:3] == ["1", "StreamExists", "kinesis"]
    assert counts == "1 of 2 ended, 0 failed"


def test_table_is_drawn_on_stderr_and_ends_when_waits_raise(exists, s3, virtual_time, capsys):
    with pytest.raises(KeyboardInterrupt):
        wait_all([exists(s3, "first", on_attempt=interrupt)], progress=True)
    assert "0 of 1 ended" in capsys.readouterr().err
    # rich refuses a second live table.
    Console().print("")
    capsys.readouterr()
    wait_all([exists(s3, "first")], progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1 of 1 ended, 0 failed" in captured.err


def test_missing_rich_is_named(exists, s3, monkeypatch):
    requests = []
    s3.meta.events.register("before-call", lambda **_: requests.append(1))
    monkeypatch.setitem(sys.modules, "rich.live", None)
    with pytest.raises(ModuleNotFoundError, match="rich"):
        wait_all([exists(s3, "first")], progress=True)
    assert requests == []

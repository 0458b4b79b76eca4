"""Progress: what a callback gets, and the table on stderr."""

import io
import sys

import pytest
from rich.console import Console

from boto_waiters_plus.engine.wait_description import WaitDescription
from boto_waiters_plus.engine.wait_event import WaitEvent
from boto_waiters_plus.exceptions import WaiterCancelledError, WaiterFailedError
from boto_waiters_plus.many import wait_all
from boto_waiters_plus.outcome import WaiterOutcome
from boto_waiters_plus.progress import MAX_ROWS, ProgressTable


def test_callback_gets_each_attempt_and_each_end(exists, s3, virtual_time):
    virtual_time.call_at(15, lambda: s3.create_bucket(Bucket="late"))
    reports = []
    wait_all(
        [exists(s3, "late", delay_pace=lambda _: 10), exists(s3, "never", max_attempts=1)],
        progress=reports.append,
        on_failure="collect",
    )
    of_late = [
        (r.state, r.observed, r.attempts, r.elapsed, r.next_delay) for r in reports if r.index == 0
    ]
    assert of_late == [
        ("waiting", "404", 1, 0, 10),
        ("waiting", "404", 2, 10, 10),
        ("waiting", None, 3, 20, None),
        ("succeeded", None, 3, 20, None),
    ]
    of_never = [(r.state, r.observed, r.attempts) for r in reports if r.index == 1]
    assert of_never == [("waiting", "404", 1), ("failed", "404", 1)]
    assert {(r.waiter, r.service, r.total) for r in reports} == {("BucketExists", "s3", 2)}
    assert [(r.ended, r.failed) for r in reports][-1] == (2, 1)
    assert [r.unpolled for r in reports][::5] == [1, 0]
    assert sorted((r.ended, r.failed) for r in reports) == [(r.ended, r.failed) for r in reports]


def description(name="BucketExists"):
    described = WaitDescription(
        waiter=name, operation="HeadBucket", service="s3", goal="", acceptors=(), states=()
    )
    return described, "s3 Bucket=b"


def render(table):
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(table.render())
    return [line.split() for line in console.file.getvalue().splitlines()]


def attempt(observed, next_delay=None, attempts=1, error=None):
    return WaitEvent(
        kind="attempt",
        wait_id=1,
        waiter="BucketExists",
        operation="HeadBucket",
        attempt=attempts,
        elapsed=0,
        state=observed,
        error=error,
        next_delay=next_delay,
    )


def outcome():
    return WaiterOutcome(waiter="BucketExists", attempts=1, elapsed=0, acceptor=None)


def test_row_has_state_seen_and_time_to_next_attempt(virtual_time):
    table = ProgressTable([description(), description("BucketNotExists")])
    table.attempted(0, attempt("CREATING", next_delay=30, attempts=4))
    virtual_time.advance(10)
    assert render(table) == [
        ["wait", "state", "seen", "attempts", "elapsed", "next"],
        ["0", "BucketExists", "s3", "Bucket=b", "CREATING", "4", "10", "s", "20", "s"],
        ["1", "BucketNotExists", "s3", "Bucket=b", "0", "10", "s", "now"],
        ["0", "of", "2", "ended,", "0", "failed"],
    ]


def test_failures_come_first_and_successes_are_dropped(virtual_time):
    table = ProgressTable([description() for _ in range(4)])
    table.ended(0, outcome())
    table.attempted(2, attempt(None, error="AccessDenied"))
    table.ended(2, WaiterFailedError("BucketExists", "no"))
    table.ended(3, WaiterCancelledError("BucketExists", "cancelled"))
    rows = render(table)
    assert [row[0] for row in rows[1:-1]] == ["2", "1"]
    assert "AccessDenied" in rows[1]
    assert rows[-1] == ["3", "of", "4", "ended,", "1", "failed"]


def test_table_shows_few_waits_and_counts_all(virtual_time):
    table = ProgressTable([description() for _ in range(1000)])
    table.ended(0, outcome())
    rows = render(table)
    assert len(rows) == MAX_ROWS + 2
    assert " ".join(rows[-1]) == f"1 of 1000 ended, 0 failed; {999 - MAX_ROWS} more not shown"


def test_table_counts_the_first_attempts_to_come(virtual_time):
    table = ProgressTable([description() for _ in range(300)])
    virtual_time.advance(4)
    for index in range(100):
        table.attempted(index, attempt("CREATING", next_delay=1))
        table.attempted(index, attempt("CREATING", next_delay=1))
    table.ended(0, outcome())
    assert "1 of 300 ended, 0 failed, 200 not polled yet (about 8 s)" in " ".join(render(table)[-1])


def test_state_seen_is_not_read_as_markup(virtual_time):
    table = ProgressTable([description()])
    table.attempted(0, attempt("[red]boo[/red]"))
    assert "[red]boo[/red]" in render(table)[1]


def screen(width, height):
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, force_terminal=True, color_system=None)
    return console, file


def test_counts_fit_on_a_low_screen(virtual_time):
    console, _ = screen(100, 8)
    table = ProgressTable([description() for _ in range(300)], console)
    for index in range(20):
        table.ended(index, WaiterFailedError("BucketExists", "no"))
    rows = render(table)
    assert len(rows) == 7
    # Half of the rows are for running waits.
    assert [row[0] for row in rows[1:-1]] == ["0", "1", "2", "20", "21"]
    assert rows[-1][-4:] == ["295", "more", "not", "shown"]
    with table:
        pass
    # The final table may scroll.
    assert len(render(table)) == MAX_ROWS + 2


def test_narrow_screen_cuts_text_before_numbers(virtual_time):
    console, file = screen(40, 20)
    table = ProgressTable([description("A" * 60) for _ in range(300)], console)
    table.attempted(0, attempt("CREATING" * 5, next_delay=30))
    table.ended(299, WaiterFailedError("BucketExists", "no"))
    console.print(table.render())
    lines = file.getvalue().splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith("299  AAA")
    assert lines[1].endswith("failed")
    assert lines[2].startswith("0    AAA")
    assert lines[2].endswith("30 s")
    assert lines[0].endswith("next")


def test_log_gets_counts_regularly_and_the_final_table(virtual_time):
    file = io.StringIO()
    console = Console(file=file, width=100)
    with ProgressTable([description(), description()], console) as table:
        for _ in range(60):
            virtual_time.advance(2)
            table.attempted(1, attempt("CREATING", next_delay=1))
        table.ended(0, outcome())
        assert file.getvalue() == "0 of 2 ended, 0 failed\n" * 4
    assert file.getvalue().splitlines()[-2].split()[:3] == ["1", "BucketExists", "s3"]
    assert file.getvalue().endswith("\n1 of 2 ended, 0 failed\n")


def test_progress_true_draws_on_stderr(exists, s3, virtual_time, capsys):
    wait_all([exists(s3, "first")], progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1 of 1 ended, 0 failed" in captured.err


def test_table_ends_when_waits_raise(exists, s3, virtual_time, capsys):
    def broken(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_all([exists(s3, "first", on_attempt=broken)], progress=True)
    assert "0 of 1 ended" in capsys.readouterr().err
    # rich refuses a second live table.
    Console().print("")
    wait_all([exists(s3, "first")], progress=True)


def test_missing_rich_is_named(exists, s3, monkeypatch):
    requests = []
    s3.meta.events.register("before-call", lambda **_: requests.append(1))
    monkeypatch.setitem(sys.modules, "rich.live", None)
    with pytest.raises(ModuleNotFoundError, match="pip install rich"):
        wait_all([exists(s3, "first")], progress=True)
    assert requests == []


def test_rows_of_long_names_can_be_told_apart():
    waits = [(description()[0], f"s3 Bucket={'b' * 60}-{number:03}") for number in range(200)]
    table = ProgressTable(waits, console=Console(file=io.StringIO(), width=80))
    with table:
        text = io.StringIO()
        Console(file=text, width=80).print(table.render())
    assert all(f"-{number:03} " in text.getvalue() for number in range(MAX_ROWS))

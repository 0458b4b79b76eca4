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


def table_of(count, *, waiter="BucketExists", label="s3 Bucket=b", console=None):
    """Return the table of some waits."""
    rest = {"operation": "HeadBucket", "service": "s3", "goal": "", "acceptors": (), "states": ()}
    described = WaitDescription(waiter=waiter, **rest)
    return ProgressTable([(described, label.format(n)) for n in range(count)], console)


def render(table):
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(table.render())
    return [line.split() for line in console.file.getvalue().splitlines()]


def attempt(state, **members):
    members = {"attempt": 1, "error": None, "next_delay": None, "elapsed": 0, **members}
    about = {"wait_id": 1, "waiter": "BucketExists", "operation": "HeadBucket"}
    return WaitEvent(kind="attempt", state=state, **about, **members)


OUTCOME = WaiterOutcome(waiter="BucketExists", attempts=1, elapsed=0, acceptor=None)
FAILED = WaiterFailedError("BucketExists", "no")


def test_row_has_state_seen_and_time_to_next_attempt(virtual_time):
    table = table_of(2)
    table.attempted(0, attempt("[red]boo[/red]", next_delay=30, attempt=4))
    virtual_time.advance(10)
    assert render(table) == [
        ["wait", "state", "seen", "attempts", "elapsed", "next"],
        # Not read as markup.
        ["0", "BucketExists", "s3", "Bucket=b", "[red]boo[/red]", "4", "10", "s", "20", "s"],
        ["1", "BucketExists", "s3", "Bucket=b", "0", "10", "s", "now"],
        ["0", "of", "2", "ended,", "0", "failed"],
    ]


def test_failures_come_first_and_successes_are_dropped(virtual_time):
    table = table_of(4)
    table.ended(0, OUTCOME)
    table.attempted(2, attempt(None, error="AccessDenied"))
    table.ended(2, FAILED)
    table.ended(3, WaiterCancelledError("BucketExists", "cancelled"))
    rows = render(table)
    assert [row[0] for row in rows[1:-1]] == ["2", "1"]
    assert "AccessDenied" in rows[1]
    assert rows[-1] == ["3", "of", "4", "ended,", "1", "failed"]


def test_table_shows_few_waits_and_counts_all(virtual_time):
    table = table_of(1000)
    table.ended(0, OUTCOME)
    rows = render(table)
    assert len(rows) == MAX_ROWS + 2
    assert " ".join(rows[-1]) == f"1 of 1000 ended, 0 failed; {999 - MAX_ROWS} more not shown"


def test_table_counts_the_first_attempts_to_come(virtual_time):
    table = table_of(300)
    virtual_time.advance(4)
    for index in range(100):
        for _ in range(2):
            table.attempted(index, attempt("CREATING", next_delay=1))
    table.ended(0, OUTCOME)
    assert "1 of 300 ended, 0 failed, 200 not polled yet (about 8 s)" in " ".join(render(table)[-1])


def screen(width, height):
    options = {"force_terminal": True, "color_system": None}
    return Console(file=io.StringIO(), width=width, height=height, **options)


def test_counts_fit_on_a_low_screen(virtual_time):
    table = table_of(300, console=screen(100, 8))
    for index in range(20):
        table.ended(index, FAILED)
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
    console = screen(40, 20)
    table = table_of(300, waiter="A" * 60, console=console)
    table.attempted(0, attempt("CREATING" * 5, next_delay=30))
    table.ended(299, FAILED)
    console.print(table.render())
    head, failed, running, *others = console.file.getvalue().splitlines()
    assert all(len(line) <= 40 for line in (head, failed, running, *others))
    assert (failed[:8], failed[-6:]) == ("299  AAA", "failed")
    assert (running[:8], running[-4:]) == ("0    AAA", "30 s")
    assert head.endswith("next")


def test_rows_of_long_names_can_be_told_apart():
    console = Console(file=io.StringIO(), width=80)
    console.print(table_of(200, label="b" * 60 + "-{:03}", console=console).render())
    assert all(f"-{number:03} " in console.file.getvalue() for number in range(MAX_ROWS))


def test_log_gets_counts_regularly_and_the_final_table(virtual_time):
    console = Console(file=io.StringIO(), width=100)
    with table_of(2, console=console) as table:
        for _ in range(60):
            virtual_time.advance(2)
            table.attempted(1, attempt("CREATING", next_delay=1))
        table.ended(0, OUTCOME)
        assert console.file.getvalue() == "0 of 2 ended, 0 failed\n" * 4
    *_, row, counts = console.file.getvalue().splitlines()
    assert row.split()[:3] == ["1", "BucketExists", "s3"]
    assert counts == "1 of 2 ended, 0 failed"


def test_table_is_drawn_on_stderr_and_ends_when_waits_raise(exists, s3, virtual_time, capsys):
    def broken(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_all([exists(s3, "first", on_attempt=broken)], progress=True)
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
    with pytest.raises(ModuleNotFoundError, match="pip install rich"):
        wait_all([exists(s3, "first")], progress=True)
    assert requests == []

"""Progress: a callback's news, and the table on stderr."""

import io
import sys

import pytest
from rich.console import Console

from boto_waiters_plus.engine.wait_event import WaitEvent
from boto_waiters_plus.exceptions import WaiterCancelledError, WaiterFailedError
from boto_waiters_plus.many import Wait, wait_all, wait_any
from boto_waiters_plus.outcome import WaiterOutcome
from boto_waiters_plus.progress import MOST_ROWS, ProgressTable
from boto_waiters_plus.runtime.wait_run import WaitDescription


def exists(s3, bucket, max_wait=100, **options):
    return Wait(s3, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)


def test_a_callback_is_told_of_each_attempt_and_each_end(s3, virtual_time):
    virtual_time.call_at(15, lambda: s3.create_bucket(Bucket="late"))
    news = []
    wait_all(
        [exists(s3, "late", delay_pace=lambda _: 10), exists(s3, "never", max_attempts=1)],
        progress=news.append,
        on_failure="collect",
    )
    of_late = [
        (n.state, n.observed, n.attempts, n.elapsed, n.next_look) for n in news if n.index == 0
    ]
    assert of_late == [
        ("waiting", "404", 1, 0, 10),
        ("waiting", "404", 2, 10, 10),
        ("waiting", None, 3, 20, None),
        ("succeeded", None, 3, 20, None),
    ]
    of_never = [(n.state, n.observed, n.attempts) for n in news if n.index == 1]
    assert of_never == [("waiting", "404", 1), ("failed", "404", 1)]
    assert {(n.waiter, n.service, n.total) for n in news} == {("BucketExists", "s3", 2)}
    assert [(n.ended, n.failed) for n in news][-1] == (2, 1)
    assert sorted((n.ended, n.failed) for n in news) == [(n.ended, n.failed) for n in news]


def test_waits_that_were_stopped_have_not_failed(s3, virtual_time):
    news = []
    wait_any([exists(s3, "first"), exists(s3, "never")], progress=news.append)
    assert [n.state for n in news if n.index == 1][-1] == "cancelled"
    assert (news[-1].ended, news[-1].failed) == (2, 0)


def test_the_state_seen_is_what_may_be_shown(dynamodb, virtual_time):
    news = []
    dynamodb.create_table(
        TableName="table",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    wait = Wait(dynamodb, "table_exists", {"TableName": "table"}, max_wait=10)
    wait_all([wait], progress=news.append)
    assert news[-1].observed == "ACTIVE"


# --- the table --------------------------------------------------------------------------------


def description(name="BucketExists"):
    return WaitDescription(
        waiter=name, operation="HeadBucket", service="s3", goal="", acceptors=(), states=()
    )


def drawn(table):
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(table.drawn())
    return [line.split() for line in console.file.getvalue().splitlines()]


def attempt(observed, next_delay=None, attempts=1, error=None):
    return WaitEvent(
        kind="attempt",
        waiter="BucketExists",
        operation="HeadBucket",
        attempts=attempts,
        elapsed=0,
        observed=observed,
        error=error,
        next_delay=next_delay,
    )


def outcome():
    return WaiterOutcome(waiter="BucketExists", attempts=1, elapsed=0, acceptor=None)


def test_a_row_says_what_was_seen_and_when_it_is_looked_at_next(virtual_time):
    table = ProgressTable([description(), description("BucketNotExists")])
    table.attempted(0, attempt("CREATING", next_delay=30, attempts=4))
    virtual_time.advance(10)
    assert drawn(table) == [
        ["waiter", "seen", "attempts", "elapsed", "next", "look"],
        ["0", "s3", "BucketExists", "CREATING", "4", "10", "s", "20", "s"],
        ["1", "s3", "BucketNotExists", "0", "10", "s", "now"],
        ["0", "of", "2", "over,", "0", "failed"],
    ]


def test_what_is_over_makes_room_and_what_failed_comes_first(virtual_time):
    table = ProgressTable([description() for _ in range(4)])
    table.is_over(0, outcome())
    table.attempted(2, attempt(None, error="AccessDenied"))
    table.is_over(2, WaiterFailedError("BucketExists", "no"))
    table.is_over(3, WaiterCancelledError("BucketExists", "cancelled"))
    rows = drawn(table)
    assert [row[0] for row in rows[1:-1]] == ["2", "1"]
    assert "AccessDenied" in rows[1]
    assert rows[-1] == ["3", "of", "4", "over,", "1", "failed"]


def test_of_many_a_few_are_shown_and_all_are_counted(virtual_time):
    table = ProgressTable([description() for _ in range(1000)])
    table.is_over(0, outcome())
    rows = drawn(table)
    assert len(rows) == MOST_ROWS + 2
    assert " ".join(rows[-1]) == f"1 of 1000 over, 0 failed; {999 - MOST_ROWS} more not shown"


def test_what_a_service_says_is_not_markup(virtual_time):
    table = ProgressTable([description()])
    table.attempted(0, attempt("[red]boo[/red]"))
    assert "[red]boo[/red]" in drawn(table)[1]


def screen(width, height):
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, force_terminal=True, color_system=None)
    return console, file


def test_the_line_that_counts_fits_on_a_low_screen(virtual_time):
    console, _ = screen(100, 8)
    table = ProgressTable([description() for _ in range(300)], console)
    for index in range(20):
        table.is_over(index, WaiterFailedError("BucketExists", "no"))
    rows = drawn(table)
    assert len(rows) == 7
    # Half of the rows are for what still runs.
    assert [row[0] for row in rows[1:-1]] == ["0", "1", "2", "20", "21"]
    assert rows[-1][-4:] == ["295", "more", "not", "shown"]
    with table:
        pass
    # What is drawn last may scroll.
    assert len(drawn(table)) == MOST_ROWS + 2


def test_a_high_screen_shows_more(virtual_time):
    console, _ = screen(100, 50)
    table = ProgressTable([description() for _ in range(300)], console)
    assert len(drawn(table)) == MOST_ROWS + 2


def test_on_a_narrow_screen_words_give_way_to_numbers(virtual_time):
    console, file = screen(40, 20)
    table = ProgressTable([description("A" * 60) for _ in range(300)], console)
    table.attempted(0, attempt("CREATING" * 5, next_delay=30))
    table.is_over(299, WaiterFailedError("BucketExists", "no"))
    console.print(table.drawn())
    lines = file.getvalue().splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith("299  s3 A")
    assert lines[1].endswith("failed")
    assert lines[2].startswith("0    s3 A")
    assert lines[2].endswith("30 s")
    assert lines[0].endswith("next look")


def test_a_failure_says_so_without_colours(virtual_time):
    table = ProgressTable([description(), description()])
    table.attempted(0, attempt(None, error="AccessDenied"))
    table.is_over(0, WaiterFailedError("BucketExists", "no"))
    assert drawn(table)[1][-1] == "failed"


def test_a_log_gets_a_line_now_and_then_and_the_table_at_the_end(virtual_time):
    file = io.StringIO()
    console = Console(file=file, width=100)
    with ProgressTable([description(), description()], console) as table:
        for _ in range(60):
            virtual_time.advance(2)
            table.attempted(1, attempt("CREATING", next_delay=1))
        table.is_over(0, outcome())
        assert file.getvalue() == "0 of 2 over, 0 failed\n" * 4
    assert file.getvalue().splitlines()[-2].split()[:4] == ["1", "s3", "BucketExists", "CREATING"]
    assert file.getvalue().endswith("\n1 of 2 over, 0 failed\n")


def test_true_draws_on_stderr(s3, virtual_time, capsys):
    wait_all([exists(s3, "first")], progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1 of 1 over, 0 failed" in captured.err


def test_the_table_ends_with_the_waits_that_raise(s3, virtual_time, capsys):
    def broken(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_all([exists(s3, "first", on_attempt=broken)], progress=True)
    assert "0 of 1 over" in capsys.readouterr().err
    # A table that was left running refuses the next one.
    Console().print("")
    wait_all([exists(s3, "first")], progress=True)


def test_without_rich_it_says_what_to_install(s3, monkeypatch):
    requests = []
    s3.meta.events.register("before-call", lambda **_: requests.append(1))
    monkeypatch.setitem(sys.modules, "rich.live", None)
    with pytest.raises(ModuleNotFoundError, match=r"boto-waiters-plus\[cli\]"):
        wait_all([exists(s3, "first")], progress=True)
    assert requests == []

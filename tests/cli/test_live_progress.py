"""The progress of waits, as lines and as a table."""

import io
import re
import sys
import time
from collections import defaultdict

import pytest

VERSIONING = "s3 get-bucket-versioning --until Enabled --min-delay 5 --max-delay 5 --max-wait 5m"


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ClosedPipe(io.StringIO):
    def write(self, _):
        raise BrokenPipeError


@pytest.fixture
def buckets(called):
    """`buckets[name]`: the states of a bucket's versioning, or the seconds until it is enabled."""
    states = defaultdict(list)

    def call(_, parameters):
        left, state = states[parameters["Bucket"]], "Enabled"
        if left and isinstance(left[0], str):
            state = left.pop(0)
        elif left:
            time.sleep(left.pop(0))
        return {"Status": state}

    called(call)
    return states


@pytest.fixture
def on_terminal(monkeypatch, command):
    """`on_terminal(columns, *buckets)`: what a wait for them writes to a terminal."""

    def run(columns, *names):
        monkeypatch.setenv("COLUMNS", str(columns))
        stream = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            assert command(f"{VERSIONING} --each bucket", *names)[0] == 0
        return stream.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("LINES", "6")
    return run


def last_table(text):
    """The lines of the table that is there when the first wait ends."""
    before = re.split(r"\S+ \S+: GetBucketVersioning", text)[0]
    drawn = re.split(r"\r|\x1b\[1A|\x1b\[2K|\x1b\[\?25[lh]", before)
    [*_, table] = filter(str.strip, drawn)
    return [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", table).splitlines()]


def test_a_line_for_each_change_of_the_state_and_one_a_minute(buckets, command):
    buckets["b"] = ["A", "A", "B\n", *["C"] * 14]
    lines = command(f"{VERSIONING} --bucket b")[2].splitlines()
    assert lines == [
        "s3 Bucket=b: A, attempt 1 after 0.0 s, next in 5.0 s, 5m00s left",
        "s3 Bucket=b: B\\n, attempt 3 after 10.0 s, next in 5.0 s, 4m50s left",
        "s3 Bucket=b: C, attempt 4 after 15.0 s, next in 5.0 s, 4m45s left",
        "s3 Bucket=b: C, attempt 16 after 1m15s, next in 5.0 s, 3m45s left",
    ]


def test_a_closed_stream_ends_the_lines_only(buckets, command, monkeypatch):
    buckets["b"] = ["A"]
    monkeypatch.setattr(sys, "stderr", ClosedPipe())
    code, out, _ = command(f"{VERSIONING} --bucket b")
    assert (code, "after 5.0 s" in out) == (0, True)


def test_table_on_a_terminal(buckets, on_terminal):
    buckets |= {"a": ["A", 2], "b": ["[red]"] * 3}
    head, row, last = last_table(on_terminal(80, "a", "b"))
    titles = ["waiting for", "state seen", "attempts", "elapsed", "left", "next"]
    assert re.split(r"  +", head) == titles
    assert re.split(r"  +", row) == ["s3 Bucket=b", "[red]", "2", "7.0 s", "4m53s", "3 s"]
    assert last == "1 of 2 ended"


@pytest.mark.parametrize("columns", [30, 60, 80, 140])
def test_table_fits_the_screen(buckets, on_terminal, columns):
    names = [f"{'b' * 60}{number}" for number in range(9)]
    buckets |= {name: ["A" * 200] for name in names[1:]}
    lines = last_table(on_terminal(columns, *names))
    # The terminal echoes "^C" behind the table, which must not wrap.
    assert max(map(len, lines)) <= columns - 2
    assert len(lines) == 6 - 1  # the cursor has a line
    assert re.search("left +next$", lines[0])


@pytest.mark.parametrize("columns", [60, 80])
def test_rows_of_many_waits_can_be_told_apart(buckets, on_terminal, columns, monkeypatch):
    monkeypatch.setenv("LINES", "24")
    names = [f"my-companys-production-eu-west-1-shard-{number:03}" for number in range(25)]
    buckets |= {name: ["404"] for name in names[1:]}
    _, *rows, last = last_table(on_terminal(columns, *names))
    assert [row.split()[0][-9:] for row in rows] == [name[-9:] for name in names[1:22]]
    assert last == "1 of 25 ended; 3 more not shown"


@pytest.mark.parametrize(("term", "hidden"), [("dumb", None), ("xterm", "rich.live")])
def test_lines_stand_in_for_a_table(buckets, on_terminal, monkeypatch, term, hidden):
    monkeypatch.setenv("TERM", term)
    if hidden:
        monkeypatch.setitem(sys.modules, hidden, None)
    buckets["a"] = ["A"]
    text = on_terminal(80, "a")
    assert text.startswith("s3 Bucket=a: A, attempt 1 after 0.0 s")
    assert "\x1b" not in text


def test_outcomes_stay_above_the_table(buckets, on_terminal):
    buckets["b"] = ["B"]
    outcome = "s3 Bucket=a: GetBucketVersioningUntilEnabled after 0.0 s (1 attempt)\n"
    before, _, after = on_terminal(80, "a", "b").partition(outcome)
    assert before.endswith("\x1b[1A\x1b[2K")  # nothing is left of the table
    table, _, after = after.partition("waiting for")
    assert "\x1b[1A" not in table  # would go up, over the outcome
    assert "waiting for" not in after.partition("after 5.0 s (2 attempts)\n")[2]

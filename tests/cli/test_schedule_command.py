"""`boto-wait schedule`."""

import re
from xml.etree import ElementTree as ET

import pytest

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.schedule_command import seconds_late


def test_botocores_schedule_is_drawn_above_ours(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "112")
    assert main(["schedule", "s3", "bucket-exists", "--max-wait", "5m"]) == 0
    title, stock, facts, ours, *_ = capsys.readouterr().out.splitlines()
    assert title == "s3 bucket-exists, 5m00s"
    # 20 attempts, 5 s apart, on 100 columns of 3 s each.
    assert re.fullmatch(r"botocore {4}(\|·?){20}·+", stock)
    assert facts.strip() == "20 attempts, delay of 5 s, a change is seen 2.5 s late, ends at 1m35s"
    assert re.fullmatch(r"wait_until {2}[|2-9·]{100}", ours)


def test_a_waiter_that_botocore_lacks_is_drawn_alone(capsys):
    words = ["athena", "query-execution-succeeded", "--max-wait", "20"]
    assert main(["schedule", *words, "--min-delay", "5", "--max-delay", "5"]) == 0
    out = capsys.readouterr().out
    assert "botocore" not in out
    assert "4 attempts, delays of 5 s, a change is seen 3.7 s late" in out


def test_picture_has_a_stroke_for_each_attempt(tmp_path, capsys):
    words = ["--max-wait", "1h", "--svg", str(tmp_path / "s.svg")]
    assert main(["schedule", "dynamodb", "table-exists", *words]) == 0
    picture = ET.parse(tmp_path / "s.svg")
    strokes = [path.get("d") for path in picture.iter("{http://www.w3.org/2000/svg}path")]
    assert strokes[1].count("v") == 25
    assert strokes[3].count("v") > 100


@pytest.mark.parametrize(
    ("times", "late"), [([0, 10], 5), ([0, 2, 10], 3.4), ([0, 10, 99], 5), ([0], None)]
)
def test_seconds_late_is_half_the_gap_weighted_by_its_length(times, late):
    assert seconds_late(times, 50) == late


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-wait", "0"], "--max-wait and --min-delay must be above 0"),
        (["--max-wait", "9", "--min-delay", "3", "--max-delay", "2"], "--max-wait and --min-delay"),
        (["--max-wait", "9", "--svg", "/nonexistent/x"], "cannot write /nonexistent/x"),
    ],
)
def test_wrong_values_exit_with_2(words, message, capsys):
    assert main(["schedule", "s3", "bucket-exists", *words]) == 2
    assert message in capsys.readouterr().err

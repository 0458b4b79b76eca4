"""The page that compares the shipped waiters with those of other projects."""

import re
from pathlib import Path

import pytest
from waiter_coverage import AIRFLOW, ANSIBLE, coverage_page, main

PAGE = Path(__file__).resolve().parents[2] / "docs/coverage.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not part of a wheel")
def test_writing_the_page_again_changes_nothing(tmp_path):
    main([str(tmp_path / "coverage.md")])
    assert (tmp_path / "coverage.md").read_text(encoding="utf-8") == PAGE.read_text(
        encoding="utf-8"
    )


def test_counts_of_services_add_up():
    page = coverage_page()
    rows = re.findall(r"^\| [\w-]+" + r" \| (\d+)" * 5 + r" \|$", page, re.MULTILINE)
    totals = [sum(map(int, column)) for column in zip(*rows, strict=True)]
    assert totals[0] == totals[1] + totals[2]
    by_source = re.findall(r"\| boto_waiters_plus, (\w+) \| \d+ \| (\d+) \|", page)
    expected = zip(["all", "generated", "curated"], map(str, totals[:3]), strict=True)
    assert sorted(by_source) == sorted(expected)
    for name, total in zip([AIRFLOW, ANSIBLE], totals[3:], strict=True):
        assert re.search(rf"\| {re.escape(name)} \| \d+ \| {total} \|", page)

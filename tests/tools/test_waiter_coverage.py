"""The page that compares the shipped waiters with those of other projects."""

from pathlib import Path

import pytest
from waiter_coverage import main

PAGE = Path(__file__).resolve().parents[2] / "docs/coverage.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not part of a wheel")
def test_writing_the_page_again_changes_nothing(tmp_path):
    main([str(tmp_path / "coverage.md")])
    assert (tmp_path / "coverage.md").read_text(encoding="utf-8") == PAGE.read_text(
        encoding="utf-8"
    )

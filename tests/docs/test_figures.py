"""What benches write into the page of figures."""

import re

import figures
import pytest
from docs.snippets import DOCS

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


def test_a_region_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "figures.md"
    other = "<!-- b -->\nkept\n<!-- end of b -->\n"
    page.write_text(f"before\n<!-- a -->\nold\n<!-- end of a -->\n{other}")
    figures.put("a", ["| new |", "second"], page)
    assert page.read_text(encoding="utf-8") == (
        f"before\n<!-- a -->\n\n| new |\nsecond\n\n<!-- end of a -->\n{other}"
    )


def test_a_region_that_the_page_lacks_is_refused(tmp_path):
    page = tmp_path / "figures.md"
    page.write_text("<!-- a -->\n")
    with pytest.raises(SystemExit, match="end of a"):
        figures.put("a", [], page)
    assert page.read_text(encoding="utf-8") == "<!-- a -->\n"


def test_each_region_of_the_page_has_both_marks():
    text = figures.PAGE.read_text(encoding="utf-8")
    opened = re.findall(r"^<!-- (?!end of )(.+) -->$", text, re.MULTILINE)
    assert opened == re.findall(r"^<!-- end of (.+) -->$", text, re.MULTILINE)
    assert {"faults", "paces", "last attempts"} <= set(opened)
    assert len(opened) == len(set(opened))

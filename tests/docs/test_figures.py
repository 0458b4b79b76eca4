"""The page of figures: what benches write into it, and what other pages quote."""

import re

import figures
import pytest
from docs.snippets import DOCS

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")

QUOTED = re.compile(r"\[([^]]*\d[^]]*)\]\((?:docs/)?figures\.md#([\w-]+)\)")
"""A link to a section of the page whose text has a number."""


@pytest.fixture
def page(tmp_path, monkeypatch):
    page = tmp_path / "figures.md"
    regions = "".join(f"<!-- {name} -->\nold\n<!-- end of {name} -->\n" for name in ("a", "b"))
    page.write_text(f"before\n{regions}after\n")
    monkeypatch.setattr(figures, "PAGE", page)
    return page


def test_a_region_is_replaced_and_nothing_else(page):
    figures.put("a", ["| new |", "second"], page)
    assert page.read_text(encoding="utf-8") == (
        "before\n<!-- a -->\n\n| new |\nsecond\n\n<!-- end of a -->\n"
        "<!-- b -->\nold\n<!-- end of b -->\nafter\n"
    )


def test_a_region_that_the_page_lacks_is_refused(page):
    before = page.read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="end of c"):
        figures.put("c", [], page)
    assert page.read_text(encoding="utf-8") == before


def test_a_bench_that_fails_leaves_its_region(page, tmp_path, monkeypatch, capfd):
    (tmp_path / "good.py").write_text("print('| 1.5 |')")
    (tmp_path / "bad.py").write_text("print('| 9.9 |'); raise SystemExit('too slow')")
    monkeypatch.setattr(figures, "BENCH", tmp_path)
    monkeypatch.setattr(figures, "SHORT", {"a": ["bad.py"], "b": ["good.py --short"]})
    assert figures.main(["good", "bad"]) == 1
    text = page.read_text(encoding="utf-8")
    assert "<!-- a -->\nold\n<!-- end of a -->" in text
    assert "`python bench/good.py --short` on 2" in text
    assert "\n\n| 1.5 |\n" in text
    printed = capfd.readouterr()
    assert "Failed, and left as before: a" in printed.out
    assert "too slow" in printed.err


def test_only_the_named_benches_run(capsys):
    figures.main(["--list", "fleet", "call_once_kill"])
    listed = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in listed] == ["fleet", "call_once"]
    with pytest.raises(SystemExit, match="2"):
        figures.main(["no_such_bench"])


def test_each_region_of_the_page_has_commands_and_both_marks():
    text = figures.PAGE.read_text(encoding="utf-8")
    opened = re.findall(r"^<!-- (?!end of )(.+) -->$", text, re.MULTILINE)
    assert opened == re.findall(r"^<!-- end of (.+) -->$", text, re.MULTILINE)
    assert sorted(opened) == sorted([figures.LAST_RUN, *figures.SHORT, *figures.LONG])


def test_each_bench_is_run_in_its_short_form():
    programs = {
        path.stem
        for path in figures.BENCH.glob("*.py")
        if "__main__" in path.read_text(encoding="utf-8")
    }
    assert set().union(*map(figures.benches, figures.SHORT.values())) == programs
    assert set().union(*map(figures.benches, figures.LONG.values())) <= programs


def test_quoted_figures_are_in_the_sections_that_they_link_to():
    parts = re.split(r"^## (.*)$", figures.PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    heads = [re.sub(r"[^\w ]", "", head).lower().replace(" ", "-") for head in parts[1::2]]
    sections = dict(zip(heads, parts[2::2], strict=True))
    pages = [DOCS.parent / "README.md", *DOCS.glob("*.md")]
    quoted = [each for page in pages for each in QUOTED.findall(page.read_text(encoding="utf-8"))]
    assert len(quoted) >= 8
    assert [text for text, section in quoted if text not in sections[section]] == []


def test_the_readme_quotes_the_only_overrun_of_the_page():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    page = figures.PAGE.read_text(encoding="utf-8")
    overrun = re.compile(r"[\d.]+ ms median, [\d.]+ ms worst, in [\d,]+ waits")
    assert overrun.findall(readme) == overrun.findall(page)

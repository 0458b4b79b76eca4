"""The hand-written documentation stays short."""

import pytest
import words
from docs.snippets import DOCS

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


def test_pages_have_at_most_the_words_they_may_have():
    counted = words.words()
    assert {"tutorial.md", "figures.md"} <= counted.keys()
    assert sum(counted.values()) <= words.MOST, "python tools/words.py lists the pages"


def test_what_a_bench_wrote_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "DOCS", tmp_path)
    text = "one two\n<!-- polls -->\n| three | four |\n<!-- end of polls -->\nfive"
    (tmp_path / "figures.md").write_text(text, encoding="utf-8")
    (tmp_path / "messages.md").write_text("written by the build", encoding="utf-8")
    assert words.words() == {"figures.md": 3}

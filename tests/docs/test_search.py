"""What the search of the site finds."""

import json
import runpy

import pytest
from docs.page_run import ROOT

pytestmark = pytest.mark.nightly(subject="docs")


@pytest.mark.parametrize(
    ("text", "word"), [("After a time-out", "timeout"), ("Back-off", "backoff")]
)
def test_a_word_with_a_hyphen_is_found_without(text, word, tmp_path, monkeypatch):
    application = pytest.importorskip("sphinx.application")
    languages = pytest.importorskip("sphinx.search").languages
    monkeypatch.setitem(languages, "en", languages["en"])
    runpy.run_path(str(ROOT / "docs/conf.py"))
    (tmp_path / "index.md").write_text(f"# Page\n\n{text} it ends.\n")
    folders = [str(tmp_path), None, str(tmp_path / "html"), str(tmp_path / "trees")]
    settings = {"extensions": ["myst_parser"]}
    application.Sphinx(*folders, "html", settings, status=None).build()
    index = (tmp_path / "html/searchindex.js").read_text()
    terms = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["terms"]
    assert terms[word] == 0

"""What is drawn and built for the pages: pictures, reference pages, search; and the guide."""

import json
import re
import runpy
import sys
from xml.etree import ElementTree as ET

import pytest
import reference_pages
from docs.page_run import ROOT

from boto_waiters_plus.service.catalog import client_name, effects_of

sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    found = ET.fromstring(picture).iter(f"{SVG}text")
    return ["".join(each.itertext()).strip() for each in found]


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/**/*.svg")), ids=lambda path: path.name)
def test_a_picture_follows_the_dark_mode(path):
    root = ET.fromstring(path.read_text("utf-8"))
    style = "".join(each.text for each in root.iter(f"{SVG}style"))
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    assert dark
    # Each colour has another one there, and none is written where a style cannot change it.
    is_drawn = re.compile(r"(?:fill|stroke|color): (?!none)")
    own = [each.get(name) for each in root.iter() for name in ("fill", "stroke", "style")]
    assert [each for each in own if each not in (None, "none")] == []
    assert bool(is_drawn.search(light)) == bool(is_drawn.search(dark))


def test_the_delays_have_plain_ticks():
    import paces  # noqa: PLC0415 - found by the line above

    figures = dict.fromkeys(paces.CURVES, (8.5, 40.0))
    shown = texts(paces.picture([figures] * len(paces.MEDIANS)))
    numbers = [each for each in shown if re.match(r"[\d.]", each)]
    assert {"5", "640", "0", "10", "1", "50"} <= set(numbers)
    assert [each for each in numbers if not re.fullmatch(r"\d+", each)] == []


def test_the_terminal_is_that_of_the_command(monkeypatch):
    pytest.importorskip("rich")
    import terminal_picture  # noqa: PLC0415 - found by the line above

    monkeypatch.setattr(terminal_picture, "STATES", dict(terminal_picture.STATES))
    drawn = (ROOT / terminal_picture.FILE).read_text("utf-8")
    again = terminal_picture.picture()
    assert [each.split() for each in texts(again)] == [each.split() for each in texts(drawn)]


def test_places_of_changes_exist():
    text = (ROOT / "docs/contributing.md").read_text(encoding="utf-8")
    section = text.partition("## Where a change goes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|.*\|$", section, re.MULTILINE)
    places = [place for row in rows for place in re.findall("`([^`]+/[^`]*)`", row)]
    assert places
    assert [place for place in places if not (ROOT / place).exists()] == []


@pytest.mark.parametrize("service_id", ["cloudwatch-logs", "emr", "s3"])
def test_effects_stand_below_the_waiters_of_a_service(service_id, monkeypatch, tmp_path):
    monkeypatch.setattr(reference_pages, "shipped_services", lambda: [service_id])
    uncached = reference_pages.reference_pages.__wrapped__
    monkeypatch.setattr(reference_pages, "reference_pages", uncached)
    reference_pages.main([str(tmp_path)])
    text = (tmp_path / f"{service_id}.md").read_text(encoding="utf-8")
    _, effects = text.split("\n## Effects\n")
    assert "\n## " not in effects
    rows = [line.split(" | ")[:4] for line in effects.splitlines() if line.startswith("| `")]
    assert [[*row[:2], row[2].replace("<wbr>", ""), row[3]] for row in rows] == [
        [f"| `{each.after}`", f"`{each.name}`", each.operation, each.basis]
        for each in effects_of(client_name(service_id))
    ]


@pytest.mark.nightly(subject="docs")
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

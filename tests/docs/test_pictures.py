"""The pictures of the documentation: their colours, their words, and what draws them."""

import re
import sys
from xml.etree import ElementTree as ET

import pytest
from docs.page_run import ROOT

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

"""The pages of the documentation and their blocks."""

import doctest
import re
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXECUTED = ("python", "console", "json", "smithy", "ini")
OUTPUT = "text"
MADE_BY_THE_BUILD = ("reference/", "coverage.md", "screens.md", "effects.md")


class Block(NamedTuple):
    """One block of a page.

    Attributes:
        shown: the output that the page shows below it; None if it shows none.
    """

    language: str
    code: str
    line: int
    shown: str | None


def pages():
    """Return README.md and the pages of docs/, without those that a build makes."""
    found = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))] if DOCS.is_dir() else []
    return [page for page in found if not name_of(page).startswith(MADE_BY_THE_BUILD)]


def name_of(page):
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


def blocks(page):
    """Return the blocks of a page; those that show the output of another are part of it."""
    tokens = [
        token for token in MarkdownIt().parse(page.read_text(encoding="utf-8")) if not token.hidden
    ]
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "fence":
            language = token.info.strip()
            if language == OUTPUT and before and before.type == "fence" and found:
                found[-1] = found[-1]._replace(shown=token.content)
            else:
                found.append(Block(language, token.content, token.map[0] + 1, None))
        elif token.type == "code_block":
            found.append(Block("indented", token.content, token.map[0] + 1, None))
    return found


class RoughChecker(doctest.OutputChecker):
    """Compares printed and shown text; `...` stands for anything."""

    def __init__(self, *, rough_times):
        self._rough_times = rough_times

    def matches(self, shown, printed):
        if self._rough_times:
            shown, printed = map(self._without_times, (shown, printed))
        return self.check_output(shown, printed, doctest.ELLIPSIS)

    @staticmethod
    def _without_times(text):
        text = re.sub(r"\d+(\.\d+)? s\b", "N s", text)
        text = re.sub(r"\b(attempts|elapsed)=[\d.]+", r"\1=N", text)
        return re.sub(r"\b\d+ attempts?\b", "N attempts", text)

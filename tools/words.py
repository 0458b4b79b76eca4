"""Count the words of the hand-written documentation, page by page.

python tools/words.py

The pages are those of docs/ that git has, without docs/api, which lists names for Sphinx. README.md
and CHANGELOG.md are not counted. A word is what stands between blanks, as `wc -w` counts. What a
bench writes into docs/figures.md, between its marks, is not hand-written.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOT_WRITTEN = ("api/", "reference/", "messages.md", "coverage.md", "screens.md", "effects.md")
MOST = 35_000
"""The pages that are needed for a task or a decision have room in this many words."""

MEASURED = re.compile(r"<!-- (?!end of )(.+?) -->.*?<!-- end of \1 -->", re.DOTALL)


def words() -> dict[str, int]:
    """Return the number of hand-written words of each page, by its path below docs/."""
    texts = {
        path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(DOCS.rglob("*.md"))
    }
    return {
        name: len(MEASURED.sub("", text).split())
        for name, text in texts.items()
        if not name.startswith(NOT_WRITTEN)
    }


def main() -> None:
    """Print the pages and the sum."""
    counted = words()
    for name, count in sorted(counted.items(), key=lambda item: item[1]):
        print(f"{count:7,}  {name}")
    print(f"{sum(counted.values()):7,}  of at most {MOST:,}")


if __name__ == "__main__":
    main()

"""The page of figures: what each bench measured stands between two marks of docs/figures.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).absolute().parents[1] / "docs" / "figures.md"


def put(region: str, lines: Sequence[str], page: Path = PAGE) -> None:
    """Replace the lines between the marks of a region.

    Args:
        region: the name between the marks, as `faults` in `<!-- faults -->`.
        lines: what was measured, as Markdown.

    Raises:
        SystemExit: the page does not have the marks.
    """
    start, end = f"<!-- {region} -->", f"<!-- end of {region} -->"
    before, opened, rest = page.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise SystemExit(f"{page} has no lines {start} and {end}")
    text = "\n".join([before + start, "", *lines, "", end + after])
    page.write_text(text, encoding="utf-8", newline="\n")

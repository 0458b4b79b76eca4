"""Plain text for a terminal: columns, and nothing in them that a terminal would obey."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """The text on one line; definitions are somebody's files and may hold any character."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def columns(rows: Sequence[Sequence[object]]) -> str:
    """Rows as aligned lines: numbers to the right, everything else to the left."""
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            text.rjust(width) if isinstance(cell, int) else text.ljust(width)
            for cell, text, width in zip(row, texts, widths, strict=True)
        )
        for row, texts in zip(rows, cells, strict=True)
    ]
    return "\n".join(line.rstrip() for line in lines)

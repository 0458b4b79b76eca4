"""The layout of JSON that people read row by row, such as the cases of the tests.

python tools/json_rows.py FILE ...
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

WIDTH: Final = 200


def rows_text(body: Any) -> str:
    """Return JSON with a line for each value that fits into one.

    The members of a longer value fill its lines. If all of them have members of their own, they
    are rows, and each begins a line.
    """
    return _laid_out(body, "", 0) + "\n"


def _laid_out(value: Any, indent: str, column: int) -> str:
    """Return the text of a value that begins in a column of a line with an indent."""
    line = _line(value)
    members = _members(value)
    if not members or column + len(line) < WIDTH:
        return line
    are_rows = len(members) > 1 and all(_members(member) for _, member in members)
    inner = f"{indent} "
    text = line[0]
    column += 1
    for number, (name, member) in enumerate(members, 1):
        comma = ", " if number > 1 else ""
        length = len(name) + len(_line(member))
        # The last member may be opened behind the others, as in `"ends": "goal", "polls": [`.
        is_opened = number == len(members) and _members(member) and len(inner) + length >= WIDTH
        if are_rows or not (is_opened or column + len(comma) + length < WIDTH):
            text += f"{comma.rstrip()}\n{inner}{name}"
            column = len(inner) + len(name)
        else:
            text += comma + name
            column += len(comma) + len(name)
        part = _laid_out(member, inner if "\n" in text else indent, column)
        text += part
        column = WIDTH if "\n" in part else column + len(part)
    return text + line[-1]


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _members(value: Any) -> Sequence[tuple[str, Any]]:
    """Return the members of an array or object, each with the text before it."""
    if isinstance(value, dict):
        return [(f"{_line(name)}: ", member) for name, member in value.items()]
    return [("", member) for member in value] if isinstance(value, list) else []


def main() -> None:
    """Bring files into the layout."""
    for path in map(Path, sys.argv[1:]):
        body = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(rows_text(body), encoding="utf-8")


if __name__ == "__main__":
    main()

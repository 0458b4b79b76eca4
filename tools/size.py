"""Print the lines of code of the package and of the tests, by folder.

python tools/size.py

A line of code is one that has code: no docstring, no comment and no blank line.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def lines_of_code(text: str) -> int:
    """Return the number of lines that have code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
        if token.string
    }
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                code.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(code)


def main() -> None:
    """Print the counts."""
    for top in ("boto_waiters_plus", "tests"):
        folders: Counter[str] = Counter()
        for path in (ROOT / top).rglob("*.py"):
            is_built = (
                path.parent == ROOT / "boto_waiters_plus/typed" and path.name != "__init__.py"
            )
            if not is_built:
                folder = path.relative_to(ROOT / top).parts[0]
                folders[folder] += lines_of_code(path.read_text(encoding="utf-8"))
        for folder, lines in folders.most_common():
            print(f"{lines:>7} {top}/{folder}")
        print(f"{folders.total():>7} {top}")


if __name__ == "__main__":
    main()

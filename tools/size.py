"""Print the lines of code of the package and of the tests, by folder, and what is too large.

python tools/size.py
python tools/size.py --check     fail where a limit is passed

A line of code is one that has code: no docstring, no comment and no blank line, so that deleting
documentation pays nothing. A folder may grow to its limit, which is a twentieth more than it had
for version 0.2.0; docs/architecture.md says why where one is raised.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MOST_OF_PACKAGE = 27_500
MOST_OF_TESTS = 40_400
MOST_OF_FOLDER = {
    ".": 1_300,
    "__pyinstaller": 20,
    "batch": 2_370,
    "calls": 1_480,
    "changes": 1_190,
    "check": 2_190,
    "cli": 3_740,
    "common": 270,
    "conditions": 1_410,
    "definitions": 2_190,
    "engine": 1_580,
    "fleet": 240,
    "hooks": 820,
    "operations": 3_620,
    "service": 2_600,
    "signals": 390,
    "stock": 620,
    "testing": 730,
    "typed": 90,
    "wait": 940,
}
"""Lines of code. What is not in a folder counts as the folder `.`."""

MOST_OF_MODULE = 310
MOST_FUNCTION_LINES = 40

ONE_SUBJECT = {"engine/machine.py", "operations/worker.py"}
"""Modules that one subject makes long."""

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def modules(folder: str) -> Iterator[tuple[str, str]]:
    """The Python files of a folder: path relative to it, text."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        is_generated = path.parent.name == "typed" and path.name != "__init__.py"
        if folder != "boto_waiters_plus" or not is_generated:
            yield path.relative_to(ROOT / folder).as_posix(), path.read_text(encoding="utf-8")


def lines_of_code(text: str) -> int:
    """The lines of a module that have code, without its documentation."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        # Strings that stand alone document a module, a class, a function or the name above them.
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            code.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(code)


def by_folder(lines: dict[str, int]) -> dict[str, int]:
    """The sums of the top folders."""
    sums: dict[str, int] = defaultdict(int)
    for path, number in lines.items():
        top, _, rest = path.partition("/")
        sums[top if rest else "."] += number
    return dict(sorted(sums.items()))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring, signature and decorators."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def long_functions(folder: str) -> Iterator[tuple[str, int]]:
    """The functions of a folder that are too long."""
    for path, text in modules(folder):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = body_lines(node)
                if lines > MOST_FUNCTION_LINES:
                    yield f"{path}:{node.name}", lines


def names_used_twice(folder: str) -> Iterator[tuple[str, list[str]]]:
    """Classes of one name, and modules of one name."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in modules(folder):
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                places[f"class {node.name}"].append(path)
        stem = Path(path).stem
        if not stem.startswith("__"):
            places[f"module {stem}"].append(path)
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield name, found


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where a limit is passed")
    arguments = parser.parse_args()
    texts = dict(modules("boto_waiters_plus"))
    folders = by_folder({path: lines_of_code(text) for path, text in texts.items()})
    package = sum(folders.values())
    tests = sum(lines_of_code(text) for _, text in modules("tests"))
    findings = []
    for folder, lines in folders.items():
        most = MOST_OF_FOLDER.get(folder, 0)
        print(f"{folder:14} {lines:>6} of at most {most:>6}")
        if lines > most:
            findings.append(f"{folder}: {lines - most} lines of code more than its limit")
    for name, lines, most in (
        ("the package", package, MOST_OF_PACKAGE),
        ("the tests", tests, MOST_OF_TESTS),
    ):
        print(f"{name:14} {lines:>6} of at most {most:>6}")
        if lines > most:
            findings.append(f"{name}: {lines - most} lines of code more than the limit")
    findings += [
        f"{path}: {lines} lines of code"
        for path, text in texts.items()
        if (lines := lines_of_code(text)) > MOST_OF_MODULE and path not in ONE_SUBJECT
    ]
    findings += [f"{name}: {lines} lines" for name, lines in long_functions("boto_waiters_plus")]
    findings += [f"{n}: {', '.join(p)}" for n, p in names_used_twice("boto_waiters_plus")]
    for finding in findings:
        print(finding)
    return int(arguments.check and bool(findings))


if __name__ == "__main__":
    sys.exit(main())

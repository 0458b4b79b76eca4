"""Print the size of the package and what is too large or named twice.

python tools/size.py
python tools/size.py --check     also fail where a limit is passed
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MOST_PACKAGE_LINES = 17_000
MOST_TEST_LINES = 26_000
MOST_MODULE_LINES = 400
MOST_FUNCTION_LINES = 40

ONE_SUBJECT = {"engine/machine.py"}
"""Modules that one subject makes long."""


def modules(folder: str) -> Iterator[tuple[str, str]]:
    """The Python files of a folder: path relative to it, text."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        is_generated = path.parent.name == "typed" and path.name != "__init__.py"
        if folder != "boto_waiters_plus" or not is_generated:
            yield path.relative_to(ROOT / folder).as_posix(), path.read_text(encoding="utf-8")


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
    package = {path: text.count("\n") for path, text in modules("boto_waiters_plus")}
    tests = sum(text.count("\n") for _, text in modules("tests"))
    print(f"package  {sum(package.values()):>6} lines in {len(package)} modules")
    print(f"tests    {tests:>6} lines")
    long_modules = [
        (path, lines)
        for path, lines in package.items()
        if lines > MOST_MODULE_LINES and path not in ONE_SUBJECT
    ]
    findings = [f"{path}: {lines} lines" for path, lines in long_modules]
    findings += [f"{name}: {lines} lines" for name, lines in long_functions("boto_waiters_plus")]
    findings += [f"{n}: {', '.join(p)}" for n, p in names_used_twice("boto_waiters_plus")]
    for finding in findings:
        print(finding)
    too_large = sum(package.values()) > MOST_PACKAGE_LINES or tests > MOST_TEST_LINES
    return int(arguments.check and (too_large or bool(findings)))


if __name__ == "__main__":
    sys.exit(main())

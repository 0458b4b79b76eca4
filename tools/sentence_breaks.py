"""Break each sentence of the documentation's tables in the code; the test it names has to fail.

    python tools/sentence_breaks.py [--shard 1/2] [--seed N --share 0.1] [--only TEXT]

`tests/cases/sentence-breaks.json` has, for rows of docs/specification.md, docs/idempotency.md and
docs/operations.md: the file, the text of a line, what replaces it, and the test. The test has to
pass in a copy of the tree, and to fail in it while the line is replaced. A replacement that cannot
be imported does not count. The tests draw the same values in every run. A finding has to occur
twice, because a stalled machine proves nothing. It is printed with what the test printed, and the
exit code is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from tree_copy import ROOT, TreeCopy

CASES: Final = ROOT / "tests/cases/sentence-breaks.json"
PLUGINS: Final = ("boto_waiters_plus.testing.pytest_plugin", "pytest_timeout")
# Imported once, so that the processes of the tests need not.
SLOW_IMPORTS: Final = ("boto3", "botocore.session", "botocore.waiter", "hypothesis", "sqlalchemy")
PASSED, FAILED = 0, 1
"""Exit codes of pytest. Any other means that no test ran."""
MOST_SHOWN = 2_000
"""Characters of what a test printed."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the breaks; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shard", default="1/1", help="a part of the breaks: 1/2")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the breaks, drawn by the seed")
    parser.add_argument("--only", default="", help="breaks that have this text")
    arguments = parser.parse_args(words)
    cases = [each for each in read_cases() if arguments.only in json.dumps(each)]
    if not (ROOT.parent / "shared/conformance").is_dir():
        cases = [each for each in cases if not each["test"].startswith("tests/conformance/")]
    number = math.ceil(len(cases) * arguments.share)
    chosen = random.Random(arguments.seed).sample(cases, number)  # noqa: S311 - no secret
    part, of = map(int, arguments.shard.split("/"))
    chosen = chosen[part - 1 :: of]
    began = time.perf_counter()
    found = problems(chosen)
    seconds = time.perf_counter() - began
    print(f"{len(chosen)} breaks, {len(found)} not shown by their test; {seconds:.0f} s")
    return bool(found)


def read_cases() -> list[dict[str, Any]]:
    """Return the breaks."""
    cases: list[dict[str, Any]] = json.loads(CASES.read_text(encoding="utf-8"))
    return cases


def problems(cases: Sequence[dict[str, Any]]) -> list[str]:
    """Print and return the tests that do not pass, and the breaks that make no test fail."""
    for name in SLOW_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    found = []
    with tempfile.TemporaryDirectory(dir=ROOT.parent, prefix="breaks-") as folder:
        copy = TreeCopy(Path(folder) / "tree")
        # The conformance data lie beside the checkout, where there are any.
        (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        tests = {each["test"] for each in cases}
        for problem, output in chain(not_passing(copy, tests), not_shown(copy, cases)):
            found.append(problem)
            print(problem, output[-MOST_SHOWN:], sep="\n", flush=True)
    return found


def not_passing(copy: TreeCopy, tests: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the tests that do not pass without a break, with what they printed."""
    for _, group in groupby(sorted(tests), lambda test: test.partition("::")[0]):
        of_file = [*group]
        if run(copy.folder, of_file)[0] != PASSED:
            for each in of_file:
                code, output = run(copy.folder, [each])
                if code != PASSED:
                    yield f"{each} does not pass without a break", output


def not_shown(copy: TreeCopy, cases: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the breaks that do not make their test fail, with what the test printed."""
    for case in cases:
        text = (copy.folder / case["file"]).read_text(encoding="utf-8")
        place = f"{case['file']}: {case['line'].strip()!r} for {case['rows']}"
        if text.count(case["line"]) != 1:
            yield f"line is not there once: {place}", ""
            continue
        with copy.replaced(case["file"], text.replace(case["line"], case["replacement"])):
            for _ in range(2):
                code, output = run(copy.folder, [case["test"], "-x"])
                if code == FAILED:
                    break
            else:
                how = "survives" if code == PASSED else f"runs no test (exit code {code})"
                yield f"{how}: {place}", output


def run(folder: Path, words: Iterable[str]) -> tuple[int, str]:
    """Run pytest in a process of its own; return its exit code, and what it printed."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            _run_here(folder, words, printed.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed.seek(0)
        return code, printed.read().decode(errors="replace")


def _run_here(folder: Path, words: Iterable[str], printed: int) -> NoReturn:
    """Run pytest, and end this process with its exit code."""
    code = 3
    try:
        for stream in (1, 2):
            os.dup2(printed, stream)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        os.environ["HYPOTHESIS_PROFILE"] = "repeatable"
        os.environ.pop("PYTEST_ADDOPTS", None)
        sys.path.insert(0, str(folder))
        # Not by the environment: a test may run pytest in a process of its own.
        plugins = [
            "--disable-plugin-autoload",
            *(word for name in PLUGINS for word in ("-p", name)),
        ]
        options = ["-q", "-p", "no:cacheprovider", "--timeout", "120"]
        code = int(pytest.main([*plugins, *options, *words]))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

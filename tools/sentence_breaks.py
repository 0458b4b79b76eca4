"""Break each sentence of the documentation's tables in the code; the test it names has to fail.

    python tools/sentence_breaks.py [--shard 1/2] [--seed N --share 0.1] [--only TEXT]

`tests/cases/sentence-breaks.json` has, for rows of docs/specification.md, docs/idempotency.md and
docs/operations.md: the file, the text of a line, what replaces it, and the test. The test has to
pass in a copy of the tree, and to fail in it while the line is replaced. A replacement that cannot
be imported does not count. Prints what is not so; the exit code is 1 then.
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
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pytest
from tree_copy import ROOT, TreeCopy

CASES: Final = ROOT / "tests/cases/sentence-breaks.json"
PLUGINS: Final = ("boto_waiters_plus.testing.pytest_plugin", "pytest_timeout")
# Imported once, so that the processes of the tests need not.
SLOW_IMPORTS: Final = ("boto3", "botocore.session", "botocore.waiter", "hypothesis", "sqlalchemy")
PASSED, FAILED = 0, 1
"""Exit codes of pytest. Any other means that no test ran."""


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
    """Print and return the tests that do not pass, and those that no break lets fail."""
    for name in SLOW_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    found = []
    with tempfile.TemporaryDirectory(dir=ROOT.parent, prefix="breaks-") as folder:
        copy = TreeCopy(Path(folder) / "tree")
        # The conformance data lie beside the checkout, where there are any.
        (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        tests = sorted({each["test"] for each in cases})
        for _, group in groupby(tests, lambda test: test.partition("::")[0]):
            of_file = [*group]
            if run(copy.folder, of_file) != PASSED:
                failed = [each for each in of_file if run(copy.folder, [each]) != PASSED]
                found += [f"{each} does not pass without a break" for each in failed]
                for each in failed:
                    print(f"{each} does not pass without a break", flush=True)
        for case in cases:
            text = (copy.folder / case["file"]).read_text(encoding="utf-8")
            if text.count(case["line"]) != 1:
                code = None
            else:
                with copy.replaced(case["file"], text.replace(case["line"], case["replacement"])):
                    code = run(copy.folder, [case["test"], "-x"])
            if code != FAILED:
                how = {None: "line is not there once", PASSED: "survives"}.get(code, "runs no test")
                found.append(f"{how}: {case['file']}: {case['line'].strip()!r} for {case['rows']}")
                print(found[-1], flush=True)
    return found


def run(folder: Path, words: Iterable[str]) -> int:
    """Run pytest in a process of its own; return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 3
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        os.environ.pop("PYTEST_ADDOPTS", None)
        sys.path.insert(0, str(folder))
        # Not by the environment: a test may run pytest in a process of its own.
        plugins = [
            "--disable-plugin-autoload",
            *(word for name in PLUGINS for word in ("-p", name)),
        ]
        options = ["-q", "-p", "no:cacheprovider", "--timeout", "120"]
        code = int(pytest.main([*plugins, *options, *words]))
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

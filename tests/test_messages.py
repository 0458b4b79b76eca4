"""Every message of the package has a row in cases/messages.json, and a test that produces it.

The last test runs the tests of the table with `message_recorder`, in a process of its own.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import messages
import pytest

ROWS = messages.read_table()
TESTS = Path(__file__).absolute().parent

pytestmark = pytest.mark.skipif(
    not messages.PACKAGE.is_dir(), reason="the sources are not beside the tests"
)


def test_each_message_has_a_row():
    rows = [row["message"] for row in ROWS]
    assert rows == messages.package_messages(), "see tools/messages.py"
    assert [row["message"] for row in ROWS if not row["test"]] == sorted(messages.UNPRODUCED)


def test_each_example_is_of_its_message():
    wrong = [
        row
        for row in ROWS
        if row["test"] and not messages.pattern(row["message"]).search(row["example"])
    ]
    assert wrong == []


def test_the_page_shows_each_message_once(tmp_path):
    messages.main([str(tmp_path / "messages.md")])
    page = (tmp_path / "messages.md").read_text(encoding="utf-8")
    modules = {row["message"].partition(": ")[0] for row in ROWS}
    assert re.findall(r"^## `(.*)`$", page, re.MULTILINE) == sorted(modules)
    rows = [line for line in page.splitlines() if line.startswith(("| `", "| ``"))]
    assert len(rows) == len(ROWS)
    assert (
        "| `unknown {what} {name}{hint}` | `unknown option 'min_dely'; did you mean 'min_delay'?` |"
        in rows
    )


def quotes(row):
    """Whether a file of tests compares with a text."""
    text = messages.text_of(row["message"])
    return f'"{text}"' in (messages.ROOT / row["test"]).read_text(encoding="utf-8")


@pytest.mark.skipif(
    "MESSAGES_REQUIRED" not in os.environ, reason="runs many tests again: tox run -e messages"
)
@pytest.mark.timeout(900)
def test_each_message_is_produced_by_its_test(tmp_path):
    by_test = [row for row in ROWS if "::" in row["test"]]
    assert all(quotes(row) for row in ROWS if row["test"].endswith(".py"))
    files = sorted({row["test"].partition("::")[0] for row in by_test})
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "tools"), *filter(None, sys.path)])
    environment = {**os.environ, "MESSAGES_TO": str(tmp_path), "MESSAGES_OF": "the table"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "message_recorder", *files]
    ran = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:xdist"],
        env={**environment, "PYTHONPATH": path},
        cwd=messages.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    record = json.loads(next(tmp_path.iterdir()).read_text(encoding="utf-8"))
    passed = set(record["passed"])
    missing = [
        row
        for row in by_test
        if row["test"] in passed
        and not any(
            row["test"] in record[part].get(row["message"], ())
            for part in ("messages", "of threads")
        )
    ]
    assert missing == []
    # Some tests need aiobotocore or a server.
    assert sum(row["test"] in passed for row in by_test) > 0.95 * len(by_test), ran.stdout[-5000:]

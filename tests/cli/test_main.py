"""`boto-wait` itself: help, invalid arguments, completion."""

import contextlib
import functools
import io
import json
import sys
from pathlib import Path

import pytest

from boto_waiters_plus.cli import main

CASES = json.loads((Path(__file__).parents[1] / "cases/command_lines.json").read_text("utf-8"))


def test_stdout_may_lack_characters(monkeypatch):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(["schedule", "s3", "bucket-exists", "--max-wait", "9"]) == 0
    assert b"\\xb7" in stdout.buffer.getvalue()


@pytest.mark.parametrize(("line", "words"), CASES["completed"])
def test_words_are_completed(line, words, monkeypatch, capsys):
    argcomplete = pytest.importorskip("argcomplete")
    # In a shell's process it ends the process, and has file descriptors.
    found = io.StringIO()
    shell = {"exit_method": sys.exit, "output_stream": found}
    complete = functools.partial(argcomplete.autocomplete, **shell)
    monkeypatch.setattr(argcomplete, "autocomplete", complete)
    monkeypatch.setattr(argcomplete.CompletionFinder, "_init_debug_stream", lambda _: None)
    monkeypatch.setattr("argcomplete.io.debug_stream", io.StringIO())
    line = f"boto-wait {line}"
    variables = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1"}
    variables |= {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with contextlib.suppress(SystemExit):
        main([])
    assert capsys.readouterr() == ("", "")
    assert {*found.getvalue().split()} == {*words}

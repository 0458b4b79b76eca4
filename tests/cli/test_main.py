"""`boto-wait` itself: help, invalid arguments, completion."""

import contextlib
import functools
import io
import sys

import pytest

from boto_waiters_plus.cli import main


def test_help_names_the_subcommands(command):
    code, out, _ = command("--help")
    assert (code, "\n    demo " in out) == (0, True)


@pytest.mark.parametrize("words", ["", "check"])
def test_missing_arguments_exit_with_2_and_one_line(words, command):
    code, out, err = command(words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"(see `{' '.join(['boto-wait', *words.split()])} --help`)" in err


def test_stdout_may_lack_characters(monkeypatch):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(["schedule", "s3", "bucket-exists", "--max-wait", "9"]) == 0
    assert b"\\xb7" in stdout.buffer.getvalue()


@pytest.mark.parametrize(("line", "words"), [
    ("sched", {"schedule", "scheduler"}), ("sca", {"scan"}), ("hist", {"history"}),
    ("s3 bucket-e", {"bucket-exists"}), ("show st", {"stepfunctions", "storagegateway"}),
    ("show sts", set()), ("s3 bucket-exists --bu", {"--bucket"}),
    ("s3 get-bucket-versi", {"get-bucket-versioning"}), ("s3 put-bucket-versi", set()),
    ("s3 get-bucket-versioning --until E", {"Enabled"}),
    ("s3 get-bucket-versioning --until Enabled S", {"Suspended"}),
    ("s3 get-bucket-versioning --until Enabled --buc", {"--bucket"}),
    ("ecs describe-tasks --until RUNNING --state-path tasks[].l", {"tasks\\[\\].lastStatus"}),
    ("nothing bucket", set()), ("begin stepf", {"stepfunctions"}), ("begin nothing x", set()),
    ("begin rds modify-db-inst", {"modify-db-instance"}), ("begin rds describe-db-in", set()),
    # Without an effect, it is offered where no other operation is.
    ("begin ec2 create-tag", {"create-tags"}), ("begin s3 create-bucket", {"create-bucket"}),
    ("begin rds modify-db-instance --then ", {"db-instance-modified"}),
    ("begin RDS ModifyDBInstance --then ", {"db-instance-modified"}),
    ("begin ec2 run-instances --image-id ami-1 --then instance-s", {"instance-status-ok"}),
    ("begin ec2 create-tags --then ", set()), ("begin --resume calls/1 --then ", set()),
    ("show rds modify-db-inst", {"modify-db-instance"}), ("list --chan", {"--changes"}),
    ("show rds db-instance-s", {"db-instance-stopped"}), ("schedule rds modify-db-inst", set()),
])  # fmt: skip
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
    assert {*found.getvalue().split()} == words

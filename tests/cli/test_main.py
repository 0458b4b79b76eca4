"""`boto-wait` itself: completion, and what `--help` says."""

import contextlib
import functools
import io
import json
import re
import sys
from pathlib import Path

import pytest
from botocore.model import ServiceModel

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.operation_parameters import add_operation_parameters, first_sentences
from boto_waiters_plus.cli.parser import Parser
from boto_waiters_plus.service.catalog import definitions_of

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


@pytest.fixture
def helped(command, monkeypatch):
    """`helped(words, columns)`: the help, which is no error."""

    def run(words, columns=80):
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, err = command(words)
        assert (code, err) == (0, "")
        return out

    return run


@pytest.mark.parametrize(("words", "parts"), CASES["prints"])
def test_parts_of_a_text_have_an_order(helped, words, parts):
    text = helped(words)
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_definition_of_ones_own_is_described(helped, waitable, tmp_path):
    success = {"state": "success", "matcher": {"success": True}}
    text = "Waits until  it is\n50% there\x1b[31m.\n\nNot this."
    document = waitable("Mine", "HeadBucket", success, documentation=text)
    (tmp_path / "mine.json").write_text(json.dumps(document))
    out = helped(f"s3 mine --help --definitions {tmp_path}/mine.json")
    assert "\nWaits until it is 50% there\\x1b[31m.\n\nAcceptors" in out


@pytest.mark.parametrize(("documentation", "text"), CASES["described"])
def test_a_parameter_is_described_in_plain_text(documentation, text):
    assert first_sentences(documentation) == text
    members = {"Name": {"shape": "S", "documentation": documentation}}
    shapes = {"I": {"type": "structure", "members": members}, "S": {"type": "string"}}
    model = {"metadata": {}, "operations": {"Get": {"input": {"shape": "I"}}}, "shapes": shapes}
    parser = Parser()
    add_operation_parameters(parser, ServiceModel(model).operation_model("Get"))
    assert f"--name STRING {text}".strip() in " ".join(parser.format_help().split())


@pytest.mark.parametrize("columns", [30, 80])
@pytest.mark.parametrize("words", ["s3 --help", "--region eu-west-1 s3 -h", "s3 help", "help s3"])
def test_each_waiter_has_a_line_of_its_own(helped, columns, words):
    lines = [line.strip() for line in helped(words, columns).splitlines()]
    names = [re.sub(r"(?<!^)(?=[A-Z])", "-", each.name).lower() for each in definitions_of("s3")]
    start = lines.index(names[0])
    assert lines[start : start + len(names)] == names


def test_lines_of_a_help_fit_and_end_no_option_at_a_hyphen(helped):
    for columns in (*range(60, 90, 3), 120):
        text = helped("ec2 instance-running --help", columns).partition("\n\n")[2]
        assert max(map(len, text.splitlines())) <= max(columns, 78)  # the longest word
        assert not re.search(r"[a-z]-$", text, re.MULTILINE)


@pytest.mark.parametrize(("words", "listed", "following"), CASES["missing"])
def test_a_service_alone_lists_what_can_follow(command, words, listed, following):
    code, out, err = command(words)
    first, *names, last = err.splitlines()
    assert (code, out) == (2, "")
    assert re.match(r"boto-wait: (WAITER|OPERATION) is missing\. ", first)
    assert f"  {listed}" in names
    assert following in last


@pytest.mark.parametrize(("words", "same"), CASES["same help"])
def test_words_of_the_aws_cli_are_understood(helped, words, same):
    assert helped(words) == helped(same)


def test_help_may_be_a_value_or_a_word(command, tmp_path, called):
    called(lambda *_: {})
    assert command("s3 bucket-exists --max-wait 9 --bucket help")[0] == 0
    (tmp_path / "script.py").write_text("import sys\nprint(sys.argv[1:])")
    assert command("run", tmp_path / "script.py", "help")[1] == "['help']\n"

"""The recipes of docs/contributing.md, each followed in a copy of the project."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.commands import stands_in
from docs.snippets import DOCS, blocks
from installed_models import IS_OLDER
from tree_copy import TreeCopy

PAGE = DOCS / "contributing.md"
WAITABLE = "smithy.waiters#waitable"
RECIPES = ["Add a waiter to a service", "Add a message", "Add a judge", "Add a call"]

pytestmark = [
    pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not in a wheel"),
    pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell"),
]


@pytest.fixture
def project(tmp_path):
    """The folder of the copy."""
    return TreeCopy(tmp_path / "project").folder


@pytest.fixture
def shell(project, tmp_path):
    """`shell(script)`: run it in the copy; return what it prints."""
    command = tmp_path / "boto-wait"
    command.write_text('#!/bin/sh\nexec python -m boto_waiters_plus.cli "$@"\n', "utf-8")
    command.chmod(0o755)

    def run(script):
        programs = str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]
        environment = {**os.environ, "PATH": os.pathsep.join(programs)}
        environment["PYTHONPATH"] = str(project)
        # Nothing lies beside the copy.
        environment.pop("CONFORMANCE_REQUIRED", None)
        found = subprocess.run(
            ["bash", "-ec", script],
            cwd=project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stdout
        return found.stdout

    return run


def recipe(title):
    """Return the text of a section, and the codes of its blocks."""
    before, _, after = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    text = after.partition("\n## ")[0]
    first = before.count("\n")
    lines = range(first, first + text.count("\n") + 2)
    return text, [block.code for block in blocks(PAGE) if block.line in lines]


def test_commands_outside_the_recipes_exist():
    followed = {code for title in RECIPES for code in recipe(title)[1]}
    others = [each.code for each in blocks(PAGE) if each.code not in followed]
    lines = [line.replace("python3 ", "python ") for code in others for line in code.splitlines()]
    assert [line for line in lines if not stands_in(shlex.split(line))] == []


def is_clean(folder, *names):
    """Check the style of files, where ruff is installed."""
    ruff = shutil.which("ruff")
    for words in (["check"], ["format", "--check"]) if ruff else ():
        found = subprocess.run([ruff, *words, *names], cwd=folder, capture_output=True, check=False)
        assert found.returncode == 0, found.stdout.decode()


@pytest.mark.timeout(600)  # it runs other tests
@pytest.mark.skipif(IS_OLDER, reason="the data are written from a newer botocore")
def test_a_waiter_is_added(project, shell):
    _, (draft, check, states, tests) = recipe("Add a waiter to a service")
    told, _, drafted = shell(draft).partition("\n{")
    assert told == "boto-wait draft: GetImport has ImportCompleted already"
    [(shape, body)] = json.loads("{" + drafted)["shapes"].items()
    [(name, waiter)] = body["traits"][WAITABLE].items()
    waiter["tags"] = ["curated", "enum-checked"]
    waiter["documentation"] = "Waits until an import is stopped."
    waiter |= {"minDelay": 4, "maxDelay": 15}
    table = json.loads(states)
    assert list(table["waiters"]) == [name]
    for file, place, added in (
        ("data/cloudtrail.json", ["shapes", shape, "traits", WAITABLE], {name: waiter}),
        ("tests/cases/states/cloudtrail.json", ["waiters"], table["waiters"]),
    ):
        there = found = json.loads((project / file).read_text("utf-8"))
        for member in place:
            found = found[member]
        assert not added.keys() & found.keys(), "it is shipped already"
        found.update(added)
        (project / file).write_text(json.dumps(there), "utf-8")
    shell(check)
    assert "passed" in shell(tests)


def test_a_message_is_recorded(project, shell):
    text, (record,) = recipe("Add a message")
    rows = project / "tests/cases/messages.json"
    known = json.loads(rows.read_text("utf-8"))
    command = re.search(r"`(python\s+tools/messages\.py --missing)`", text)[1]
    assert shell(command.replace("\n", " ")).strip() == ""
    shell(record)
    assert json.loads(rows.read_text("utf-8")) == known


def test_a_judge_is_added(project, shell):
    text, (judge, test) = recipe("Add a judge")
    module = re.search(r"`(boto_waiters_plus/\S+_judge\.py)`", text)[1]
    test_module = re.search(r"`(tests/\S+\.py)`", text)[1]
    (project / module).write_text(judge, "utf-8")
    (project / test_module).write_text(test, "utf-8")
    is_clean(project, module, test_module)
    assert "3 passed" in shell(f"python -m pytest -q {test_module}")


def test_a_call_is_added(project, shell):
    _, (call,) = recipe("Add a call")
    module = "boto_waiters_plus/conditions/command_call.py"
    (project / module).write_text(call, "utf-8")
    is_clean(project, module)
    ends = "CommandCall('false').make(9).response, CommandCall('sleep', '9').make(0.2).ended"
    using = f"from boto_waiters_plus.conditions.command_call import CommandCall; print({ends})"
    assert shell(f'python -c "{using}"') == "1 deadline\n"


def test_a_store_backend_is_added(project, shell):
    text, _ = recipe("Add a store backend")
    example, tests = re.search(r"`(\w+_backend\.py)`", text)[1], "tests/operations/test_backends.py"
    assert tests in text
    folder = project / "boto_waiters_plus/operations"
    code = (folder / example).read_text("utf-8").replace("MemoryBackend", "NotesBackend")
    (folder / "notes_backend.py").write_text(code, "utf-8")
    with (project / tests).open("a", encoding="utf-8") as file:
        file.write(
            "\nfrom boto_waiters_plus.operations.notes_backend import NotesBackend\n"
            "class TestNotes(contract.LocalContract):\n"
            "    @pytest.fixture\n"
            "    def backend(self):\n"
            "        return NotesBackend()\n"
        )
    assert "passed" in shell(f"python -m pytest -q {tests}::TestNotes")


def test_a_verb_is_added(project, shell):
    text, _ = recipe("Add a verb of the command")
    example = re.search(r"`cli/(\w+)\.py` is an example", text)[1]
    folder = project / "boto_waiters_plus/cli"
    code = (folder / f"{example}.py").read_text("utf-8")
    (folder / "tell.py").write_text(code.replace(f'"{example}"', '"tell"'), "utf-8")
    commands = folder / "parser.py"
    row = 'COMMANDS = {\n    "tell": ("tell", "tell of a waiter"),'
    commands.write_text(commands.read_text("utf-8").replace("COMMANDS = {", row), "utf-8")
    words = "s3 bucket-exists"
    assert shell(f"boto-wait tell {words}") == shell(f"boto-wait {example} {words}")
    assert "tell of a waiter" in shell("boto-wait --help")

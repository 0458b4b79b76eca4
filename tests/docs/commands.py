"""Commands on pages that are not run, and what is required of them instead."""

import re

from docs.snippets import ROOT
from installed_models import IS_OLDER

NOT_RUN = {
    "python -m venv": "makes an environment, and has nothing of the package in it",
    ". .venv/bin/activate": "enters it",
    "kill %1": "ends the server, as the end of the test does",
    "boto-wait demo": "takes half a minute; tests/cli/test_demo.py runs it",
}
"""Commands that no test of the pages runs, by their first words, with the reason."""

LACKING_WHEN_OLDER = ("draft", "waiters.json")
"""Words of commands on operations that an older botocore lacks."""


def stands_in(command):
    """Whether a command is not to be run; what it names is then known to exist."""
    if any(" ".join(command).startswith(known) for known in NOT_RUN):
        return True
    match command:
        case ["python"]:  # the Python blocks below it
            return True
        case ["python", "-m", "pip", "install", *requirements]:
            require_extras(requirements)
        case ["ruff" | "lint-imports" | "mypy" | "pyright", *_]:  # tox.ini has them
            require_text("tox.ini", command[0])
        case ["tox", "run", "-e", names]:
            require_environments(names.split(","))
        case ["python", "-m", "pytest", *arguments]:
            require_tests(arguments)
        case _:
            return IS_OLDER and any(word in LACKING_WHEN_OLDER for word in command)
    return True


def require_text(file, text):
    """Require that a file of the project contains some text."""
    assert text in (ROOT / file).read_text(encoding="utf-8"), text


def require_extras(requirements):
    """Require that the extras and groups of a command that installs the package exist."""
    for group in re.findall(r"--group (\w+)", " ".join(requirements)):
        require_text("pyproject.toml", f"\n{group} = [")
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = extras.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    for requirement in requirements:
        for extra in re.findall(r"[\w-]+", requirement.partition("[")[2]):
            assert re.search(rf"^{extra} = ", extras, re.MULTILINE), f"no extra {extra}"


def require_environments(names):
    """Require that tox.ini has these environments."""
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    [listed] = re.findall(r"^env_list = (.*)$", text, re.MULTILINE)
    sections = re.findall(r"^\[testenv:(\w+)\]", text, re.MULTILINE)
    assert set(names) <= {*listed.split(", "), *sections}


def require_tests(arguments):
    """Require that the files and tests that pytest is to run exist."""
    for argument in arguments:
        if argument.startswith("tests/"):
            path, _, name = argument.partition("::")
            assert (ROOT / path).exists(), path
            assert f"def {name}" in (ROOT / path).read_text("utf-8") if name else True, argument

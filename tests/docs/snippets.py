"""The blocks of a page of documentation, and what executes each kind of them."""

import ast
import asyncio
import contextlib
import doctest
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from installed_models import IS_OLDER
from markdown_it import MarkdownIt

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.definitions.files import load_layers
from boto_waiters_plus.testing import virtual_time
from boto_waiters_plus.validation import check

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXECUTED = ("python", "console", "json", "smithy")
OUTPUT = "text"

NOT_RUN = {
    "python -m venv": "makes an environment, and has nothing of the package in it",
    "boto-wait demo": "takes 15 seconds; tests/cli/test_demo.py runs it",
}
"""Commands that no test of the pages runs, by their first words, with the reason."""

LACKING_WHEN_OLDER = ("draft", "waiters.json")
"""Words of commands on operations that an older botocore lacks."""


class Block(NamedTuple):
    """One block of a page.

    Attributes:
        shown: the output that the page shows below it; None if it shows none.
    """

    language: str
    code: str
    line: int
    shown: str | None


def pages():
    """Return README.md and the pages of docs/."""
    found = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))] if DOCS.is_dir() else []
    return [page for page in found if not any(p.startswith("_") for p in page.parts)]


def name_of(page):
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


def blocks(page):
    """Return the blocks of a page; those that show the output of another are part of it."""
    tokens = [
        token for token in MarkdownIt().parse(page.read_text(encoding="utf-8")) if not token.hidden
    ]
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "fence":
            language = token.info.strip()
            if language == OUTPUT and before and before.type == "fence" and found:
                found[-1] = found[-1]._replace(shown=token.content)
            else:
                found.append(Block(language, token.content, token.map[0] + 1, None))
        elif token.type == "code_block":
            found.append(Block("indented", token.content, token.map[0] + 1, None))
    return found


class RoughChecker(doctest.OutputChecker):
    """Compares printed and shown text; `...` stands for anything."""

    def __init__(self, *, rough_times):
        self._rough_times = rough_times

    def matches(self, shown, printed):
        if self._rough_times:
            shown, printed = map(self._without_times, (shown, printed))
        return self.check_output(shown, printed, doctest.ELLIPSIS)

    @staticmethod
    def _without_times(text):
        text = re.sub(r"\d+(\.\d+)? s\b", "N s", text)
        return re.sub(r"\b\d+ attempts?\b", "N attempts", text)


class PageRun:
    """The execution of the blocks of a page, in order and in one namespace.

    Attributes:
        names: the namespace of the Python blocks.
        replaced: texts of the run, and what the page shows for each.
        planned: (seconds, action) pairs that happen in the virtual time of the next block.
        rough_times: whether times and numbers of attempts may differ from those shown.
        real_time: whether delays take real time, because the page starts threads that it leaves.
        printed: the output of each block that was executed.
        folder: the current directory.
    """

    def __init__(self, page, folder, monkeypatch, answers):
        self.page = page
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.answers = answers
        self.names = {"__name__": "__main__"}
        self.replaced = {}
        self.planned = []
        self.rough_times = False
        self.real_time = False
        self.service = None
        self.printed = []
        self._loop = asyncio.new_event_loop()

    def close(self):
        self._loop.close()

    def execute(self, block):
        """Run a block, and compare what it printed with what the page shows."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            getattr(self, f"_run_{block.language}")(block)
        printed = output.getvalue()
        for real, short in self.replaced.items():
            printed = printed.replace(real, short)
        self.printed.append(printed)
        checker = RoughChecker(rough_times=self.rough_times)
        if block.shown is not None and not checker.matches(block.shown, printed):
            pytest.fail(
                f"{name_of(self.page)}:{block.line} prints\n{printed}\ninstead of\n{block.shown}"
            )

    @contextlib.contextmanager
    def _time(self, code):
        """Virtual time, unless the code has its own."""
        if self.real_time or "virtual_time" in code:
            yield
            return
        with virtual_time() as clock:
            for when, action in self.planned:
                clock.call_at(when, action)
            self.planned = []
            yield

    def _run_python(self, block):
        # A file, so that assertions can quote it.
        file = self.folder / f"{self.page.stem}_{block.line}.py"
        file.write_text(block.code, encoding="utf-8")
        code = compile(block.code, str(file), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with self._time(block.code):
            awaitable = eval(code, self.names)
            if inspect.iscoroutine(awaitable):
                self._loop.run_until_complete(awaitable)

    def _run_json(self, block):
        """Definitions load, and pass the check; anything else is JSON."""
        document = json.loads(block.code)
        if "shapes" in document or "waiters" in document:
            assert load_layers(document)
            service = None if "smithy" in document else self.service
            events = check(document, service)
            assert [event for event in events if event.severity.name != "NOTE"] == []

    def _run_smithy(self, block):
        pytest.importorskip("lark")
        from boto_waiters_plus.definitions.idl import parse_idl  # noqa: PLC0415 - needs lark

        document = parse_idl(block.code, source=self.page.name)
        assert bwp.load_definitions(document)
        self.names["idl"] = document

    # --- commands -------------------------------------------------------------------------------

    def _run_console(self, block):
        if "$(" in block.code:
            self._run_shell(block.code)
            return
        for line in block.code.replace("\\\n", " ").splitlines():
            self._run_line(line)

    def _run_line(self, line):
        line, _, on_failure = line.partition(" || echo ")
        words = shlex.split(line, comments=True)
        while "&&" in words:
            place = words.index("&&")
            self._run_words(words[:place], line)
            words = words[place + 1 :]
        code = self._run_words(words, line) if words else 0
        assert (code != 0) == bool(on_failure), f"{line}: exit code {code}"
        if on_failure:
            sys.stdout.write(shlex.split(on_failure)[0].replace("$?", str(code)) + "\n")

    def _run_words(self, words, line):
        """Run a command, or what stands in for it; return its exit code."""
        command = [Path(words[0]).name.replace("python3", "python"), *words[1:]]
        if any(" ".join(command).startswith(known) for known in NOT_RUN):
            return 0
        if IS_OLDER and any(word in LACKING_WHEN_OLDER for word in words):
            return 0
        match command:
            case ["boto-wait", *arguments]:
                return self._run_boto_wait(arguments)
            case ["python", "-m", "pip", "install", *requirements]:
                return require_extras(requirements)
            case ["tox", "run", "-e", names]:
                return require_environments(names.split(","))
            case ["python", "-m", "pytest", *arguments]:
                return require_tests(arguments)
            case ["python", tool, *_] if tool.startswith("tools/"):
                return self._run_shell(line, folder=ROOT)
            case _:
                return self._run_shell(line)

    def _run_boto_wait(self, words):
        """Run `boto-wait` in this process, with `< FILE` and `> FILE`; return its exit code."""
        with contextlib.ExitStack() as stack:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            # `boto-wait run` replaces both.
            patch.setattr(sys, "argv", [*sys.argv])
            patch.setattr(sys, "path", [*sys.path])
            while len(words) > 2 and words[-2] in "<>":
                *words, sign, name = words
                if sign == "<":
                    text = (self.folder / name).read_text(encoding="utf-8")
                    patch.setattr(sys, "stdin", io.StringIO(text))
                else:
                    file = stack.enter_context((self.folder / name).open("w"))
                    stack.enter_context(contextlib.redirect_stdout(file))
            if words[0] == "run":
                stack.callback(bwp.uninstall)
            stack.enter_context(contextlib.redirect_stderr(sys.stdout))
            stack.enter_context(self._time(""))
            try:
                return main(words)
            except SystemExit as ended:
                return ended.code

    def _run_shell(self, script, folder=None):
        """Run a script in bash, which finds the package and moto's resources on a server."""
        server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        program = f'boto-wait() {{ {shlex.quote(sys.executable)} -m boto_waiters_plus.cli "$@"; }}'
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(self.folder),
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        }
        try:
            run = subprocess.run(
                ["bash", "-ec", f"{program}\n{script}"],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=60,
            )
        finally:
            server.stop()
        sys.stdout.write(run.stdout)
        assert run.returncode == 0, run.stdout
        return run.returncode


# --- what stands in for commands that install or take minutes -----------------------------------


def require_extras(requirements):
    """Require that the extras of a command that installs the package exist."""
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = extras.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    for requirement in requirements:
        for extra in re.findall(r"[\w-]+", requirement.partition("[")[2]):
            assert re.search(rf"^{extra} = ", extras, re.MULTILINE), f"no extra {extra}"
    return 0


def require_environments(names):
    """Require that tox.ini has these environments."""
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    [listed] = re.findall(r"^env_list = (.*)$", text, re.MULTILINE)
    sections = re.findall(r"^\[testenv:(\w+)\]", text, re.MULTILINE)
    assert set(names) <= {*listed.split(", "), *sections}
    return 0


def require_tests(arguments):
    """Require that the files and tests that pytest is to run exist."""
    for argument in arguments:
        if argument.startswith("tests/"):
            path, _, name = argument.partition("::")
            assert (ROOT / path).exists(), path
            assert f"def {name}" in (ROOT / path).read_text("utf-8") if name else True, argument
    return 0

"""Runs the blocks of a page in order and in one namespace, against moto and in virtual time."""

import ast
import asyncio
import configparser
import contextlib
import doctest
import inspect
import io
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.definitions.files import load_definitions
from boto_waiters_plus.testing import virtual_time
from boto_waiters_plus.validation import check

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class PageRun:
    """The run of a page.

    Attributes:
        names: the namespace of the Python blocks.
        replaced: gives texts of the run, and what the page shows for each.
        planned: (code, seconds, action): what happens in the virtual time of the block that
            contains the code.
        rough_times: whether times and numbers of attempts may differ from those shown.
        service: the service of definitions that do not name one.
        real_time: parts of the code of blocks in which delays take real time, because of threads
            or tasks that go on after the block.
        in_loop: whether blocks run in an event loop, as in a notebook.
        is_test_module: whether the Python blocks are collected in `test_page.py` instead of run.
        printed: the output of each block.
        examples: the blocks.
    """

    def __init__(self, page, folder, monkeypatch, answers):
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.answers = answers
        self.replaced = dict
        self.planned = []
        self.rough_times = False
        self.real_time = []
        self.in_loop = False
        self.is_test_module = False
        self.service = None
        self.printed = []
        languages = "python", "console", "json", "ini", "smithy", "text"
        runs = {language: getattr(self, f"_run_{language}") for language in languages}
        sybil = Sybil([CodeBlockParser(*each) for each in runs.items()], path=str(DOCS))
        document = sybil.parse(page)
        self.examples = list(document.examples())
        self.text = document.text
        self.names = document.namespace
        self.names["__name__"] = "__main__"
        self._end_of_code = 0
        self._loop = asyncio.new_event_loop()
        self._servers = {}

    def close(self):
        self._loop.close()
        for server in self._servers.values():
            server.stop()

    def start_server(self, port=None):
        """Start moto's server, which has moto's resources of this process; return its URL.

        Args:
            port: what the page calls it; the real one is free.
        """
        if port not in self._servers:
            module = pytest.importorskip("moto.server")
            self._servers[port] = module.ThreadedMotoServer(port=0, verbose=False)
            self._servers[port].start()
        return "http://{}:{}".format(*self._servers[port].get_host_and_port())

    @contextlib.contextmanager
    def _printing(self, example):
        """Keep what the block prints, for the text that may follow."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            yield
        self.printed.append(output.getvalue())
        self._end_of_code = example.region.end

    def _run_text(self, example):
        """A text directly below a block is its output; `...` stands for anything."""
        between = self.text[self._end_of_code : example.region.start].strip("`\n ")
        if between or not self.printed:
            return
        printed, shown = self.printed[-1], example.parsed
        for real, short in self.replaced().items():
            printed = printed.replace(real, short)
        if self.rough_times:
            printed, shown = map(_without_times, (printed, shown))
        if not doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS):
            pytest.fail(f"line {example.line} shows\n{shown}\ninstead of\n{printed}")

    @contextlib.contextmanager
    def _time(self, code):
        """Virtual time, unless the code has its own."""
        if any(part in code for part in ("virtual_time", *self.real_time)):
            yield
            return
        with virtual_time() as clock:
            for part, when, action in self.planned:
                if part in code:
                    clock.call_at(when, action)
            # Threads that the block starts do not move time while the block runs.
            time.sleep(0)
            yield

    def _run_python(self, example):
        with self._printing(example):
            self._run_code(str(example.parsed), example.line)

    def _run_code(self, text, line):
        if self.is_test_module:
            with (self.folder / "test_page.py").open("a", encoding="utf-8") as module:
                module.write(f"{text}\n")
            return
        # A file, so that assertions can quote it.
        file = self.folder / f"page_{line}.py"
        file.write_text(text, encoding="utf-8")
        code = compile(text, str(file), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with self._time(text):
            if self.in_loop or code.co_flags & inspect.CO_COROUTINE:
                self._loop.run_until_complete(self._awaited(code))
            else:
                exec(code, self.names)

    async def _awaited(self, code):
        awaitable = eval(code, self.names)
        if awaitable is not None:
            await awaitable

    def _run_json(self, example):
        """Definitions load, and pass the check; anything else is JSON."""
        document = json.loads(example.parsed)
        if "shapes" in document or "version" in document:
            assert load_definitions(document)
            service = None if "smithy" in document else self.service
            events = check(document, service)
            assert [event for event in events if event.severity.name != "NOTE"] == []

    def _run_ini(self, example):
        """The command of a systemd unit drives the waits of a store until it is empty."""
        unit = configparser.ConfigParser(interpolation=None)
        unit.read_string(example.parsed)
        _, *words = shlex.split(unit["Service"]["ExecStart"])
        folder = f"/var/lib/{unit['Service']['StateDirectory']}"
        words = [word.replace(folder, str(self.folder)) for word in words]
        assert main([*words, "--until-idle"]) == 0

    def _run_smithy(self, example):
        pytest.importorskip("lark")
        from boto_waiters_plus.definitions.idl import parse_idl  # noqa: PLC0415 - needs lark

        document, _ = parse_idl(example.parsed, source="the page")
        assert bwp.load_definitions(document)
        self.names["idl"] = document

    def _run_console(self, example):
        """Run `boto-wait` and the tools; what only a shell can do is left out."""
        with self._printing(example):
            for line in example.parsed.replace("\\\n", " ").splitlines():
                if "$" not in line.partition(" || echo ")[0] and not line.endswith("&"):
                    self._run_line(line)

    def _run_line(self, line):
        line, _, on_failure = line.partition(" || echo ")
        code = 0
        match shlex.split(line, comments=True):
            case ["boto-wait", *words] if words[0] != "demo":
                code = self._run_boto_wait(words)
            case ["export", *variables]:
                for variable in variables:
                    name, _, value = variable.partition("=")
                    is_server = name == "AWS_ENDPOINT_URL"
                    self.monkeypatch.setenv(name, self.start_server() if is_server else value)
            case ["python", tool, *words] if tool.startswith("tools/export"):
                command = [sys.executable, str(ROOT / tool), *words]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                sys.stdout.write(done.stdout)
        assert (code != 0) == bool(on_failure), f"{line}: exit code {code}"
        if on_failure:
            sys.stdout.write(shlex.split(on_failure)[0].replace("$?", str(code)) + "\n")

    def _run_boto_wait(self, words):
        """Run `boto-wait` in this process, with `< FILE` and `> FILE`; return its exit code."""
        with contextlib.ExitStack() as stack:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            # `boto-wait run` replaces both.
            patch.setattr(sys, "argv", [*sys.argv])
            patch.setattr(sys, "path", [*sys.path])
            stack.enter_context(contextlib.redirect_stderr(sys.stdout))
            while len(words) > 2 and words[-2] in "<>":
                *words, sign, name = words
                file = stack.enter_context((self.folder / name).open("r" if sign == "<" else "w"))
                if sign == "<":
                    patch.setattr(sys, "stdin", file)
                else:
                    stack.enter_context(contextlib.redirect_stdout(file))
            if words[0] == "run":
                stack.callback(bwp.uninstall)
            stack.enter_context(self._time(shlex.join(words)))
            try:
                return main(words)
            except SystemExit as ended:
                return ended.code


def _without_times(text):
    text = re.sub(r"\d+(\.\d+)? s\b", "N s", text)
    text = re.sub(r"\b(attempts|elapsed)=[\d.]+", r"\1=N", text)
    return re.sub(r"\b\d+ attempts?\b", "N attempts", text)

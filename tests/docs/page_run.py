"""Runs the blocks of a page in order and in one namespace, against moto and in virtual time."""

import ast
import asyncio
import contextlib
import inspect
import io
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser

from boto_waiters_plus.cli import main
from boto_waiters_plus.testing import virtual_time

ROOT = Path(__file__).resolve().parents[2]


class PageRun:
    """The run of a page.

    Attributes:
        names: the namespace of the Python blocks.
        replaced: gives texts of the run, and what the page shows for each.
        planned: (code, seconds, action): what happens in the virtual time of the block that
            contains the code.
    """

    def __init__(self, page, monkeypatch):
        runs = {"python": self._run_python, "console": self._run_console, "text": self._run_text}
        sybil = Sybil([CodeBlockParser(*each) for each in runs.items()], path=str(page.parent))
        self._document = sybil.parse(page)
        self.names = self._document.namespace
        self.names["__name__"] = "__main__"
        self.monkeypatch = monkeypatch
        self.replaced = dict
        self.planned = []
        self._printed, self._end_of_code = "", 0
        self._loop = asyncio.new_event_loop()
        self._server = None

    def run(self):
        """Run all blocks; a text directly below a block is its output."""
        for example in self._document.examples():
            example.evaluate()

    def close(self):
        self._loop.close()
        if self._server is not None:
            self._server.stop()

    @contextlib.contextmanager
    def _printing(self, example):
        """Keep what the block prints, for the text below it."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            yield
        self._printed, self._end_of_code = output.getvalue(), example.region.end

    def _run_text(self, example):
        """Times and numbers of attempts may differ from those shown."""
        printed, shown = self._printed, example.parsed
        if self._document.text[self._end_of_code : example.region.start].strip("`\n "):
            pytest.fail(f"line {example.line}: not directly below its code")
        for real, short in self.replaced().items():
            printed = printed.replace(real, short)
        if _without_times(printed) != _without_times(shown):
            pytest.fail(f"line {example.line} shows\n{shown}\ninstead of\n{printed}")

    @contextlib.contextmanager
    def _time(self, code):
        """Virtual time, unless the code has its own."""
        if "virtual_time" in code:
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
        text = str(example.parsed)
        code = compile(text, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with self._printing(example), self._time(text):
            if code.co_flags & inspect.CO_COROUTINE:
                self._loop.run_until_complete(eval(code, self.names))
            else:
                exec(code, self.names)

    def _run_console(self, example):
        """Run `boto-wait`, and set variables; what only a shell can do is left out."""
        with self._printing(example):
            for line in example.parsed.splitlines():
                self._run_line(line)

    def _run_line(self, line):
        command, _, on_failure = line.partition(" || echo ")
        match shlex.split(command, comments=True):
            case ["boto-wait", *words]:
                with self._time(command):
                    code = main(words)
                if (code != 0) != bool(on_failure):
                    pytest.fail(f"{command}: exit code {code}")
                if on_failure:
                    sys.stdout.write(f"{shlex.split(on_failure)[0]}\n".replace("$?", str(code)))
            case ["export", *variables]:
                for name, value in (each.split("=", 1) for each in variables):
                    is_server = name == "AWS_ENDPOINT_URL"
                    self.monkeypatch.setenv(name, self._start_server() if is_server else value)

    def _start_server(self):
        """Start moto's server, which has moto's resources of this process; return its URL."""
        module = pytest.importorskip("moto.server")
        self._server = module.ThreadedMotoServer(port=0, verbose=False)
        self._server.start()
        return "http://{}:{}".format(*self._server.get_host_and_port())


def _without_times(text):
    text = re.sub(r"\d+(\.\d+)? s\b", "N s", text)
    text = re.sub(r"\b(attempts|elapsed)=[\d.]+", r"\1=N", text)
    return re.sub(r"\b\d+ attempts?\b", "N attempts", text)

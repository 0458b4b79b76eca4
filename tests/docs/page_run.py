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

from boto_waiters_plus.cli import main
from boto_waiters_plus.testing import virtual_time

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


class PageRun:
    """The run of a page.

    Attributes:
        names: the namespace of the Python blocks.
        replaced: gives texts of the run, and what the page shows for each.
        planned: (code, seconds, action): what happens in the virtual time of the block that
            contains the code.
    """

    def __init__(self, page, monkeypatch):
        self.text = page.read_text(encoding="utf-8")
        self.monkeypatch = monkeypatch
        self.names = {"__name__": "__main__"}
        self.replaced = dict
        self.planned = []
        self._printed = ""
        self._loop = asyncio.new_event_loop()
        self._server = None

    def run(self):
        """Run all blocks; a text directly below a block is its output."""
        end_of_code = 0
        for block in BLOCK.finditer(self.text):
            language, code = block.groups()
            if language == "text":
                if self.text[end_of_code : block.start()].strip():
                    pytest.fail(f"{code} is not directly below its code")
                self._compare(code)
                continue
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                {"python": self._run_python, "console": self._run_console}[language](code)
            self._printed, end_of_code = output.getvalue(), block.end()

    def close(self):
        self._loop.close()
        if self._server is not None:
            self._server.stop()

    def _compare(self, shown):
        """Times and numbers of attempts may differ from those shown."""
        printed = self._printed
        for real, short in self.replaced().items():
            printed = printed.replace(real, short)
        if _without_times(printed) != _without_times(shown):
            pytest.fail(f"the page shows\n{shown}\ninstead of\n{printed}")

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

    def _run_python(self, text):
        code = compile(text, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with self._time(text):
            if code.co_flags & inspect.CO_COROUTINE:
                self._loop.run_until_complete(eval(code, self.names))
            else:
                exec(code, self.names)

    def _run_console(self, text):
        """Run `boto-wait`, and set variables; what only a shell can do is left out."""
        for line in text.splitlines():
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

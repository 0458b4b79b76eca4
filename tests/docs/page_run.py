"""Executes the blocks of a page."""

import ast
import asyncio
import configparser
import contextlib
import inspect
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from docs.commands import stands_in
from docs.snippets import ROOT, RoughChecker, name_of

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.definitions.files import load_layers
from boto_waiters_plus.testing import virtual_time
from boto_waiters_plus.validation import check


class PageRun:
    """The execution of the blocks of a page, in order and in one namespace.

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
        printed: the output of each block that was executed.
        executed: these blocks.
        folder: the current directory.
    """

    def __init__(self, page, folder, monkeypatch, answers):
        self.page = page
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.answers = answers
        self.names = {"__name__": "__main__"}
        self.replaced = dict
        self.planned = []
        self.rough_times = False
        self.real_time = []
        self.in_loop = False
        self.is_test_module = False
        self.service = None
        self.printed = []
        self.executed = []
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

    def _export(self, name, value):
        for port in filter(None, self._servers):
            value = value.replace(f"http://127.0.0.1:{port}", self.start_server(port))
        self.monkeypatch.setenv(name, value)

    def execute(self, block):
        """Run a block, and compare what it printed with what the page shows."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            getattr(self, f"_run_{block.language}")(block)
        printed = output.getvalue()
        for real, short in self.replaced().items():
            printed = printed.replace(real, short)
        self.printed.append(printed)
        self.executed.append(block)
        checker = RoughChecker(rough_times=self.rough_times)
        if block.shown is not None and not checker.matches(block.shown, printed):
            pytest.fail(
                f"{name_of(self.page)}:{block.line} prints\n{printed}\ninstead of\n{block.shown}"
            )

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

    def _run_python(self, block):
        if self.is_test_module:
            with (self.folder / "test_page.py").open("a", encoding="utf-8") as module:
                module.write(f"{block.code}\n")
            return
        # A file, so that assertions can quote it.
        file = self.folder / f"{self.page.stem}_{block.line}.py"
        file.write_text(block.code, encoding="utf-8")
        code = compile(block.code, str(file), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with self._time(block.code):
            if self.in_loop or code.co_flags & inspect.CO_COROUTINE:
                self._loop.run_until_complete(self._run_code(code))
            else:
                exec(code, self.names)

    async def _run_code(self, code):
        awaitable = eval(code, self.names)
        if awaitable is not None:
            await awaitable

    def _run_json(self, block):
        """Definitions load, and pass the check; anything else is JSON."""
        document = json.loads(block.code)
        if "shapes" in document or "version" in document:
            assert load_layers(document)
            service = None if "smithy" in document else self.service
            events = check(document, service)
            assert [event for event in events if event.severity.name != "NOTE"] == []

    def _run_ini(self, block):
        """The command of a systemd unit drives the waits of a store until it is empty."""
        unit = configparser.ConfigParser(interpolation=None)
        unit.read_string(block.code)
        program, *words = shlex.split(unit["Service"]["ExecStart"])
        assert Path(program).name == "boto-wait"
        folder = f"/var/lib/{unit['Service']['StateDirectory']}"
        words = [word.replace(folder, str(self.folder)) for word in words]
        assert main([*words, "--until-idle"]) == 0

    def _run_smithy(self, block):
        pytest.importorskip("lark")
        from boto_waiters_plus.definitions.idl import parse_idl  # noqa: PLC0415 - needs lark

        document, _ = parse_idl(block.code, source=self.page.name)
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
        command = [words[0].rpartition("/")[2].replace("python3", "python"), *words[1:]]
        if stands_in(command if command[0] else words):
            return 0
        match command:
            case ["boto-wait", *arguments]:
                return self._run_boto_wait(arguments)
            case ["moto_server", "--port", port, *_]:
                self.start_server(port)
                return 0
            case ["export", *variables]:
                for variable in variables:
                    self._export(*variable.split("=", 1))
                return 0
            case ["python", tool, *_] if tool.startswith("tools/"):
                return self._run_shell(line.replace("tools/", f"{ROOT}/tools/"))
            case _:
                return self._run_shell(line)

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
                if sign == "<":
                    text = (self.folder / name).read_text(encoding="utf-8")
                    patch.setattr(sys, "stdin", io.StringIO(text))
                else:
                    file = stack.enter_context((self.folder / name).open("w"))
                    stack.enter_context(contextlib.redirect_stdout(file))
            if words[0] == "run":
                stack.callback(bwp.uninstall)
            stack.enter_context(self._time(shlex.join(words)))
            try:
                return main(words)
            except SystemExit as ended:
                return ended.code

    def _run_shell(self, script):
        """Run a script in bash, which finds the package and moto's resources on a server."""
        url = self.start_server()
        programs = Path(tempfile.mkdtemp(dir=self.folder))
        # A file and not a function of the shell: `kill $!` has to kill the command itself.
        command = programs / "boto-wait"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m boto_waiters_plus.cli "$@"\n')
        command.chmod(0o755)
        environment = {
            **os.environ,
            "PATH": os.pathsep.join(
                [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "HOME": str(self.folder),
            "AWS_ENDPOINT_URL": url,
        }
        run = subprocess.run(
            ["bash", "-ec", script],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        sys.stdout.write(run.stdout)
        assert run.returncode == 0, run.stdout
        return run.returncode

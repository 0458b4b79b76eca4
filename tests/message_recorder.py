"""A pytest plugin that records which test produces which message of the package.

MESSAGES_TO is the folder that the record is written to. With MESSAGES_OF only the tests of the
table run.

It compiles each module of the package so that a message, when it is made, is noted with the test
that runs. Constants of a module are noted when they are put into another text. What other threads
than the main one make may belong to an earlier test: it is recorded apart.
"""

import ast
import builtins
import importlib.machinery
import json
import os
import sys
import threading
from pathlib import Path

import messages
import pytest

PACKAGE = "boto_waiters_plus"
FOLDER = Path(os.environ["MESSAGES_TO"])
FOLDER.mkdir(parents=True, exist_ok=True)
MOST_TESTS = 2000 if "MESSAGES_OF" in os.environ else 40
"""Tests that are noted of a message: of those of the table each."""

_record = {"messages": {}, "of threads": {}, "times": {}, "passed": []}
_running = [""]


def note(key, text):
    is_main = threading.current_thread() is threading.main_thread()
    tests = _record["messages" if is_main else "of threads"].setdefault(key, {})
    if _running[0] and len(tests) < MOST_TESTS:
        tests.setdefault(_running[0], str(text)[:300])
    return text


class NotedConstant(str):
    """A text of a module, noted when it is shown."""

    __slots__ = ("key",)

    def __str__(self):
        return note(self.key, str.__str__(self))

    def __format__(self, spec):
        return note(self.key, str.__format__(self, spec))

    def format(self, *arguments, **keywords):
        return note(self.key, str.format(self, *arguments, **keywords))

    def __add__(self, other):
        return note(self.key, str.__add__(self, other))


def noted_constant(key, text):
    noted = NotedConstant(text)
    noted.key = key
    return noted


builtins.__note__, builtins.__noted_constant__ = note, noted_constant


class Noting(ast.NodeTransformer):
    def __init__(self, keys):
        self._keys = keys
        self._depth = 0

    def visit(self, node):
        key = self._keys.get(node)
        if key is not None:
            name = "__note__" if self._depth else "__noted_constant__"
            call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(key), node], [])
            return ast.fix_missing_locations(ast.copy_location(call, node))
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        self._depth += is_function
        try:
            return self.generic_visit(node)
        finally:
            self._depth -= is_function


class NotingLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        root = Path(sys.modules[PACKAGE].__file__).parent if fullname != PACKAGE else None
        path = Path(self.path)
        module = path.relative_to(root or path.parent).as_posix()
        tree = ast.parse(self.get_source(fullname))
        tree = Noting(messages.messages(tree, module)).visit(tree)
        return compile(tree, self.path, "exec", dont_inherit=True)


class NotingFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] != PACKAGE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = NotingLoader(spec.loader.name, spec.loader.path)
        return spec


assert PACKAGE not in sys.modules, "the package was imported before it could be recorded"
sys.meta_path.insert(0, NotingFinder)


def pytest_collection_modifyitems(config, items):
    if "MESSAGES_OF" in os.environ:
        wanted = {row["test"] for row in messages.read_table()}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
        items[:] = [item for item in items if item.nodeid in wanted]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    _running[0] = item.nodeid
    try:
        return (yield)
    finally:
        _running[0] = ""


def pytest_runtest_logreport(report):
    times = _record["times"]
    times[report.nodeid] = times.get(report.nodeid, 0) + report.duration
    if report.when == "call" and report.passed:
        _record["passed"].append(report.nodeid)


def pytest_sessionfinish():
    path = FOLDER / f"{os.getpid()}.json"
    path.write_text(json.dumps(_record), encoding="utf-8")

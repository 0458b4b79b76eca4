"""Break the package in small ways, and see that a test fails for each.

python tools/mutants.py                  400 breaks, spread over the parts by their size, and evenly
                                         over the kinds (`KINDS`)
python tools/mutants.py --seed 7         others
python tools/mutants.py --part engine calls
python tools/mutants.py --shard 1/4      a quarter of them; four such runs make them all
python tools/mutants.py --sample 10      one in ten; --jobs 2 besides, in CI
python tools/mutants.py --list           print the breaks, and run nothing

tests/cases/mutants.json maps modules to the test files that are run for them (any other has those
of the folder of its name), and lists the breaks that change nothing (`equivalent`), with the
reason. Results are kept in build/mutants.jsonl,
by the text of the module: a run that was stopped goes on where it was, and what was caught is not
run again; what was not caught is, if its tests have changed. The exit code is 1 if less than 95 %
were caught, of a sample less than 70 %.

The tests are collected once, in a copy of the tree, and run in forks of that process (Linux and
macOS). What passes there is run again in a process of its own before it counts as not caught. A
test notices a break if it fails twice with it, and passes without.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "boto_waiters_plus"
TABLE = ROOT / "tests" / "cases" / "mutants.json"
RESULTS = ROOT / "build" / "mutants.jsonl"
PARTS = (
    "common",
    "engine",
    "calls",
    "wait",
    "service",
    "stock",
    "batch",
    "hooks",
    "changes",
    "operations",
    "conditions",
)
KINDS = ("value", "condition", "argument", "bound", "branch", "error", "message", "resource")
"""What a break changes: a value or a statement, one condition of several, an argument by name, the
bound of a slice, a branch, a class of errors, a fact in a text, what closes or holds something."""
IN_ALL = 400
ENOUGH = 0.95
ENOUGH_OF_A_SAMPLE = 0.7
"""Of 49 breaks of all kinds 86 % were caught; of thirty-five, five more may be missed by chance."""
MOST_SECONDS = 20
"""Of CPU, for one test: an endless loop is caught."""
CONTEXTS_HELP = "of `coverage run` with dynamic_context = test_function: nearest tests first"
MOST_WAITED = 900
"""Seconds, for all tests of a break. pytest-timeout ends a test that hangs sooner, by name."""

OPTIONS = ("-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not timing", "--timeout=20")
"""Of pytest. Tests that hold deadlines could fail because the machine is busy; one that waits for
what a break took away ends soon."""

Patches = tuple[tuple[FunctionType, CodeType], ...]

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
REPLACED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
OTHER_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Break:
    """One change of one module."""

    module: str
    kind: str
    line: int
    before: str
    after: str
    text: str
    """The whole module with the change."""

    @property
    def part(self) -> str:
        """The folder of the module."""
        return self.module.partition("/")[0]

    @property
    def key(self) -> str:
        """What names the break as long as its line is the same."""
        return f"{self.module}: {self.before} -> {self.after}"

    def rank(self, seed: str = "") -> str:
        """Return its place in the draw: a change elsewhere does not move it."""
        return hashlib.sha256(f"{seed}{self.key}".encode()).hexdigest()


class Changes(ast.NodeVisitor):
    """Collects the nodes of a module that can be changed, with what takes their place."""

    def __init__(self) -> None:
        self.found: list[tuple[str, ast.AST, str]] = []

    def _add(self, node: ast.AST, new: ast.AST | str, kind: str = "value") -> None:
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        self.found.append((kind, node, text))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any(ast.unparse(base).startswith("Protocol") for base in node.bases):
            self._visit_all(node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body])

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's name

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave it: it is written for the type checker."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                others = [each for each in node.values if each is not part]
                self._add(node, ast.JoinedStr(others), "message")

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._visit_test(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._visit_test(node)

    def visit_While(self, node: ast.While) -> None:
        self._visit_test(node)

    def _visit_test(self, node: ast.If | ast.IfExp | ast.While) -> None:
        self._add(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._add(test, ast.Constant(value=True))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            other = SWAPPED[type(node.ops[0])]()
            self._add(node, ast.Compare(node.left, [other], node.comparators))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, ast.BoolOp(other, node.values))
        for dropped in node.values:
            others = [each for each in node.values if each is not dropped]
            new = others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
            self._add(node, new, "condition")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = REPLACED.get(type(node.op))
        if other is not None and not self._is_text(node):
            self._add(node, ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    @staticmethod
    def _is_text(node: ast.BinOp) -> bool:
        kinds = (ast.JoinedStr, ast.Tuple, ast.List)
        return any(
            isinstance(side, kinds)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (node.left, node.right)
        )

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, ast.Constant(value=not node.value))
        elif isinstance(node.value, int | float):
            self._add(node, ast.Constant(value=node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in OTHER_CALLS:
            other = ast.Name(OTHER_CALLS[node.func.id])
            self._add(node, ast.Call(other, node.args, node.keywords))
        for dropped in node.keywords:
            others = [each for each in node.keywords if each is not dropped]
            self._add(node, ast.Call(node.func, node.args, others), "argument")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in filter(None, (node.lower, node.upper)):
            self._add(bound, ast.BinOp(bound, ast.Add(), ast.Constant(value=1)), "bound")

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            self._add(node.guard, ast.Constant(value=True), "condition")
        if not isinstance(node.pattern, ast.MatchAs) or node.pattern.pattern is not None:
            # A guard that never holds.
            guard = "" if node.guard is None else f" if {ast.unparse(node.guard)} and"
            pattern = ast.unparse(node.pattern)
            end = node.pattern if node.guard is None else node.guard
            whole = ast.Expr(node)
            ast.copy_location(whole, node.pattern)
            whole.end_lineno, whole.end_col_offset = end.end_lineno, end.end_col_offset
            self._add(whole, f"{pattern}{guard or ' if'} False", "branch")
        self._visit_all(node.body)

    def visit_Dict(self, node: ast.Dict) -> None:
        """A table of choices with two of its values exchanged."""
        if len(node.values) > 1 and all(isinstance(key, ast.Constant) for key in node.keys):
            first, second, *others = node.values
            self._add(node, ast.Dict(node.keys, [second, first, *others]), "branch")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self._add(node.type, "()", "error")
        self._visit_all(node.body)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        nothing = '__import__("contextlib").nullcontext()'
        for item in node.items:
            if item.optional_vars is None:
                self._add(item.context_expr, nothing, "resource")
        self.generic_visit(node)

    visit_AsyncWith = visit_With  # noqa: N815 - ast's name

    def visit_Return(self, node: ast.Return) -> None:
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        if node.value is not None and not is_none:
            self._add(node, "return None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call | ast.Await | ast.Yield):
            if not isinstance(node.value, ast.Yield):
                self._add(node, "pass")
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self._add(node, "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, "pass")
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(node, "pass")
        error = node.exc
        if isinstance(error, ast.Call) and isinstance(error.func, ast.Name):
            other = "TypeError" if error.func.id == "ValueError" else "ValueError"
            self._add(error.func, other, "error")
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        for each in node.finalbody:
            self._add(each, "pass", "resource")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "continue")

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def breaks_of(module: str) -> Iterator[Break]:
    """All changes that are made in a module, each once."""
    source = (PACKAGE / module).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    changes = Changes()
    changes.visit(ast.parse(source))
    seen: set[str] = set()
    for kind, node, new in changes.found:
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        text = source[:begin] + new.encode() + source[end:]
        lines = slice(starts[node.lineno - 1], starts[node.end_lineno])
        before = " ".join(source[lines].decode().split())
        after = " ".join(
            (source[lines.start : begin] + new.encode() + source[end : lines.stop]).decode().split()
        )
        found = Break(module, kind, node.lineno, before, after, text.decode())
        if found.key not in seen:
            seen.add(found.key)
            yield found


def drawn(
    parts: Sequence[str], in_all: int, equivalent: Iterable[str], seed: str = ""
) -> list[Break]:
    """The breaks to run: of each part as many as its share of all possible ones."""
    left_out = set(equivalent)
    every: dict[str, list[Break]] = defaultdict(list)
    for part in PARTS:
        for path in sorted((PACKAGE / part).rglob("*.py")):
            every[part] += breaks_of(path.relative_to(PACKAGE).as_posix())
    whole = sum(map(len, every.values()))
    chosen = []
    for part in parts:
        number = round(in_all * len(every[part]) / whole)
        ranked = sorted(every[part], key=lambda one: one.rank(seed))
        in_turns = zip_longest(*([one for one in ranked if one.kind == kind] for kind in KINDS))
        first = [*filter(None, chain.from_iterable(in_turns))][:number]
        chosen += [one for one in first if one.key not in left_out and _compiles(one.text)]
    return chosen


def tests_of(table: dict[str, list[str]], module: str) -> list[str]:
    """Return the test files of a module: those of the table, or those of its folder."""
    folder = ROOT / "tests" / module.partition("/")[0]
    files = (path.relative_to(ROOT).as_posix() for path in sorted(folder.glob("test_*.py")))
    return table.get(module) or [*files]


def _compiles(text: str) -> bool:
    try:
        compile(text, "changed", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _fingerprint(one: Break, tests: Sequence[str] = (), root: Path = ROOT) -> str:
    """What a result holds for: the changed module, and the tests that did not notice."""
    sha = hashlib.sha256(one.text.encode())
    for each in tests:
        text = (root / each).read_bytes()
        sha.update(text)
        for table in re.findall(rb"[\w-]+\.json", text):
            path = root / "tests" / "cases" / table.decode()
            sha.update(path.read_bytes() if path.is_file() else b"")
    return sha.hexdigest()[:16]


def _copy_tree(target: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],  # noqa: S607 - the git of the PATH
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


class Collected:
    """A pytest plugin that runs tests of the session in forks of it, instead of the session.

    A fork has imported and collected everything, so that a break costs what its tests cost.
    """

    def __init__(self, work: Callable[[Collected], None], contexts: str | None) -> None:
        self._work = work
        self._contexts = contexts
        self._items: dict[str, list[Any]] = defaultdict(list)
        self.left_out: set[str] = set()
        """Tests that fail without a break."""

    def pytest_runtestloop(self, session: Any) -> bool:
        """Do the work, and run no test in this process."""
        self._session = session
        for item in session.items:
            self._items[item.nodeid.partition("::")[0]].append(item)
        self._work(self)
        return True

    def run(
        self, one: Break, files: Sequence[str], patches: Patches, without: Collection[str]
    ) -> str:
        """Return the name of the first test that fails, or what ended the process; "" if none."""
        items = [item for file in files for item in self._items[file] if item.nodeid not in without]
        reached = self._tests_that_reach(one)
        items.sort(key=lambda item: item.nodeid.partition("[")[0] not in reached)
        return self._forked(items, patches)

    def fails(self, test: str, patches: Patches) -> bool:
        """Return whether a test fails by itself."""
        items = self._items[test.partition("::")[0]]
        return bool(self._forked([each for each in items if each.nodeid == test], patches))

    def _tests_that_reach(self, one: Break) -> set[str]:
        """The tests that ran the changed line, if a record of coverage says so."""
        if self._contexts is None:
            return set()
        import coverage  # noqa: PLC0415 - only where there is a record

        data = coverage.CoverageData(self._contexts)
        data.read()
        contexts = data.contexts_by_lineno(str(PACKAGE / one.module)).get(one.line, ())
        found = (context.rpartition(".") for context in contexts)
        return {f"{module.replace('.', '/')}.py::{name}" for module, _, name in found}

    def _forked(self, items: Sequence[Any], patches: Patches) -> str:
        log = Path("mutant.log")
        log.write_text("", "utf-8")
        process = os.fork()
        if process == 0:
            code = 1
            try:
                code = self._in_child(items, patches, log)
            finally:
                os._exit(code)
        code = _ended(process, time.monotonic() + MOST_WAITED)
        return log.read_text("utf-8") if code == 1 else f"signal {-code}" if code else ""

    def _in_child(self, items: Sequence[Any], patches: Patches, log: Path) -> int:
        os.setpgid(0, 0)
        for function, code in patches:
            function.__code__ = code
        for item, following in zip_longest(items, items[1:]):
            limit = int(time.process_time()) + MOST_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._session.testsfailed:
                log.write_text(item.nodeid, "utf-8")
                return 1
        return 0


def _ended(process: int, at: float) -> int:
    """Return the exit code of a process, which is killed at that time."""
    while time.monotonic() < at:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
    else:
        os.killpg(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
    with contextlib.suppress(ProcessLookupError):  # what its tests started and left
        os.killpg(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


def _codes(code: CodeType, prefix: str = "") -> Iterator[tuple[str, CodeType]]:
    """The code objects inside another one, by their qualified names, each before its own."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            name = f"{prefix}{constant.co_name}"
            yield name, constant
            yield from _codes(constant, f"{name}.")


def _plain(code: CodeType) -> tuple[Any, ...]:
    """What code does by itself, without the code inside it."""
    constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, code.co_names, repr(constants), code.co_freevars, code.co_varnames


def patches_of(one: Break, unchanged: Path) -> Patches | None:
    """The functions of the imported module that change, with their new code.

    None if more than the code of such functions changes; () if the module is not imported yet.
    """
    name = "boto_waiters_plus." + one.module.removesuffix(".py").replace("/", ".")
    module = sys.modules.get(name.removesuffix(".__init__"))
    if module is None:
        return ()
    before = compile(unchanged.read_bytes(), "", "exec", dont_inherit=True)
    after = compile(one.text, str(module.__file__), "exec", dont_inherit=True)
    old, new = list(_codes(before)), list(_codes(after))
    if _plain(before) != _plain(after) or [n for n, _ in old] != [n for n, _ in new]:
        return None
    for (name, was), (_, now) in zip(old, new, strict=True):
        if _plain(was) != _plain(now):
            return _function_around(module, name, new)
    return None


def _function_around(
    module: Any, name: str, codes: Sequence[tuple[str, CodeType]]
) -> Patches | None:
    """The outermost function around a changed one."""
    found: Any = module
    parts = name.split(".")
    for number, part in enumerate(parts, start=1):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
        for wrapped in ("__func__", "fget", "func", "__wrapped__"):
            found = getattr(found, wrapped, found)
        if isinstance(found, FunctionType):
            whole = [code for each, code in codes if each == ".".join(parts[:number])]
            if len(whole) == 1 and whole[0].co_freevars == found.__code__.co_freevars:
                return ((found, whole[0]),)
            return None
    return None


def _fails_afresh(copy: Path, tests: Sequence[str], without: Iterable[str] = ()) -> str:
    """Return which test fails in a process of its own, or how that ends; "" if all pass."""
    options = ["-x", "-q", "--tb=line", *OPTIONS, *(f"--deselect={each}" for each in without)]
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    with (copy / "afresh.log").open("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=copy,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        try:
            code = process.wait(MOST_WAITED)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "it did not end"
        log.seek(0)
        failed = [line for line in log if line.startswith(("FAILED ", "ERROR "))]
    if failed:
        return failed[-1].partition(" ")[2].partition(" - ")[0].strip()
    return f"exit code {code}" if code else ""


def caught(one: Break, files: Sequence[str], tests: Collected, copy: Path) -> str:
    """Return what notices a break; "" if nothing does."""
    target = copy / "boto_waiters_plus" / one.module
    patches = patches_of(one, target)
    by_chance: set[str] = set()
    while True:
        without = tests.left_out | by_chance
        with _changed(target, one.text):
            how = "" if patches is None else tests.run(one, files, patches, without)
            if how:
                fails = functools.partial(tests.fails, how)
            else:
                # Objects that existed before may have hidden the change.
                how = _fails_afresh(copy, files, without)
                fails = functools.partial(lambda test, _: bool(_fails_afresh(copy, [test])), how)
            is_test = "::" in how and how not in without
            fails_again = not is_test or fails(patches or ())
        if not is_test or (fails_again and not fails(())):
            return how
        if fails_again:
            tests.left_out.add(how)
            print(f"{how} does not pass unchanged", file=sys.stderr)
        else:
            by_chance.add(how)


@contextlib.contextmanager
def _changed(target: Path, text: str) -> Iterator[None]:
    """A module of the copy has another text."""
    unchanged = target.with_suffix(".unchanged")
    shutil.copy2(target, unchanged)
    target.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        unchanged.replace(target)


def _known(chosen: Sequence[Break], tests_of: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    """The results that still hold, by the key of the break."""
    if not RESULTS.exists():
        return {}
    kept = {}
    for text in RESULTS.read_text("utf-8").splitlines():
        line = json.loads(text)
        kept[line["key"], line["fingerprint"]] = line
    found = {}
    for one in chosen:
        noticed = kept.get((one.key, _fingerprint(one)))
        missed = kept.get((one.key, _fingerprint(one, tests_of[one.module])))
        if noticed or missed:
            found[one.key] = noticed or missed
    return found


def run(
    chosen: Sequence[Break], tests_of: dict[str, list[str]], contexts: str | None
) -> list[dict[str, Any]]:
    """Return the result of each break."""
    without = {one.module for one in chosen if not tests_of.get(one.module)}
    if without:
        sys.exit(f"tests/cases/mutants.json names no tests of {', '.join(sorted(without))}")
    known = _known(chosen, tests_of)
    results = list(known.values())
    left = [one for one in chosen if one.key not in known]
    RESULTS.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, RESULTS.open("a", encoding="utf-8") as kept:
        copy = Path(folder).resolve()

        def work(tests: Collected) -> None:
            for number, one in enumerate(left, start=1):
                began = time.monotonic()
                how = caught(one, tests_of[one.module], tests, copy)
                line = {"key": one.key, "line": one.line, "caught": how}
                line["fingerprint"] = _fingerprint(one, () if how else tests_of[one.module], copy)
                line |= {"seconds": round(time.monotonic() - began, 1)}
                kept.write(json.dumps(line) + "\n")
                kept.flush()
                results.append(line)
                if not how:
                    print(
                        f"{number} of {len(left)} survived, line {one.line}: {one.key}", file=shown
                    )
                    shown.flush()

        if left:
            _copy_tree(copy)
            files = sorted({file for one in left for file in tests_of[one.module]})
            shown = os.fdopen(os.dup(1), "w")
            _collect(copy, files, Collected(work, contexts))
    return results


def _collect(copy: Path, files: Sequence[str], plugin: Collected) -> None:
    """Collect the files in the copy, and do the work there."""
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:] = [str(copy), *(each for each in sys.path if each != str(ROOT))]
    sys.dont_write_bytecode = True
    import pytest  # noqa: PLC0415 - in the folder and on the path of the tests

    shown = os.dup(1)
    with Path("pytest.log").open("w+", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        code = pytest.main(["-q", "--tb=no", *OPTIONS, *files], plugins=[plugin])
        os.dup2(shown, 1)
        log.seek(0)
        if code not in (0, 5):
            sys.exit(f"pytest ended with {code}:\n{log.read()[-3000:]}")
    os.chdir(ROOT)


def _run_shards(jobs: int) -> None:
    """Run a process for each shard, all at once; this process then finds their results."""
    command = [sys.executable, __file__, *sys.argv[1:], "--jobs=1", "--nice=0"]
    shards = [f"--shard={number}/{jobs}" for number in range(1, jobs + 1)]
    started = [subprocess.Popen([*command, shard]) for shard in shards]  # noqa: S603 - this Python
    for process in started:
        process.wait()


def main() -> int:
    """Run the breaks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--number", type=int, default=IN_ALL, help="of all parts together")
    parser.add_argument("--shard", default="1/1", help="such as 2/4")
    parser.add_argument("--sample", type=int, default=1, help="10: one in ten of them")
    parser.add_argument("--list", action="store_true", help="print the breaks, run nothing")
    parser.add_argument("--jobs", type=int, default=1, help="processes; most tests wait")
    parser.add_argument("--contexts", metavar="FILE", help=CONTEXTS_HELP)
    parser.add_argument("--seed", default="", help="draws others")
    parser.add_argument("--nice", type=int, default=5, help="how far others come first")
    arguments = parser.parse_args()
    table = json.loads(TABLE.read_text("utf-8"))
    equivalent = [line["break"] for line in table["equivalent"]]
    chosen = drawn(arguments.part, arguments.number, equivalent, arguments.seed)
    chosen = [one for one in chosen if int(one.rank()[16:24], 16) % arguments.sample == 0]
    shard, shards = map(int, arguments.shard.split("/"))
    chosen = chosen[shard - 1 :: shards]
    chosen.sort(key=lambda one: (PARTS.index(one.part), one.module, one.line))
    if arguments.list:
        for one in chosen:
            print(f"{one.line:4} {one.kind:9} {one.key}")
        return 0
    os.nice(arguments.nice)
    if arguments.jobs > 1:
        _run_shards(arguments.jobs)
    tests = {one.module: tests_of(table["tests"], one.module) for one in chosen}
    results = run(chosen, tests, arguments.contexts)
    number = sum(bool(line["caught"]) for line in results)
    print(f"{number} of {len(results)} breaks caught ({number / max(1, len(results)):.1%})")
    enough = ENOUGH if arguments.sample == 1 else ENOUGH_OF_A_SAMPLE
    return int(number < enough * len(results))


if __name__ == "__main__":
    sys.exit(main())

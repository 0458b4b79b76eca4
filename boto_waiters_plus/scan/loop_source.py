"""A loop of a file, or what repeats a function: what is in it, and what it is told."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from typing import Final

from ..definitions.words import READS, verb_of
from .names import (
    NAMED,
    RETRIES,
    Function,
    Loop,
    SourceNames,
    bindings_of,
    inside,
    named,
    names_in,
    source,
    walk,
)

OF_OBJECTS: Final = ("load", "reload")
"""Methods of boto3's resource objects that read."""
_EVENTS: Final = ("threading.Event", "asyncio.Event", "multiprocessing.Event")
_POLLS: Final = ("polling.poll", "polling2.poll", "waiting.wait")
_LIKE_POLLS: Final = re.compile(r"_?(poll|wait)(_for|_until)?(_true|_condition)?\Z")
_NEAR: Final = 8
"""Statements before a loop that tell what it waits for."""
_TARGETS: Final = ("target", "predicate", "func", "condition")


def polls(call: ast.Call, names: SourceNames) -> bool:
    """Return whether a call calls a function until it returns a true, or the right, value."""
    if not _LIKE_POLLS.match(getattr(call.func, "attr", getattr(call.func, "id", ""))):
        return False
    name = names.origin(call)
    given = [*call.args[:1], *(e for word in _TARGETS for e in named(call, word))]
    is_told = any(isinstance(each, ast.Lambda) for each in given)
    return name.startswith(_POLLS) or (is_told and not name.startswith("boto_waiters_plus"))


def method_verb(method: str) -> str:
    """Return the verb of a client's method: `Describe` for `describe_table`."""
    return verb_of("".join(map(str.capitalize, method.split("_"))))


class LoopSource:
    """A loop, a function that is repeated, or a call that repeats one.

    Args:
        names: the names of its file.
        node: the loop, the function, or the call.
    """

    def __init__(self, names: SourceNames, node: Function | Loop | ast.Call) -> None:
        self.names, self.node = names, node
        self.retries = [node] if isinstance(node, ast.Call) else names.retries(node)
        self.own = list(inside(node, (ast.For, ast.AsyncFor, ast.While)))
        """What is in the loop, but not in a loop inside."""
        calls = (each for each in self.own if isinstance(each, ast.Call))
        delays = ((each, self._delay(each)) for each in calls)
        self.sleeps = {each: delay for each, delay in delays if delay is not None}
        """The calls that sleep, and for how long."""
        self.around = names.around.get(node, ())
        """The `try` statements around it."""

    @functools.cached_property
    def _nodes(self) -> dict[ast.AST, None]:
        """What is in the loop."""
        return dict.fromkeys(inside(self.node))

    @functools.cached_property
    def assigned(self) -> set[str]:
        """The names that the loop assigns."""
        names = (each for each in self._nodes if isinstance(each, ast.Name))
        return {each.id for each in names if isinstance(each.ctx, ast.Store)}

    @functools.cached_property
    def constants(self) -> dict[str, ast.expr]:
        """Names that the loop gives the same value in each pass."""
        bound: dict[str, list[ast.expr]] = {}
        if isinstance(self.node, Loop):
            for name, value in (pair for each in self._nodes for pair in bindings_of(each)):
                bound.setdefault(name, []).append(value)
        kinds = (ast.Dict, ast.List, ast.Constant, ast.JoinedStr)
        return {
            name: values[0]
            for name, values in bound.items()
            if len(values) == 1
            and isinstance(values[0], kinds)
            and not names_in(values[0]) & self.assigned
        }

    def _delay(self, call: ast.Call) -> ast.expr | None:
        """Return for how long a call sleeps; None if it does not."""
        match call:
            case ast.Call(args=[delay]) if self.names.origin(call).rpartition(".")[2] == "sleep":
                return delay
            case ast.Call(func=ast.Attribute(value=event, attr="wait")):
                delays = [*call.args, *named(call, "timeout")]
                return delays[0] if len(delays) == 1 and self.is_event(event) else None
            case _ if (function := self.names.called(call)) is not None and function != self.node:
                slept = [each for each in inside(function) if isinstance(each, ast.Call)]
                is_sleep = any(self.names.origin(e).endswith("time.sleep") for e in slept)
                # How long the function sleeps is its own, if it is not told.
                told = call.args[0] if len(call.args) == 1 else ast.Name(function.name)
                return told if is_sleep else None
        return None

    def is_event(self, node: ast.expr) -> bool:
        """Return whether a node is an event that other threads set."""
        made = (node, *self.names.values(node)) if isinstance(node, NAMED) else (node,)
        return bool(
            any(self.names.origin(each) in _EVENTS for each in made if isinstance(each, ast.Call))
            or re.search(r"(?i)event|stop|cancel|shutdown|exit|quit", source(node))
        )

    @functools.cached_property
    def assigned_before(self) -> set[str]:
        """The names that the loop assigns and that are assigned before it, too."""
        found = {each: self.names.values(ast.Name(each), self.node) for each in self.assigned}
        return {name for name, values in found.items() if not all(map(self.has, values))}

    def sleeps_in(self, node: ast.AST) -> bool:
        """Return whether a node has a call that sleeps."""
        calls = (each for each in inside(node) if isinstance(each, ast.Call))
        return any(self.names.origin(each).endswith("sleep") for each in calls)

    def counts(self) -> Iterator[tuple[str, bool]]:
        """Yield the names that count passes or time, and whether they grow."""
        anew: set[str] = set()
        for node in self.own:  # what is set anew in a pass counts something in it
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
                    anew.add(name)
        for name in self.assigned - anew:
            yield from ((name, is_growing) for is_growing, _ in self.steps(name))

    def steps(self, name: str) -> Iterator[tuple[bool, ast.expr]]:
        """Yield by how much a name grows, or becomes less, in a pass."""
        for node in self.own:
            match node:
                case (
                    ast.AugAssign(target=ast.Name(id=left), op=op, value=step)
                    | ast.Assign(
                        targets=[ast.Name()],
                        value=ast.BinOp(left=ast.Name(id=left), op=op, right=step),
                    )
                ) if left == name and isinstance(op, ast.Add | ast.Sub):
                    if isinstance(node, ast.AugAssign) or source(node.targets[0]) == name:
                        yield isinstance(op, ast.Add), step

    def calls_before(self) -> Iterator[str]:
        """Yield the methods that are called in the statements before the loop."""
        block = self.names.blocks.get(self.node, []) if isinstance(self.node, Loop) else []
        before = block[: block.index(self.node)] if block else []
        for node in (each for statement in before[-_NEAR:] for each in inside(statement)):
            match node:
                case ast.Call(func=ast.Attribute(attr=method)):
                    yield method

    def has(self, node: ast.AST) -> bool:
        """Return whether a node is in the loop."""
        return node in self._nodes

    @property
    def head(self) -> range:
        """The lines before the first statement inside."""
        first = [self.node, *getattr(self.node, "decorator_list", [])]
        body = getattr(self.node, "body", None)
        last = body[0].lineno if body else self.node.lineno + 1
        start = min(each.lineno for each in first)
        return range(start, max(last, start + 1))

    @functools.cached_property
    def used_later(self) -> set[str]:
        """The names that the loop assigns and that are used behind it."""
        if not isinstance(self.node, Loop):
            return set()
        uses, end = self.names.last_use(self.names.scopes(self.node)[-1]), self.node.end_lineno or 0
        return {each for each in self.assigned if uses.get(each, 0) > end}

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and last line of a loop that may be one line: nothing of it is used elsewhere.

        None if it is no statement of its own, prints or keeps something, or returns.
        """
        node = self.node
        if not isinstance(node, Loop) or node.orelse or node.end_lineno is None:
            return None
        for each in inside(node):
            match each:
                case ast.Return() | ast.Yield() | ast.YieldFrom() | ast.Global() | ast.Nonlocal():
                    return None
                case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                    return None
                case ast.Expr(value=ast.Call() | ast.Await() as value):
                    call = value.value if isinstance(value, ast.Await) else value
                    if call not in self.sleeps and not (
                        isinstance(call, ast.Call)
                        and isinstance(call.func, ast.Attribute)
                        and method_verb(call.func.attr) in READS
                    ):
                        return None
        if self.used_later:
            return None
        return node.lineno, node.end_lineno

    # --- what a library is told: what it repeats, and for which values and errors

    @functools.cached_property
    def passes(self) -> ast.For | ast.AsyncFor | ast.While:
        """The loop as a statement; what a library or a function repeats is one, too."""
        node, value = self.node, ast.Name("<value>", ast.Load())
        if isinstance(node, Loop) and not self.retries:
            return node
        run: list[ast.stmt] = [ast.Assign([value], self._repeated())]
        run = node.body if isinstance(node, Loop) else run
        tests = [ast.If(each, [ast.Continue()], []) for each in self._stays(value)]
        ends = [ast.Break() if self.retries else ast.Return(value)]
        caught = [ast.ExceptHandler(each, None, [ast.Continue()]) for each in self._errors()]
        return ast.While(
            ast.Constant(value=True), [ast.Try(run, caught, [], []), *tests, *ends], []
        )

    def _function(self, node: ast.expr) -> ast.AST:
        """Return the function of the file that a node is, or the node."""
        return self.names.called(ast.copy_location(ast.Call(node, [], []), node)) or node

    def _repeated(self) -> ast.expr:
        """Return the call that is repeated."""
        function: ast.AST = self.node
        if isinstance(self.node, ast.Call):
            words = (e for word in _TARGETS for e in named(self.node, word))
            function = self._function([*self.node.args[:1], *words, self.node.func][0])
        return ast.Call(function, [], [])  # type: ignore[arg-type] # for `Passes` alone

    def _stays(self, value: ast.expr) -> Iterator[ast.expr]:
        """Yield the tests at which a value is no end."""
        for retry in self.retries:
            is_poll, tests = retry is self.node, list[tuple[ast.expr | None, bool]]()
            is_predicate = self.names.origin(retry).endswith("on_predicate")
            for node in walk(retry):
                match node:
                    case ast.Call(func=ast.Name(id=last) | ast.Attribute(attr=last), args=[test]):
                        if last in ("retry_if_result", "retry_if_not_result"):
                            tests.append((test, last == "retry_if_result"))
                    case ast.keyword(arg="retry_on_result" | "check_success" as word, value=test):
                        tests.append((test, word == "retry_on_result"))
                    case ast.keyword(arg="predicate", value=test) if is_predicate:
                        tests.append((test, True))
            if is_predicate and isinstance(retry, ast.Call):
                tests += [(each, True) for each in retry.args[1:2]]
            for each, is_stay in tests or [(None, False)] * (is_predicate or is_poll):
                holds = value
                if each is not None:
                    holds = ast.Call(self._function(each), [value], [])  # type: ignore[arg-type] # for `Passes` alone
                yield holds if is_stay else ast.UnaryOp(ast.Not(), holds)

    def _errors(self) -> Iterator[ast.expr | None]:
        """Yield the errors after which it goes on; None for any."""
        for retry in self.retries:
            found = (each for each in walk(retry) if isinstance(each, NAMED))
            names = [e for e in found if not self.names.origin(e).startswith(RETRIES)]
            classes = [e for e in names if re.match("_*[A-Z][^_]*[a-z]", _last(e))]
            words = [_last(each) for each in walk(retry) if isinstance(each, NAMED)]
            is_of_values = any(re.search("result|on_predicate", word) for word in words)
            is_of_errors = any("exception" in word for word in words)
            if retry is self.node:
                given = [
                    *named(self.node, "ignore_exceptions"),
                    *named(self.node, "expected_exceptions"),
                ]
                yield from (e for each in given for e in getattr(each, "elts", [each]))
            elif classes or (is_of_values and not is_of_errors):
                yield from classes
            else:
                yield None


def _last(node: ast.expr) -> str:
    return source(node).rpartition(".")[2]

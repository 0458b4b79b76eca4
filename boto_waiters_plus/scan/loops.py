"""Loops that wait by hand for a state of an AWS resource, found in the syntax tree of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from .bounds import loop_bounds
from .calls import ReadCall, client_call, reads_in
from .loop_source import LoopSource, polls
from .names import Function, Loop, SourceNames, inside
from .passes import Passes

_COUNTERS: Final = ("range", "itertools.count", "count")
_ENDS: Final = (ast.Raise, ast.Break, ast.Return)


class RepeatedWaiter(NamedTuple):
    """A waiter of botocore's whose errors a loop catches."""

    name: str
    call: ReadCall


class PollingLoop(NamedTuple):
    """A loop, a function that is repeated, or a call that repeats one."""

    line: int
    column: int
    source: LoopSource
    passes: Passes
    waiter: RepeatedWaiter | None
    is_async: bool
    is_awaited: bool
    """Whether the client's methods are coroutines."""
    max_wait: str | None
    """The loop's own bound as an expression, in seconds; None if none was found."""
    delay: str | None
    """The delay between two passes, likewise; None if it is not fixed."""


def polling_loops(tree: ast.Module) -> list[PollingLoop]:
    """Return the loops of a file that sleep and call what may be a read operation."""
    names = SourceNames(tree)
    found = (_polling_loop(LoopSource(names, each)) for each in _repeated(names))
    return [each for each in found if each is not None]


def _repeated(names: SourceNames) -> Iterator[Function | Loop | ast.Call]:
    """Yield the loops of a file, and what repeats a function."""
    for node in names.repeatable:
        match node:
            case ast.While():
                yield node
            case ast.For() | ast.AsyncFor():
                if names.origin(node.iter) in _COUNTERS or names.retries(node):
                    yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if node in names.recursive or names.retries(node):
                    yield node
            case ast.Call() if polls(node, names):
                yield node


def _polling_loop(loop: LoopSource) -> PollingLoop | None:
    """Return a loop; None if it does not wait between its passes, or polls nothing."""
    node, names = loop.node, loop.names
    waiter = _repeated_waiter(loop) if isinstance(node, Loop) else None
    if waiter is None and not (loop.retries or loop.sleeps):
        return None
    if waiter is None and not reads_in(names, loop.passes):
        return None
    passes = Passes(loop)
    if waiter is None and not passes.observed:
        return None
    is_async = bool(loop.retries) and isinstance(node, ast.AsyncFunctionDef)
    is_async |= any(names.origin(each).startswith("asyncio.") for each in loop.sleeps)
    awaited = [each.value for each in loop.own if isinstance(each, ast.Await)]
    is_awaited = any(each not in loop.sleeps for each in awaited)
    place = node.lineno, node.col_offset + 1
    return PollingLoop(*place, loop, passes, waiter, is_async, is_awaited, *loop_bounds(loop))


def _repeated_waiter(loop: LoopSource) -> RepeatedWaiter | None:
    """Return the waiter whose errors the loop catches, and its call."""
    tries = [each for each in loop.own if isinstance(each, ast.Try) and each.handlers]
    caught = [each for each in tries if not isinstance(each.handlers[-1].body[-1], _ENDS)]
    for node in (node for each in caught for node in inside(each)):
        match node:
            case ast.Call(func=ast.Attribute(value=waiter, attr="wait")):
                for made in (waiter, *loop.names.values(waiter)):
                    match made:
                        case ast.Call(
                            func=ast.Attribute(value=client, attr="get_waiter"),
                            args=[ast.Constant(value=str(name))],
                        ):
                            keywords = [e for e in node.keywords if e.arg != "WaiterConfig"]
                            return RepeatedWaiter(
                                name, client_call(loop, client, "", node, keywords)
                            )
    return None

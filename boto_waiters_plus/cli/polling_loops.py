"""Loops that wait by hand for a state of an AWS resource, found in the syntax tree of a file.

Nothing is imported or run. What a file does not tell, such as the service of a client that is
passed in, is left open. Each text that a loop compares has one of three effects: the loop is left,
it goes on, or it raises.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, cast

from ..definitions.words import READS, verb_of
from .loop_bounds import loop_bounds
from .loop_effects import EffectReader, Effects
from .source_names import (
    Function,
    Loop,
    LoopSource,
    SourceNames,
    inside,
    names_in,
    source,
    spend,
    walk,
)

Arguments = Mapping[str, ast.expr]
"""What the parameters of a function stand for."""

_COUNTERS: Final = ("range", "itertools.count")
_ENDS: Final = (ast.Raise, ast.Break, ast.Return)
_PAGE: Final = ("token", "marker")
_LONGEST: Final = 100
"""Characters of an expression that takes the place of a name."""


class ReadCall(NamedTuple):
    """A call that may be of a client's read operation."""

    client: str
    """The client, as source."""
    services: frozenset[str]
    """The services that the client may be of; empty if the file does not tell."""
    method: str
    parameters: tuple[str, ...]
    is_awaited: bool
    is_of_items: bool
    """Whether each pass may ask for another resource, or asks for another page."""


class PollingLoop(NamedTuple):
    """A loop, or a function that a decorator repeats."""

    line: int
    column: int
    calls: list[ReadCall]
    waiter: str | None
    """What `get_waiter` was given, if the loop repeats its wait."""
    is_async: bool
    max_wait: str | None
    """The loop's own bound as an expression, in seconds; None if none was found."""
    delay: str | None
    """The delay between two passes, likewise; None if it is not fixed."""
    effects: Effects
    """What the loop does at a state, at an error's name, and at `ANSWERED`."""


def polling_loops(tree: ast.Module) -> list[PollingLoop]:
    """Return the loops of a file that sleep and call what may be a read operation."""
    names = SourceNames(tree)
    loops = [each for each in names.scopes if isinstance(each, Function | Loop)]
    repeated = (each for each in loops if isinstance(each, Loop) or names.retries(each))
    found = (_polling_loop(LoopSource(names, each)) for each in repeated)
    return [each for each in found if each is not None]


def _polling_loop(loop: LoopSource) -> PollingLoop | None:
    """Return a loop; None if it does not wait between its passes, or polls nothing."""
    node, names = loop.node, loop.names
    is_loop = isinstance(node, ast.While) or (
        isinstance(node, ast.For) and names.origin(node.iter) in _COUNTERS
    )
    waiter: str | None = None
    calls: list[ReadCall] = []
    if is_loop:
        waiter, calls = _repeated_waiter(loop)
    if waiter is None and (loop.retries or (is_loop and loop.sleeps)):
        calls = list(_calls(loop, loop.own, {}))
    if not calls:
        return None
    is_async = bool(loop.retries) and isinstance(node, ast.AsyncFunctionDef)
    is_async |= "asyncio.sleep" in map(names.origin, loop.sleeps)
    place = node.lineno, node.col_offset + 1
    return PollingLoop(
        *place, calls, waiter, is_async, *loop_bounds(loop), EffectReader(loop).read()
    )


def _repeated_waiter(loop: LoopSource) -> tuple[str | None, list[ReadCall]]:
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
                            return name, [_read_call(loop, client, "", node, {})]
    return None, []


def _calls(
    loop: LoopSource, nodes: Iterable[ast.AST], given: Arguments, depth: int = 2
) -> Iterator[ReadCall]:
    """Yield the calls that may be read operations, also those in functions of the file."""
    nodes = list(nodes)
    awaited = {each.value for each in nodes if isinstance(each, ast.Await)}
    for node in nodes:
        function = loop.names.called(node)
        match node:
            case ast.Call() if function is not None:
                if depth:
                    inner = _arguments(loop.names, function, node, given)
                    yield from _calls(loop, inside(function), inner, depth - 1)
            case ast.Call(func=ast.Attribute(value=client, attr=method), args=[]):
                call = _read_call(loop, client, method, node, given)
                # A branch of a function that this call of it does not take.
                is_absent = any(each.endswith("=None") for each in call.parameters)
                if _reads(method) and not is_absent and call.client not in ("self", "cls"):
                    yield call._replace(is_awaited=node in awaited)


def _read_call(
    loop: LoopSource, client: ast.expr, method: str, call: ast.Call, given: Arguments
) -> ReadCall:
    names = loop.names
    named = _replaced(client, given)
    keywords = [each for each in call.keywords if each.arg != "WaiterConfig"]
    values = [ast.keyword(each.arg, _replaced(each.value, given)) for each in keywords]
    scope = names.scopes[call]
    inner = names.bound(scope[-1]).keys() if scope != names.scopes[loop.node] else set()
    # What only the function knows that makes the call.
    hidden = [each for each in names_in(client, *keywords) - given.keys() if each in inner]
    return ReadCall(
        client=source(named),
        services=names.services(client) or names.services(named),
        method=method,
        parameters=tuple(map(source, values)),
        is_awaited=False,
        is_of_items=bool(hidden or names_in(*values) & loop.assigned)
        or any((each.arg or "").lower().endswith(_PAGE) for each in keywords),
    )


def _replaced(node: ast.expr, given: Arguments) -> ast.expr:
    """Return an expression with arguments in the place of parameters."""

    class Replace(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            value = given.get(node.id, node)
            source(value)  # What is put in more than once counts each time.
            return value

    spend(20 * len(walk(node)) if given else 0)
    return cast("ast.expr", Replace().visit(copy.deepcopy(node))) if given else node


def _arguments(
    names: SourceNames, function: Function, call: ast.Call, given: Arguments
) -> Arguments:
    """Return what the parameters and the names of a function stand for in one call of it."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    known = [each.arg for each in parameters if each.arg not in ("self", "cls")]
    passed = [*zip(known, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    found = dict(zip(reversed(known), reversed(function.args.defaults), strict=False))
    found |= {name: _replaced(value, given) for name, value in passed if name is not None}
    for name, values in names.bound(function).items():
        value = _replaced(values[0], found)
        # Long expressions would grow with each name.
        is_short = len(values) == 1 and len(source(value)) < _LONGEST
        if is_short and not isinstance(values[0], ast.Await):
            found.setdefault(name, value)
    return found


def _reads(method: str) -> bool:
    return verb_of("".join(map(str.capitalize, method.split("_")))) in READS

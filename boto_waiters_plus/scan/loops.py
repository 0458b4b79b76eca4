"""Loops that wait by hand, found in a syntax tree: their bounds, and what each does at a state."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, cast

from ..definitions.words import READS, verb_of
from .names import (
    Function,
    Loop,
    LoopSource,
    SourceNames,
    inside,
    names_in,
    returned,
    source,
    spend,
    walk,
)

# --- the time that a hand-made polling loop takes at most, and the delay between its passes

_CLOCKS: Final = ("time", "monotonic", "perf_counter", "now", "utcnow")
_OF_RETRIES: Final = {
    "stop_after_delay": "time",
    "max_time": "time",
    "stop_max_delay": "time",
    "stop_after_attempt": "count",
    "max_tries": "count",
    "stop_max_attempt_number": "count",
    "wait_fixed": "delay",
    "interval": "delay",
}
"""What the arguments of tenacity, backoff and retrying mean."""


def loop_bounds(loop: LoopSource) -> tuple[str | None, str | None]:
    """Return the bound and the delay of a loop as expressions, in seconds; None for what it lacks.

    A bound is what the loop compares with a clock, or the number of its passes times the delay.
    """
    sleeps = {source(each): each for call in loop.sleeps for each in call.args[:1]}
    found = dict(zip(["delay"], sleeps.values(), strict=False)) if len(sleeps) == 1 else {}
    found |= dict(pair for each in loop.retries for pair in _of_retry(loop, each))
    match loop.node:
        case ast.For(iter=ast.Call(args=[*_, last])) if not loop.retries:
            found["count"] = last
    found |= dict(_of_tests(loop, source(found["delay"]) if "delay" in found else None))
    fixed = {name: each for name, each in found.items() if not loop.assigned & names_in(each)}
    delay, time = fixed.get("delay"), fixed.get("time")
    if time is None and delay is not None and "count" in fixed:
        time = ast.BinOp(fixed["count"], ast.Mult(), delay)
    return _source(time), _source(delay)


def _of_retry(loop: LoopSource, retry: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a decorator is told."""
    is_milliseconds = loop.names.origin(retry).startswith("retrying.")
    for node in walk(retry):
        match node:
            case (
                ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value])
                | ast.keyword(arg=str(name), value=value)
            ) if name in _OF_RETRIES and not isinstance(value, ast.Call):
                kind = _OF_RETRIES[name]
                if is_milliseconds and kind != "count":
                    value = ast.BinOp(value, ast.Div(), ast.Constant(1000))
                yield kind, value


def _of_tests(loop: LoopSource, delay: str | None) -> Iterator[tuple[str, ast.expr]]:
    """Yield the bounds that tests of the loop have."""
    tests = [each.test for each in (loop.node, *loop.own) if isinstance(each, ast.If | ast.While)]
    for node in (each for test in tests for each in walk(test)):
        match node:
            case ast.Compare(left=left, comparators=[right]):
                for quantity, limit in ((left, right), (right, left)):
                    if not loop.assigned & names_in(limit):
                        yield from _limit(loop, quantity, limit, delay)


def _limit(
    loop: LoopSource, quantity: ast.expr, limit: ast.expr, delay: str | None
) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a limit bounds: the passes or the time, if the quantity counts one of them."""
    grown = [quantity]
    if isinstance(quantity, ast.Name) and quantity.id in loop.assigned:
        grown += loop.names.values(quantity)
        spend(len(loop.own))
        for node in loop.own:
            match node:
                case ast.AugAssign(target=ast.Name(id=quantity.id), op=ast.Add(), value=step):
                    kind = {"1": "count", delay: "time"}.get(source(step))
                    yield from [(kind, limit)] if kind is not None else []
    for each in grown:
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) and _has_clock(loop, each):
            yield "time", limit
    for value in loop.names.values(limit) if _has_clock(loop, quantity) else ():
        match value:
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield "time", left if _has_clock(loop, right) else right


def _has_clock(loop: LoopSource, node: ast.expr) -> bool:
    """Return whether an expression reads a clock, or has a name that is bound to such a reading."""
    nodes = list(walk(node))
    names = [each for each in nodes if isinstance(each, ast.Name) and each.id in loop.assigned]
    values = [value for each in names for value in loop.names.values(each)]
    nodes += [each for value in values if isinstance(value, ast.Call) for each in walk(value)]
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    return any(loop.names.origin(each).rpartition(".")[2] in _CLOCKS for each in calls)


def _source(node: ast.expr | None) -> str | None:
    """Return an expression as source, with products of numbers as numbers."""
    value = None if node is None else _number(node)
    if value is not None:
        return f"{value:g}"
    return None if node is None else source(node)


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            one, other = _number(left), _number(right)
            if one is not None and other:
                return one * other if isinstance(op, ast.Mult) else one / other
    return None


# --- what a loop, or a function that a decorator repeats, does at each text that it compares with

Effect = Literal["leave", "stay", "raise"]
"""The loop ends well, it goes on, or it ends badly."""
Effects = dict[str | bool, Effect]

ANSWERED: Final = True
"""In `Effects`: the call succeeded, whatever it returned. The texts are states, and the names of
errors."""

_LEAVES: Final = ("sys.exit", "exit", "quit")
_OPPOSITE: Final[Mapping[Effect | None, Effect]] = {
    "leave": "stay",
    "raise": "stay",
    "stay": "leave",
}
_WEIGHTS: Final[Sequence[Effect]] = ("stay", "leave", "raise")
"""Of two effects of one text the later counts."""


class EffectReader:
    """Reads the tests of a loop.

    Args:
        loop: the loop.
    """

    def __init__(self, loop: LoopSource) -> None:
        self._loop, self._names = loop, loop.names
        self._effects: Effects = {}
        self._compared: set[str] = set()
        """What is compared with texts, as source."""
        self._open: set[str] = set()
        """What is compared with something that the file does not tell."""
        self._leaves_if: bool | None = None
        """The value of the test that is read at which the loop is left."""
        self._is_conditional = False
        """Whether the loop ends by a state only if another condition holds, too."""
        self._flags = names_in(loop.node.test) if isinstance(loop.node, ast.While) else set()

    def read(self) -> Effects:
        """Return what the loop does at each text; nothing where more than these texts decides."""
        for node in self._loop.own:
            self._read_block(node)
        if isinstance(self._loop.node, ast.While):
            self._read_test(self._loop.node.test, "stay", "leave")
        for node in (each for retry in self._loop.retries for each in walk(retry)):
            if isinstance(node, ast.Lambda):
                self._read_test(node.body, "stay", "leave")
        is_told = not self._is_conditional and not self._open & self._compared
        return self._effects if is_told else {}

    def _note(self, texts: Iterable[str | bool], effect: Effect | None) -> None:
        if effect is not None:
            for text in texts:
                pair: tuple[Effect, Effect] = (self._effects.get(text, "stay"), effect)
                self._effects[text] = max(pair, key=_WEIGHTS.index)

    def _read_block(self, node: ast.AST) -> None:
        """Note what the loop does where a test of it is true, and where it is false."""
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                when, otherwise = self._effect(body), self._effect(orelse)
                self._read_test(
                    test, when or _OPPOSITE.get(otherwise), otherwise or _OPPOSITE.get(when)
                )
                if _is_measure(test) and when not in ("leave", "raise"):
                    ends = (each for part in body for each in (part, *inside(part)))
                    self._is_conditional |= any(isinstance(e, ast.Break | ast.Return) for e in ends)
            case ast.Match(cases=cases):
                for case in cases:
                    values = [e for e in walk(case.pattern) if isinstance(e, ast.MatchValue)]
                    for each in values:
                        self._note(self._names.texts(each.value), self._effect(case.body))
            case ast.Try(body=body, handlers=handlers, orelse=orelse):
                if self._effect(orelse or body) == "leave":
                    self._note([ANSWERED], "leave")
                for handler in handlers:
                    kinds = getattr(handler.type, "elts", [handler.type])
                    names = [each.attr for each in kinds if isinstance(each, ast.Attribute)]
                    self._note(names, self._effect(handler.body) or "stay")

    def _read_test(self, test: ast.expr, when: Effect | None, otherwise: Effect | None) -> None:
        """Note the effects of a test, given those of its being true and false."""
        self._leaves_if = True if when == "leave" else False if otherwise == "leave" else None
        for text, is_equal in self._signs(test, 3, is_plain=True):
            self._note([text], when if is_equal else otherwise)

    def _signs(self, test: ast.expr, depth: int, *, is_plain: bool) -> Iterator[tuple[str, bool]]:
        """Yield the texts that a test compares with, and whether equal ones make it true.

        Args:
            test: the test.
            depth: how far names and functions are followed.
            is_plain: whether it stands in the whole test as it is; false for its negation.
        """
        inner: Iterable[tuple[ast.expr, bool]] = ()
        spend(1)
        match test:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield from self._of_compare(left, op, right, is_plain=is_plain)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = [(operand, not is_plain)]
            case ast.BoolOp(op=op, values=values):
                # The whole test is told by one of the values, or by all of them together.
                if self._leaves_if is (is_plain is isinstance(op, ast.And)):
                    self._is_conditional |= self._is_mixed(values)
                inner = [(each, is_plain) for each in values]
            case ast.Call(
                func=ast.Name(id="all" | "any"),
                args=[ast.GeneratorExp(elt=e) | ast.ListComp(elt=e)],
            ):
                inner = [(e, is_plain)]
            case ast.Name() if test.id in self._loop.assigned:
                inner = [(each, is_plain) for each in self._names.values(test)]
                depth -= 1
            case ast.Call() if (function := self._names.called(test)) is not None:
                inner = [(each, is_plain is is_true) for each, is_true in _tests(function)]
                depth -= 1
        for each, sign in inner if depth else ():
            yield from self._signs(each, depth, is_plain=sign)

    def _of_compare(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, *, is_plain: bool
    ) -> Iterator[tuple[str, bool]]:
        texts = self._names.texts(right)
        # `"Status" in answer` looks for a member, `"NoSuchKey" in str(error)` for a text.
        if not isinstance(op, ast.In | ast.NotIn) or isinstance(right, ast.Call):
            texts = texts or self._names.texts(left)
        is_negative = isinstance(op, ast.NotEq | ast.NotIn)
        if is_negative or isinstance(op, ast.Eq | ast.In):
            if texts:
                self._compared.add(source(left))
            elif self._leaves_if is not None:
                self._open.add(source(left))
            yield from ((text, is_plain is not is_negative) for text in texts)

    def _is_mixed(self, values: Sequence[ast.expr]) -> bool:
        """Return whether tests are about a state and about something else."""
        nodes = [each for value in values for each in walk(value)]
        compares = [each for each in nodes if isinstance(each, ast.Compare)]
        told = [each for each in compares if self._names.texts(each.comparators[0])]
        several = len({source(each.left) for each in told}) > 1
        return several or (bool(told) and any(map(_is_measure, values)))

    def _effect(self, block: Sequence[ast.stmt]) -> Effect | None:
        """Return what a block does to the loop; None if it only goes on to what follows."""
        spend(1)
        match block[-1:]:
            case [ast.Raise()]:
                # A decorator calls the function again.
                return "stay" if self._loop.retries else "raise"
            case [ast.Expr(value=ast.Call() as call)] if self._names.origin(call) in _LEAVES:
                return "raise"
            case [ast.Return(value=ast.Constant(value=False))]:
                return "raise"
            case [ast.Break() | ast.Return()]:
                return "leave"
            case [ast.Continue()]:
                return "stay"
            case [ast.If(body=body, orelse=orelse)]:
                if {self._effect(body), self._effect(orelse)} <= {"leave", "raise"}:
                    return "leave"
            case [ast.With(body=body) | ast.Try(body=body) | ast.AsyncWith(body=body)]:
                return self._effect(body)
        nodes = [node for each in block for node in (each, *inside(each))]
        if any(each in self._loop.sleeps for each in nodes):
            return "stay"
        return "leave" if any(map(self._sets_flag, nodes)) else None

    def _sets_flag(self, node: ast.AST) -> bool:
        """Return whether a statement sets a name that the loop tests."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool())):
                return name in self._flags
        return False


def _tests(function: Function) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests that a function returns, and those at which it returns true or false."""
    yield from ((each, True) for each in returned(function))
    for node in inside(function):
        match node:
            case ast.If(test=test, body=[*_, ast.Return(value=ast.Constant(value=bool(is_true)))]):
                yield test, is_true


def _is_measure(test: ast.expr) -> bool:
    """Return whether a test compares amounts, such as a count of instances."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            constants = [each.value for each in (left, right) if isinstance(each, ast.Constant)]
            is_text = any(each is None or isinstance(each, str) for each in constants)
            return not (isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) or is_text)
    return False


# --- loops that wait by hand for a state of an AWS resource, found in the syntax tree of a file
# Nothing is imported or run. What a file does not tell, such as the service of a client that is
# passed in, is left open. Each text that a loop compares has one of three effects: the loop is
# left, it goes on, or it raises.

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
    waiter, calls = _repeated_waiter(loop) if is_loop else (None, [])
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

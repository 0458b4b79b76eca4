"""The time that a polling loop takes at most, and the delay between its passes, in seconds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from .loop_source import LoopSource
from .names import NAMED, names_in, source, walk

_CLOCKS: Final = ("time", "monotonic", "perf_counter", "now", "utcnow")
_OF_RETRIES: Final = {
    "stop_after_delay": "time",
    "max_time": "time",
    "stop_max_delay": "time",
    "timeout": "time",
    "timeout_seconds": "time",
    "stop_after_attempt": "count",
    "max_tries": "count",
    "stop_max_attempt_number": "count",
    "wait_fixed": "delay",
    "interval": "delay",
    "step": "delay",
    "sleep_seconds": "delay",
}
"""What the arguments of libraries mean."""
_UNITS: Final = {"milliseconds": 0.001, "seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
"""Seconds of what a duration is made of, such as `timedelta(minutes=5)`."""

_Found = tuple[str, ast.expr]
"""What something bounds: the passes ("count") or the time."""


def loop_bounds(loop: LoopSource) -> tuple[str | None, str | None]:
    """Return the bound and the delay of a loop as expressions, in seconds; None for what it lacks.

    A bound is what the loop compares with a clock, or the number of its passes times the delay.
    """
    sleeps = {source(each): each for each in loop.sleeps.values()}
    found: dict[str, ast.expr] = {}
    if len(sleeps) == 1:
        [found["delay"]] = sleeps.values()
        body = getattr(loop.node, "body", [])
        in_pass = [e for e in body if isinstance(e, ast.Expr) and e.value in loop.sleeps]
        if len(in_pass) > 1:
            found["delay"] = ast.BinOp(found["delay"], ast.Mult(), ast.Constant(len(in_pass)))
    found |= dict(pair for each in loop.retries for pair in _of_retry(loop, each))
    match loop.node:
        case ast.For(iter=ast.Call(args=[_, *_] as arguments)) if not loop.retries:
            count = _count(arguments)
            found |= {} if count is None else {"count": count}
    found |= dict(_of_tests(loop, source(found["delay"]) if "delay" in found else None))
    left = {name.partition(" ")[0]: each for name, each in found.items() if name.endswith("left")}
    # What is left when the loop begins is not what it is in a pass.
    fixed = {name: e for name, e in found.items() if not loop.assigned & names_in(e)} | left
    delay, time = fixed.get("delay"), fixed.get("time")
    if time is None and delay is not None and "count" in fixed:
        time = ast.BinOp(fixed["count"], ast.Mult(), delay)
    known = delay is not None and not loop.names.called(ast.Call(delay, [], []))
    return _source(time), _source(delay) if known else None


def _count(arguments: list[ast.expr]) -> ast.expr | None:
    """Return the number of passes that the arguments of `range` make."""
    match arguments:
        case [stop]:
            return stop
        case [start, stop, *steps]:
            numbers = [_number(each) for each in (start, stop, *steps)]
            if None not in numbers:
                return ast.Constant(len(range(*(int(n) for n in numbers if n is not None))))
            if numbers[0] in (0, 1) and not steps:
                return stop
            return start if numbers[1:] == [0, -1] else None
    return None


def _of_retry(loop: LoopSource, retry: ast.expr) -> Iterator[_Found]:
    """Yield what a library is told."""
    is_milliseconds = loop.names.origin(retry).startswith("retrying.")
    for node in walk(retry):
        match node:
            case (
                ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value])
                | ast.keyword(arg=str(name), value=value)
            ) if name in _OF_RETRIES and not isinstance(value, ast.Lambda):
                kind, is_call = _OF_RETRIES[name], isinstance(value, ast.Call)
                if is_call and _number(value) is None and kind == "delay":
                    continue
                # `seconds(5)` of such a file gives milliseconds.
                is_unit = is_call and _number(value) is not None
                is_plain = not is_milliseconds or kind == "count" or is_unit
                yield kind, value if is_plain else ast.BinOp(value, ast.Div(), ast.Constant(1000))


def _of_tests(loop: LoopSource, delay: str | None) -> Iterator[_Found]:
    """Yield the bounds that tests of the loop have."""
    kinds = (ast.If, ast.While, ast.Assert)
    tests = [each.test for each in (loop.node, *loop.own) if isinstance(each, kinds)]
    for test in tests:
        conditions = test.values if isinstance(test, ast.BoolOp) else [test]
        for name in (each for each in conditions if isinstance(each, ast.Name)):
            yield from _limit(loop, name, ast.Constant(0), delay)
        for node in walk(test):
            match node:
                case ast.Compare(left=left, comparators=[right]):
                    for quantity, limit in ((left, right), (right, left)):
                        if not loop.assigned & names_in(limit):
                            yield from _limit(loop, quantity, limit, delay)


def _limit(
    loop: LoopSource, quantity: ast.expr, limit: ast.expr, delay: str | None
) -> Iterator[_Found]:
    """Yield what a limit bounds: the passes or the time, if the quantity counts one of them."""
    match quantity:
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Div(), right=ast.Constant() as part):
            yield from _limit(loop, left, ast.BinOp(limit, ast.Mult(), part), delay)
    grown = [quantity]
    if isinstance(quantity, ast.Name) and quantity.id in loop.assigned:
        grown += loop.names.values(quantity)
        for is_growing, step in loop.steps(quantity.id):
            kind = {"1": "count", delay: "time"}.get(source(step))
            if kind is not None and is_growing:
                yield kind, limit
            elif kind is not None and _number(limit) in (0, 1):
                yield f"{kind} left", _before(loop, quantity)
    for each in grown:
        match _in_seconds(each):
            case ast.BinOp(left=left, op=ast.Sub(), right=right) as past:
                if _has_clock(loop, left) and _number(limit) != 0:
                    is_earlier = _is_earlier(loop, right)
                    yield "time", ast.BinOp(limit, ast.Sub(), past) if is_earlier else limit
                elif _has_clock(loop, right) and _number(limit) == 0:
                    yield from _deadline(loop, right, left)
    yield from _deadline(loop, quantity, limit)


def _in_seconds(node: ast.expr) -> ast.expr:
    """Return a difference of times without what makes it a number."""
    match node:
        case ast.Call(func=ast.Name(id="int" | "round" | "float"), args=[inner]):
            return _in_seconds(inner)
        case (
            ast.Call(func=ast.Attribute(value=inner, attr="total_seconds"))
            | ast.Attribute(value=inner, attr="seconds")
        ):
            return inner
    return node


def _deadline(loop: LoopSource, clock: ast.expr, end: ast.expr) -> Iterator[_Found]:
    """Yield the time until an end that is compared with a clock."""
    if isinstance(clock, ast.Name | ast.Call) and _has_clock(loop, clock):
        for value in loop.names.values(end):
            match value:
                case ast.BinOp(left=left, op=ast.Add(), right=right) if not _is_earlier(loop, end):
                    yield "time", left if _has_clock(loop, right) else right
                    return
        if isinstance(clock, ast.Call) and isinstance(end, ast.Name | ast.Attribute):
            yield "time", ast.BinOp(end, ast.Sub(), clock)


def _before(loop: LoopSource, name: ast.Name) -> ast.expr:
    """Return what a name is before the loop: a number if the file tells it, else the name."""
    values = [each for each in loop.names.values(name) if not loop.has(each)]
    # The name itself is what it is, where the loop stands.
    return values[0] if len(values) == 1 and _number(values[0]) is not None else name


def _is_earlier(loop: LoopSource, start: ast.expr) -> bool:
    """Return whether more than assignments lies between a reading of the clock and the loop."""
    block = loop.names.blocks.get(loop.node, [])
    for statement in reversed(block[: block.index(loop.node)] if block else []):
        names = [source(each) for each in walk(statement) if isinstance(each, NAMED)]
        match statement:
            case ast.Assign() | ast.AnnAssign() if source(start) in names:
                return False
            case ast.Assign() | ast.AnnAssign() if not any("sleep" in each for each in names):
                continue
            case ast.Expr(value=ast.Call(func=function)) if re.search(
                "print|log", source(function)
            ):
                continue
        return True
    return True


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
        return f"{value:.12g}"
    match node:
        case ast.Call(
            func=ast.Name(id="timedelta") | ast.Attribute(attr="timedelta"),
            args=[],
            keywords=[ast.keyword(arg="seconds", value=seconds)],
        ):
            node = seconds
    return None if node is None else source(node)


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _product(-1, operand)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            other = _number(right)
            if other:
                return _product(other if isinstance(op, ast.Mult) else 1 / other, left)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value]):
            return _product(_UNITS[name], value) if name in _UNITS else None
        case ast.Call(func=function, args=[], keywords=told) if source(function).endswith(
            "timedelta"
        ):
            parts = [_product(_UNITS.get(each.arg or "", 0), each.value) for each in told]
            return None if None in parts else sum(each or 0 for each in parts)
    return None


def _product(factor: float, node: ast.expr) -> float | None:
    value = _number(node)
    return None if value is None else factor * value

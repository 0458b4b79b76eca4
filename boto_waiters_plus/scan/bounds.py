"""The time that a polling loop takes at most, and the delay between its passes, in seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from .loop_source import LoopSource
from .names import names_in, source, walk

CLOCKS: Final = ("time", "monotonic", "perf_counter", "now", "utcnow")
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
    found = dict(zip(["delay"], sleeps.values(), strict=False)) if len(sleeps) == 1 else {}
    found |= dict(pair for each in loop.retries for pair in _of_retry(loop, each))
    match loop.node:
        case ast.For(iter=ast.Call(args=[_, *_] as arguments)) if not loop.retries:
            count = _count(arguments)
            found |= {} if count is None else {"count": count}
    found |= dict(_of_tests(loop, source(found["delay"]) if "delay" in found else None))
    fixed = {
        name: each
        for name, each in found.items()
        if isinstance(each, _Before) or not loop.assigned & names_in(each)
    }
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
                kind = _OF_RETRIES[name]
                if isinstance(value, ast.Call) and _number(value) is None and kind == "delay":
                    continue
                is_unit = isinstance(value, ast.Call) and _number(value) is not None
                if is_milliseconds and kind != "count" and not is_unit:
                    value = ast.BinOp(value, ast.Div(), ast.Constant(1000))
                yield kind, value


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
    grown = [quantity]
    if isinstance(quantity, ast.Name) and quantity.id in loop.assigned:
        grown += loop.names.values(quantity)
        for node in loop.own:
            match node:
                case (
                    ast.AugAssign(target=ast.Name(id=quantity.id), op=op, value=step)
                    | ast.Assign(
                        targets=[ast.Name(id=quantity.id)],
                        value=ast.BinOp(left=ast.Name(id=quantity.id), op=op, right=step),
                    )
                ):
                    kind = {"1": "count", delay: "time"}.get(source(step))
                    if kind is not None and isinstance(op, ast.Add):
                        yield kind, limit
                    elif kind is not None and isinstance(op, ast.Sub) and _number(limit) in (0, 1):
                        yield kind, _before(loop, quantity)
    for each in grown:
        match each:
            case ast.Call(func=ast.Name(id="int" | "round" | "float"), args=[inner]):
                each = inner
            case (
                ast.Attribute(value=inner, attr="seconds")
                | ast.Call(func=ast.Attribute(value=inner, attr="total_seconds"))
            ):
                each = inner
        match each:
            case ast.BinOp(left=left, op=ast.Sub(), right=right) if _has_clock(loop, each):
                if _has_clock(loop, left) and _number(limit) != 0:
                    is_earlier = _is_earlier(loop, right)
                    yield "time", ast.BinOp(limit, ast.Sub(), each) if is_earlier else limit
                elif _number(limit) == 0:
                    yield from _limit(loop, right, left, delay)
    if _has_clock(loop, quantity) and not isinstance(quantity, ast.BinOp | ast.Attribute):
        values = loop.names.values(limit)
        is_earlier = _is_earlier(loop, limit)
        for value in values:
            match value:
                case ast.BinOp(left=left, op=ast.Add(), right=right) if not is_earlier:
                    yield "time", left if _has_clock(loop, right) else right
                    return
        is_read = isinstance(quantity, ast.Call) and isinstance(limit, ast.Name | ast.Attribute)
        if is_read and (values or isinstance(limit, ast.Name)):
            yield "time", ast.BinOp(limit, ast.Sub(), quantity)


def _before(loop: LoopSource, name: ast.Name) -> ast.expr:
    """Return what a name is before the loop: a number if the file tells it, else the name."""
    values = [each for each in loop.names.values(name) if not loop.has(each)]
    # The name itself is what it is, where the loop stands.
    return values[0] if len(values) == 1 and _number(values[0]) is not None else _Before(name.id)


class _Before(ast.Name):
    """A name, before the loop assigns it."""


def _is_earlier(loop: LoopSource, start: ast.expr) -> bool:
    """Return whether more than assignments lies between a reading of the clock and the loop."""
    siblings = loop.names.blocks.get(loop.node, [])
    names = names_in(start) if not isinstance(start, ast.Attribute) else set()
    before = siblings[: siblings.index(loop.node)] if loop.node in siblings else []
    for statement in reversed(before):
        match statement:
            case ast.Assign(targets=targets):
                if any(source(t) == source(start) or names_in(t) & names for t in targets):
                    return False
                made = [e for e in walk(statement.value) if isinstance(e, ast.Call)]
                is_short = not any("sleep" in source(e.func) for e in made)
            case ast.Expr(value=ast.Call(func=function)):
                is_short = any(w in source(function).lower() for w in ("print", "log"))
            case ast.Expr() | ast.AnnAssign() | ast.Pass():
                is_short = True
            case _:
                is_short = False
        if not is_short:
            return True
    return True


def _has_clock(loop: LoopSource, node: ast.expr) -> bool:
    """Return whether an expression reads a clock, or has a name that is bound to such a reading."""
    nodes = list(walk(node))
    names = [each for each in nodes if isinstance(each, ast.Name) and each.id in loop.assigned]
    values = [value for each in names for value in loop.names.values(each)]
    nodes += [each for value in values if isinstance(value, ast.Call) for each in walk(value)]
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    return any(loop.names.origin(each).rpartition(".")[2] in CLOCKS for each in calls)


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
            value = _number(operand)
            return None if value is None else -value
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            one, other = _number(left), _number(right)
            if one is not None and other:
                return one * other if isinstance(op, ast.Mult) else one / other
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value]) if (
            name in _UNITS
        ):
            number = _number(value)
            return None if number is None else number * _UNITS[name]
        case ast.Call(func=ast.Name(id="timedelta") | ast.Attribute(attr="timedelta"), args=[]):
            numbers = [(_UNITS.get(k.arg or ""), _number(k.value)) for k in node.keywords]
            if all(unit is not None and n is not None for unit, n in numbers):
                return sum((unit or 0) * (n or 0) for unit, n in numbers)
    return None

"""The time that a hand-made polling loop takes at most, and the delay between its passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from .source_names import LoopSource, names_in, source, spend, walk

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

"""The source of a condition, for the message of an assertion that failed."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from types import CodeType
from typing import Any, Final

MAX_LINES: Final = 8
"""The most lines of a function that a message quotes."""

_Function = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef


def source_of(function: Any) -> str | None:
    """Return what a function evaluates, as it is written; None if that cannot be told.

    Of a lambda, and of a function that only returns, this is the expression in one line; of any
    other function its first `MAX_LINES` lines.
    """
    function = _unwrapped(function)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    try:
        source = "".join(inspect.findsource(function)[0])
        node = _node_of(code, ast.parse(source))
    # There is no source, or it is not what was compiled.
    except (OSError, SyntaxError, ValueError):
        return None
    if node is None:
        return None
    expression = _only_expression(node)
    if expression is not None:
        text = ast.get_source_segment(source, expression) or ""
        return " ".join(line.strip() for line in text.splitlines())
    lines = textwrap.dedent(ast.get_source_segment(source, node, padded=True) or "").splitlines()
    return "\n".join([*lines[:MAX_LINES], *["    ..."][: len(lines) - MAX_LINES]])


def plain_variables(function: Any) -> dict[str, Any]:
    """Return the text, numbers and None that a function reads from the functions around it."""
    try:
        found = inspect.getclosurevars(_unwrapped(function)).nonlocals
    except (TypeError, ValueError):
        return {}
    plain = (str, int, float, type(None))
    return {name: value for name, value in found.items() if isinstance(value, plain)}


def _unwrapped(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.unwrap(function)


def _node_of(code: CodeType, tree: ast.Module) -> _Function | None:
    """Return the function of a file that has this code; None if several may have it."""
    places = _places(code)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Function) and _may_have(node, code) and _contains(node, places)
    ]
    if len(found) > 1 and not places:
        return None
    # Of nested lambdas in one line the inner one: the code of the outer reaches beyond it.
    return max(found, key=lambda node: (node.lineno, node.col_offset), default=None)


def _may_have(node: _Function, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        name, first = "<lambda>", node.lineno
    else:
        name, first = node.name, min(one.lineno for one in (node, *node.decorator_list))
    parameters = (*node.args.posonlyargs, *node.args.args)
    return (name, first) == (code.co_name, code.co_firstlineno) and tuple(
        one.arg for one in parameters
    ) == code.co_varnames[: code.co_argcount]


def _places(code: CodeType) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where the parts of some code begin and end in the file, as far as Python tells."""
    positions: Any = getattr(code, "co_positions", tuple)()  # new in Python 3.11
    return [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in positions
        if line is not None and column is not None and end_column
    ]


def _contains(node: _Function, places: list[tuple[tuple[int, int], tuple[int, int]]]) -> bool:
    # The code around a lambda that makes it has the place of the whole lambda.
    own = node.body if isinstance(node, ast.Lambda) else node
    first = own.lineno, own.col_offset
    last = own.end_lineno or 0, own.end_col_offset or 0
    return all(first <= start and end <= last for start, end in places)


def _only_expression(node: _Function) -> ast.expr | None:
    """Return the expression that a function returns if it does nothing else."""
    if isinstance(node, ast.Lambda):
        return node.body
    match node.body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.Expr(value=ast.Constant()), ast.Return(value=ast.expr() as value)]:
            return value
        case _:
            return None

"""Assertions that wait: a value becomes right, never becomes wrong, or stays right."""

from __future__ import annotations

import ast
import functools
import inspect
import reprlib
import textwrap
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..calls import flow
from ..calls.clock import current_time
from ..calls.flow import Flow, called
from ..conditions.condition import Condition, refuse_coroutine_function, run, run_async
from ..conditions.form_options import BoundedOptions
from ..conditions.patterns import TRUTHY, Pattern, compile_pattern, name_of, none_of, success
from ..engine.redaction import cut

if TYPE_CHECKING:
    from typing_extensions import Unpack


# --- the values of the attempts of an assertion, as its message shows them -----------------------

HISTORY_LINES: Final = 10
"""Changes of the value that a failure shows."""


@dataclass(slots=True)
class _Entry:
    """Consecutive attempts that gave the same."""

    since: float
    """Seconds from the start to the first of them."""
    text: str
    attempts: int = 1


class ValueHistory:
    """The values of the attempts, bounded in length and width."""

    def __init__(self) -> None:
        self.attempts = 0
        self.error: Exception | None = None
        """The error of the last attempt."""
        self._entries: deque[_Entry] = deque(maxlen=HISTORY_LINES)
        self._changes = 0
        self._now = current_time().clock()
        self._start = self._now()

    def recorded(self, call: Callable[[], Any]) -> Flow[Any]:
        """Call a callable, and record its value, which a task awaits, or its error."""
        try:
            value = yield called(call)
        except Exception as error:
            self.error = error
            self._add(f"raised {short(error)}")
            raise
        self.error = None
        # As text at once: a list that has grown since would seem never to have changed.
        self._add(short(value))
        return value

    def _add(self, text: str) -> None:
        self.attempts += 1
        if self._entries and self._entries[-1].text == text:
            self._entries[-1].attempts += 1
            return
        self._changes += 1
        self._entries.append(_Entry(self._now() - self._start, text))

    def __str__(self) -> str:
        if not self._entries:
            return "there was no time for an attempt"
        lines = [
            f"last value: {self._entries[-1].text}",
            f"history of {self.attempts} attempt{'' if self.attempts == 1 else 's'}:",
        ]
        dropped = self._changes - len(self._entries)
        if dropped:
            lines.append(f"  ... {dropped} earlier values")
        for entry in self._entries:
            times = f"  ({entry.attempts} attempts)" if entry.attempts > 1 else ""
            lines.append(f"  {entry.since:9.3f} s  {entry.text}{times}")
        return "\n".join(lines)


def short(value: Any) -> str:
    """Return a value as text, whatever it is: the test asked for it."""
    return cut(_repr.repr(value))


_repr: Final = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 200
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = 20


# --- the source of a condition, for the message of an assertion that failed ----------------------

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


# --- the assertions ------------------------------------------------------------------------------

_NO_VALUE: Final = object()
"""The result of a wait that no value ended."""


def assert_eventually(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> Any:
    """Fail unless a callable returns a value that matches, within `max_wait`.

    Args:
        call: called without arguments; an exception that it raises passes unchanged, unless
            `retry_on` names it or it is a transient error of botocore (see `retry_transient`).
        pattern: see `conditions.wait_for_match`; default: any true value.
        options: `max_wait` (seconds or a `timedelta`; 0 for a single attempt; may be left out
            inside a `deadline`), and fields of `conditions.ConditionOptions`.

    Returns:
        The value.

    Raises:
        AssertionError: no value matched; the message shows the last value and those before it.
        TypeError, ValueError: a bad argument, before the first call.
    """
    __tracebackhide__ = True
    return _Assertion(_EVENTUALLY, call, pattern, options).run()


async def assert_eventually_async(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> Any:
    """Run `assert_eventually` as part of the calling task; the callable may be awaited."""
    __tracebackhide__ = True
    return await _Assertion(_EVENTUALLY, call, pattern, options, asynchronous=True).run_async()


def refute_eventually(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Fail as soon as a callable returns a value that matches, within `max_wait`.

    The last attempt is made at the end of `max_wait`, and its value counts, however late.

    Args:
        call, pattern, options: see `assert_eventually`; not `last_attempt`.

    Raises:
        AssertionError: a value matched, an attempt did not end (one that is awaited, or made in
            a thread, may last as long as `max_wait`), or there was no time for an attempt.
        TypeError, ValueError: a bad argument, before the first call.
    """
    __tracebackhide__ = True
    _Assertion(_NEVER, call, pattern, options).run()


async def refute_eventually_async(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Run `refute_eventually` as part of the calling task; the callable may be awaited."""
    __tracebackhide__ = True
    await _Assertion(_NEVER, call, pattern, options, asynchronous=True).run_async()


def assert_always(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Fail as soon as a callable returns a value that does not match, within `max_wait`.

    The last attempt is made at the end of `max_wait`, and its value counts, however late.

    Args:
        call, pattern, options: see `assert_eventually`; not `last_attempt`.

    Raises:
        AssertionError: a value did not match, an attempt did not end (one that is awaited, or
            made in a thread, may last as long as `max_wait`), or there was no time for an attempt.
        TypeError, ValueError: a bad argument, before the first call.
    """
    __tracebackhide__ = True
    _Assertion(_ALWAYS, call, pattern, options).run()


async def assert_always_async(
    call: Callable[[], Any], pattern: Any = TRUTHY, /, **options: Unpack[BoundedOptions]
) -> None:
    """Run `assert_always` as part of the calling task; the callable may be awaited."""
    __tracebackhide__ = True
    await _Assertion(_ALWAYS, call, pattern, options, asynchronous=True).run_async()


class _Kind(NamedTuple):
    """One of the three assertions, and what it expects, in words."""

    name: str
    expectation: str


_EVENTUALLY: Final = _Kind("assert_eventually", "expected {pattern} within {time}")
_NEVER: Final = _Kind("refute_eventually", "expected at no attempt for {time}: {pattern}")
_ALWAYS: Final = _Kind("assert_always", "expected at every attempt for {time}: {pattern}")


class _Assertion:
    """One assertion: its wait and the values of its attempts."""

    def __init__(
        self,
        kind: _Kind,
        call: Callable[[], Any],
        pattern: Any,
        options: BoundedOptions,
        *,
        asynchronous: bool = False,
    ) -> None:
        if not callable(call):
            raise TypeError(f"{kind.name} takes something to call, not {type(call).__name__}")
        if not asynchronous:
            refuse_coroutine_function("the callable", call, f"{kind.name}_async")
        given: dict[str, Any] = dict(options)
        if kind is not _EVENTUALLY and given.get("last_attempt") is not None:
            raise TypeError(
                f"{kind.name} makes its last attempt at the end: leave out last_attempt"
            )
        max_wait = given.pop("max_wait", None)
        self._kind = kind
        self._call = call
        self._pattern = compile_pattern(pattern)
        self._given_pattern = pattern
        self._history = history = ValueHistory()
        drive = flow.run_async if asynchronous else flow.run
        self._condition = Condition(
            kind.name,
            lambda: drive(history.recorded(call)),
            [success(none_of(self._pattern) if kind is _ALWAYS else self._pattern)],
            max_wait=max_wait,
            else_=lambda _: _NO_VALUE,
            options=given,
            name=name_of(call),
            covers_end=kind is not _EVENTUALLY,
        )

    def run(self) -> Any:
        """Wait and return the value that was expected, or fail."""
        __tracebackhide__ = True
        return self._checked(run(self._condition))

    async def run_async(self) -> Any:
        """Wait as part of the calling task and return the value that was expected, or fail."""
        __tracebackhide__ = True
        return self._checked(await run_async(self._condition))

    def _checked(self, value: Any) -> Any:
        """Return the value that ended the wait, or fail."""
        __tracebackhide__ = True
        if self._kind is _EVENTUALLY:
            if value is _NO_VALUE:
                raise AssertionError(self._text()) from self._history.error
            return value
        if value is not _NO_VALUE or not self._history.attempts:
            raise AssertionError(self._text())
        if self._condition.wait_run.attempts > self._history.attempts:
            raise AssertionError(f"{self._text()}\nthe last attempt did not end")
        return None

    def _text(self) -> str:
        max_wait = self._condition.wait_run.policy.limits.max_wait or 0.0
        expectation = self._kind.expectation.format(
            pattern=_described(self._given_pattern, self._pattern),
            time=f"{max(0.0, max_wait):.4g} s",
        )
        return f"{expectation}\n{_origin(self._call)}\n{self._history}"


def _described(given: Any, pattern: Pattern) -> str:
    """Return a pattern in words; of a predicate its source, if that is an expression."""
    source = source_of(given)
    return pattern.text if source is None or "\n" in source else cut(source)


def _origin(call: Callable[[], Any]) -> str:
    """Return the source of a callable, and the values of variables, as pytest shows them."""
    source = source_of(call)
    if source is None:
        lines = [f"from: {name_of(call)}"]
    elif "\n" in source:
        lines = ["from:", *(f"    {line}" for line in source.splitlines())]
    else:
        lines = [f"from: {source}"]
    where = plain_variables(call).items()
    return "\n".join([*lines, *(f" +  where {name} = {short(value)}" for name, value in where)])

"""What a loop, or a function that a decorator repeats, does at each text that it compares with."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from .source_names import Function, LoopSource, inside, names_in, returned, source, spend, walk

Effect = Literal["leave", "stay", "raise"]
"""The loop ends well, it goes on, or it ends badly."""
Effects = dict[str | bool, Effect]

ANSWERED: Final = True
"""In `Effects`: the call succeeded, whatever it returned. The texts are states, and the names of
errors."""

_ENDS: Final = ("sys.exit", "exit", "quit")
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
            case [ast.Expr(value=ast.Call() as call)] if self._names.origin(call) in _ENDS:
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

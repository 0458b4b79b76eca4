"""What a pass of a loop does where the service answers in a certain way.

The statements of a pass are followed as Python runs them, on values that are known: constants, and
the answer of one read operation. Where something else decides, each way is followed, one after the
other. Nothing of the file is imported or run.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from ..definitions.words import CHANGES
from .calls import Arguments, ReadCall, arguments_of, read_call
from .loop_source import LoopSource, method_verb
from .names import NAMED, Function, source, spend, steps_left, walk

End = Literal["leave", "stay", "raise"]
"""The loop ends well, it goes on, or it ends badly."""
Path = tuple[str, ...]
"""Where something is in an answer: members, and `EACH` for any item of a list."""
EACH: Final = "*"
ERROR: Final[Path] = ("",)
"""The path of the code of an error, in place of an answer."""
_MOST_STEPS: Final = 50_000
"""Steps that are spent on the ways of one loop."""
_LONGEST: Final = 1_000
"""Characters of a text, or items of a list, that is put together."""
_DEEPEST: Final = 4
"""Functions that are followed into each other."""


class _Unknown:
    """What the file does not tell."""


UNKNOWN: Final = _Unknown()
ABSENT: Final = object()
"""In place of a member that an answer does not have."""
THERE: Final = object()
"""What a part of an answer is compared with where it matters only whether there is something."""


class Part(NamedTuple):
    """A part of an answer of which nothing is known."""

    call: ReadCall
    path: Path


class Document(dict[str, Any]):
    """A structure in an answer; a member that it does not name is not known."""

    part: Part


class Code(str):
    """The code of an error, equal to each of its spellings."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and error_key(self) == error_key(other)

    def __hash__(self) -> int:
        return hash(error_key(self))

    def __contains__(self, part: object) -> bool:
        return error_key(str(part)) in error_key(self)


def error_key(text: str) -> str:
    """Return what all spellings of an error, or of a state, have in common."""
    letters = re.sub(r"[^a-z0-9]|(exception|fault)\Z", "", text.lower())
    return "notfound" if letters == "404" else letters


class World(NamedTuple):
    """How the service answers a read operation."""

    call: ReadCall | None = None
    """The operation; None: each, and nothing is known of its answers."""
    document: Document | None = None
    error: str | None = None
    """The code of an error, in place of an answer; empty for any."""


class Outcome(NamedTuple):
    """What passes of a loop do in a world."""

    ends: frozenset[End]
    """Several, if something unknown decides."""
    acts: frozenset[str]
    """What else is done in a pass after which the loop goes on: `log`, `change` for a call that may
    change something, `read` for another operation that reads, `other`. `lost` is a change before
    the loop ends badly."""


class _Count(NamedTuple):
    """Passes or time: no bound of the loop is reached."""

    is_growing: bool


class _Exit(Exception):  # noqa: N818 - a way out of a block, not an error
    """A statement that leaves a block: `break`, `continue`, `return` or `raise`."""

    def __init__(self, kind: str, value: Any = None) -> None:
        self.kind, self.value = kind, value


_Env = dict[str, Any]
_CLOCKS: Final = ("time", "monotonic", "perf_counter", "now", "utcnow")
_FAILS: Final = ("fail", "skip", "skipTest", "fail_json", "fail_json_aws")
"""Functions of pytest, unittest and Ansible that raise."""
_EXITS: Final = ("sys.exit", "exit", "quit", "os._exit", "SystemExit")
_LOGS: Final = re.compile(
    r"(?i)(?<![a-z])log|print|echo|debug|info\b|warn|\berror|\bexception|progress|tqdm|bar\b|spinner"
    r"|std(out|err)"
    r"|display|clear_output|verbose|indicator|status\w*\.update|console|trace"
)
_STOPS: Final = re.compile(r"(?i)_*(is_?|should_?)?(stop|cancel|abort|shut_?down|exit|quit|kill)")
_GOES_ON: Final = re.compile(r"(?i)_*(is_?|keep_?)?(running|alive|active|going|polling)\Z")
_GENERIC: Final = ("", "Exception", "BaseException")
_OF_SERVICE: Final = (*_GENERIC, "ClientError")
_OPERATORS: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda one, other: one in other, ast.NotIn: lambda one, other: one not in other,
    ast.Add: operator.add, ast.Sub: operator.sub,
}  # fmt: skip
_MIRRORED: Final = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_LISTS: Final = ("list", "set", "sorted", "tuple", "frozenset")
_BUILTINS: Final = {each.__name__: each for each in (int, len, max, min, sum, bool)}
_METHODS: Final = ("lower", "upper", "casefold", "strip", "title", "endswith", "startswith")


class Passes:
    """Runs the passes of a loop in worlds.

    Args:
        loop: the loop.
    """

    def __init__(self, loop: LoopSource) -> None:
        self._loop, self._names = loop, loop.names
        self.observed: dict[ReadCall, dict[Path, set[Any]]] = {}
        """What decides in a pass: of each call the paths, and what they are compared with."""
        self.stop_flags: dict[str, str] = {}
        """What ends the loop from outside, as source: the event; empty for a flag."""
        self._arguments: dict[tuple[ast.Call, int], Arguments] = {}
        self._calls: dict[tuple[ast.Call, int, frozenset[str]], ReadCall | None] = {}
        self._may_spend = _MOST_STEPS
        self._reloads: dict[ast.AST, ast.Call] = {}
        self.counts = dict(loop.counts())
        """The names that count passes or time, and whether they grow."""
        for world in (World(), World(error="")):
            self.outcome(world)

    def outcome(self, world: World) -> Outcome:
        """Return what the passes do in a world."""
        self._world, self._script = world, list[bool]()
        most = steps_left() - self._may_spend
        ends: set[End] = set()
        acts: set[str] = set()
        while True:
            end = self._follow()
            if end is not None:
                ends.add(end)
            if end == "stay":
                acts |= self._acts
            elif end == "raise" and "change" in self._acts:
                acts.add("lost")
            self._script = [*self._chosen.values()]
            while self._script and self._script[-1]:
                self._script.pop()
            if not self._script:
                break
            self._script[-1] = True
            if steps_left() < most:
                ends |= {"leave", "stay"}
                break
        self._may_spend = steps_left() - most
        return Outcome(frozenset(ends), frozenset(acts))

    def _decide(self, node: ast.AST, *, holds: bool | None) -> bool:
        """Return which way is followed, also where it is not known."""
        if holds is None and node not in self._chosen:
            place = len(self._chosen)
            self._chosen[node] = place < len(self._script) and self._script[place]
        return self._chosen[node] if holds is None else holds

    def _follow(self) -> End | None:
        """Follow one way; return how it ends, None if it does before the first answer."""
        self._chosen: dict[ast.AST, bool] = {}
        self._acts: set[str] = set()
        self._kept: _Env = {}
        """What is kept in objects."""
        self._given: Arguments = {}
        """What the names of the function that is followed stand for in the loop."""
        self._depth, self._is_read = 0, False
        node = self._loop.passes
        env: _Env = {name: _Count(grows) for name, grows in self.counts.items()}
        try:
            if isinstance(node, ast.While):
                env |= self._before()
            else:
                self._assign(node.target, _Count(is_growing=True), env)
            for _ in range(2):  # The first pass may begin with anything.
                self._begin_pass(node, env)
                if self._left(node.body, env):
                    raise _Exit("break")
            self._begin_pass(node, env)
        except _Exit as exit_:
            if not self._is_read:
                return None
            if exit_.kind != "raise":
                return "raise" if exit_.value is False else "leave"
            is_well = exit_.value == "exit 0" or self._is_caught_outside(exit_.value)
            return "leave" if is_well else "raise"
        return "stay"

    def _begin_pass(self, node: ast.For | ast.AsyncFor | ast.While, env: _Env) -> None:
        if isinstance(node, ast.While):
            holds = self._test(node.test, env)
            if self._is_read and not self._decide(node, holds=holds):
                raise _Exit("break")

    def _before(self) -> _Env:
        """Return the constants, such as flags, that the loop assigns, as before the first pass."""
        env: _Env = {}
        for name in self._loop.assigned - self.counts.keys():
            values = self._names.values(ast.Name(name), self._loop.node)
            before = [each for each in values if not self._loop.has(each)]
            value = self._constant(before[0]) if len(before) == 1 else UNKNOWN
            if isinstance(value, bool | str | list) or value is None:
                env[name] = value
        return env

    def _is_caught_outside(self, error: Any) -> bool:
        """Return whether an error of the service is caught around the loop, and is no problem."""
        handlers = [each for around in self._loop.around for each in around.handlers]
        is_aws = isinstance(error, Code | Part)
        caught = [each for each in handlers if is_aws and self._catches(each, error)][:1]
        return any(
            {*_caught(each)}.isdisjoint(_OF_SERVICE)
            and not any(isinstance(e, ast.Raise) for e in each.body)
            for each in caught
        )

    # --- statements

    def _block(self, body: Iterable[ast.stmt], env: _Env) -> None:
        for statement in body:
            spend(5)
            self._statement(statement, env)

    def _left(self, body: Iterable[ast.stmt], env: _Env) -> bool:
        """Follow a pass of a loop; return whether it is left."""
        try:
            self._block(body, env)
        except _Exit as exit_:
            if exit_.kind not in ("break", "continue"):
                raise
            return exit_.kind == "break"
        return False

    def _statement(self, node: ast.stmt, env: _Env) -> None:  # noqa: C901, PLR0912 - a case for each kind
        match node:
            case ast.Expr(value=value):
                self._eval(value, env, is_statement=True)
            case ast.Assign(targets=targets, value=value):
                result = self._eval(value, env)
                for target in targets:
                    self._assign(target, result, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._eval(value, env), env)
            case ast.AugAssign(target=target, op=op, value=value):
                result = self._binary(op, self._eval(target, env), self._eval(value, env))
                self._assign(target, result, env)
            case ast.If(test=test, body=body, orelse=orelse):
                holds = self._test(test, env)
                if holds is None and not any(map(_decides, [*body, *orelse])):
                    self._block([*body, *orelse], env)
                else:
                    self._block(body if self._decide(node, holds=holds) else orelse, env)
            case ast.For() | ast.AsyncFor():
                items = self._items(self._eval(node.iter, env))
                for item in [UNKNOWN] if items is None else items:
                    self._assign(node.target, item, env)
                    if self._left(node.body, env):
                        return
                self._block(node.orelse, env)
            case ast.While(test=test, body=body):
                if self._loop.has(node) and self._loop.sleeps_in(node):
                    self._acts.add("other")
                if self._test(test, env) is not False:
                    self._left(body, env)
            case ast.Try():
                self._try(node, env)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    entered = self._eval(item.context_expr, env)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, entered, env)
                self._block(body, env)
            case ast.Return(value=value):
                raise _Exit("return", None if value is None else self._eval(value, env))
            case ast.Raise(exc=error):
                raise _Exit("raise", self._error(error, env))
            case ast.Break() | ast.Continue():
                raise _Exit(type(node).__name__.lower())
            case ast.Assert(test=test) if self._test(test, env) is False:
                raise _Exit("raise", "AssertionError")
            case ast.Match(subject=subject, cases=cases):
                value = self._eval(subject, env)
                taken = (each for each in cases if self._matches(each, value, env))
                self._block(next((each.body for each in taken), []), env)

    def _matches(self, case: ast.match_case, value: Any, env: _Env) -> bool:
        known = [each.value for each in walk(case.pattern) if isinstance(each, ast.MatchValue)]
        texts = [self._eval(each, env) for each in known]
        same = self._truth(self._compare(ast.In(), value, texts)) if texts else None
        return self._decide(case, holds=same if texts or case.guard is not None else True)

    def _try(self, node: ast.Try, env: _Env) -> None:
        try:
            self._block(node.body, env)
        except _Exit as exit_:
            error = exit_.value
            handlers = (
                e for e in node.handlers if exit_.kind == "raise" and self._catches(e, error)
            )
            handler = next(handlers, None)
            if handler is None:
                raise
            env[""] = env[handler.name or ""] = error
            self._block(handler.body, env)
        else:
            self._block(node.orelse, env)
        finally:
            self._block(node.finalbody, env)

    def _catches(self, handler: ast.ExceptHandler, error: Any) -> bool:
        names = _caught(handler)
        if not isinstance(error, Code | Part):
            return error in names or not {*names}.isdisjoint(_GENERIC)
        is_any = not {*names}.isdisjoint(_OF_SERVICE)
        # `client.exceptions.NotFound`, not a class of the file.
        codes = [n for n in names if f"exceptions.{n}" in source(handler) and n not in _OF_SERVICE]
        self._note(error, codes)
        return is_any or (
            self._decide(handler, holds=None) if isinstance(error, Part) else error in codes
        )

    def _error(self, node: ast.expr | None, env: _Env) -> Any:
        value = env.get("" if node is None else source(node), "Exception")
        if isinstance(value, Code | Part) or node is None:
            return value
        name = self._names.origin(node)
        return _exit_of(node) if name == "SystemExit" else name.rpartition(".")[2]

    def _assign(self, target: ast.expr, value: Any, env: _Env) -> None:
        match target:
            case ast.Name() | ast.Attribute():
                if (name := source(target)) not in self.counts:
                    (env if isinstance(target, ast.Name) else self._kept)[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = self._items(value) or []
                for index, each in enumerate(elements):
                    is_known = len(values) == len(elements)
                    self._assign(each, values[index] if is_known else UNKNOWN, env)
            case ast.Subscript(value=owner) if not (
                isinstance(owner, ast.Name) and owner.id in self._loop.assigned
            ):
                self._acts.add("other")

    # --- what is known of values

    def _test(self, node: ast.expr, env: _Env) -> bool | None:
        """Return whether a test holds; None if it is not known."""
        value = self._eval(node, env)
        if value is UNKNOWN and isinstance(node, NAMED):
            name = source(node)
            flag = name.rpartition(".")[2]
            if name not in self._loop.assigned and (_STOPS.match(flag) or _GOES_ON.match(flag)):
                self.stop_flags[name] = ""
                return bool(_GOES_ON.match(flag))
        return self._truth(value)

    def _truth(self, value: Any) -> bool | None:
        self._note(value, [THERE])
        if isinstance(value, _Count):
            return None if value.is_growing else True
        return None if _is_unknown(value) else bool(value) or isinstance(value, Document)

    def _note(self, value: Any, compared: Iterable[Any]) -> None:
        """Note that a part of an answer decides."""
        if isinstance(value, Part):
            self.observed.setdefault(value.call, {}).setdefault(value.path, set()).update(compared)

    def _items(self, value: Any) -> list[Any] | None:
        """Return what a value consists of; None if it is not known."""
        if isinstance(value, Part):
            return [value._replace(path=(*value.path, EACH))]
        is_known = isinstance(value, list | dict) and not isinstance(value, Document)
        return [*value] if is_known else None

    def _member(self, owner: Any, key: Any, default: Any = UNKNOWN) -> Any:
        """Return an item or a member; what is not there is an error, if there is no default."""
        if owner is None:
            raise _Exit("raise", "TypeError")
        part = owner.part if isinstance(owner, Document) else owner
        if isinstance(part, Part) and (part is owner or key not in owner):
            if part.path == ERROR or not isinstance(key, str | int):
                return part if part.path == ERROR else UNKNOWN
            return part._replace(path=(*part.path, key if isinstance(key, str) else EACH))
        try:
            found = owner[key] if isinstance(owner, list | dict) else UNKNOWN
        except (KeyError, TypeError):
            return UNKNOWN
        except IndexError:
            found = ABSENT
        if found is ABSENT and default is UNKNOWN:
            raise _Exit("raise", "KeyError")
        return default if found is ABSENT else found

    def _compare(self, op: ast.cmpop, one: Any, other: Any) -> Any:
        kind = type(op)
        for count, sign in ((one, kind), (other, _MIRRORED.get(kind, kind))):
            if isinstance(count, _Count) and kind not in (ast.In, ast.NotIn):
                grows = sign if count.is_growing else _MIRRORED.get(sign, sign)
                return grows in (ast.Lt, ast.LtE, ast.NotEq)
        for side, against in ((one, other), (other, one)):
            told = [e for e in _flat(against) if isinstance(e, str | int | float)]
            for each in _flat(side):
                self._note(each, [*told, *([THERE] if against is None or against == [] else [])])
        if isinstance(op, ast.In | ast.NotIn) and isinstance(other, Document | Part):
            self._note(other, [f"ANY{one}"] * isinstance(one, str))
            found = self._member(other, one, ABSENT) if isinstance(one, str) else UNKNOWN
            self._note(found, [THERE])
            return (
                UNKNOWN if _is_unknown(found) else (found is not ABSENT) is isinstance(op, ast.In)
            )
        if isinstance(one, list) and isinstance(other, list) and not _is_unknown([one, other]):
            one, other = {*map(str, one)}, {*map(str, other)}
        return self._apply(_OPERATORS[type(op)], one, other)

    def _apply(self, function: Callable[..., Any], *values: Any) -> Any:
        """Return what a function gives for values; `UNKNOWN` if one of them is not known."""
        try:
            return UNKNOWN if any(map(_is_unknown, values)) else function(*values)
        except Exception:  # whatever the file's own mistake raises
            return UNKNOWN

    def _binary(self, op: ast.operator, one: Any, other: Any) -> Any:
        match op, one, other:
            case ast.Sub(), _, _Count(is_growing=grows) if not isinstance(one, _Count):
                return _Count(not grows)
            case ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), _Count(), _:
                return one
            case ast.Add() | ast.Mult(), _, _Count():
                return other
        sizes = [len(each) for each in (one, other) if isinstance(each, str | list)]
        # What doubles with each statement would fill the memory.
        is_known = type(op) in _OPERATORS and sum(sizes) < _LONGEST
        return self._apply(_OPERATORS[type(op)], one, other) if is_known else UNKNOWN

    # --- expressions

    def _eval(self, node: ast.expr, env: _Env, *, is_statement: bool = False) -> Any:  # noqa: C901, PLR0912 - a case for each kind
        spend(3)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self._named(node, env)
            case ast.Subscript(value=owner, slice=key):
                return self._member(self._eval(owner, env), self._eval(key, env))
            case ast.Call():
                return self._call(node, env, is_statement=is_statement)
            case ast.Await(value=value):
                return self._eval(value, env, is_statement=is_statement)
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self._eval(each, env) for each in (left, *others)]
                pairs = zip(ops, values, values[1:], strict=False)
                return _all([self._truth(self._compare(*each)) for each in pairs])
            case ast.BoolOp(op=op, values=parts):
                found: list[bool | None] = []
                for each in parts:
                    found.append(self._test(each, env))
                    if found[-1] is isinstance(op, ast.Or):
                        return found[-1]
                return UNKNOWN if None in found else isinstance(op, ast.And)
            case ast.UnaryOp(op=op, operand=operand):
                if isinstance(op, ast.Not):
                    holds = self._test(operand, env)
                    return UNKNOWN if holds is None else not holds
                return self._apply(operator.neg, self._eval(operand, env))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self._eval(left, env), self._eval(right, env))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                holds = self._test(test, env)
                return self._eval(body if self._decide(node, holds=holds) else orelse, env)
            case ast.NamedExpr(target=target, value=value):
                result = self._eval(value, env)
                self._assign(target, result, env)
                return result
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return [self._eval(each, env) for each in elements]
            case ast.ListComp(elt=e) | ast.SetComp(elt=e) | ast.GeneratorExp(elt=e):
                items = self._comprehended(e, node.generators, env)
                return UNKNOWN if items is None else items
        return UNKNOWN

    def _named(self, node: ast.Name | ast.Attribute, env: _Env) -> Any:
        name = source(node)
        known = env if isinstance(node, ast.Name) else self._kept
        if name in known:
            return known[name]
        if isinstance(node, ast.Attribute):
            function = self._names.property_of(node)
            if function is not None:
                return self._followed(function, {}, self._given)
            read = self._resource(node.value, env)
            owner = self._read(read) if read is not None else self._eval(node.value, env)
            if isinstance(owner, Code) and node.attr == "response":
                status = 404 if re.search(r"(?i)not_?found|no_?such|404", owner) else 400
                return {"Error": {"Code": owner}, "ResponseMetadata": {"HTTPStatusCode": status}}
            part = getattr(owner, "part", owner)
            if isinstance(part, Part) and part.call.resource:
                return self._member(owner, node.attr)
            if isinstance(owner, Code | _Count | Part) or node.attr == "value":
                return owner
        values = self._names.values(node)
        return self._constant(values[0]) if len(values) == 1 else UNKNOWN

    def _constant(self, node: ast.expr, depth: int = _DEEPEST) -> Any:
        """Return the value of an expression of constants."""
        spend(2)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return [self._constant(each, depth) for each in elements]
            case ast.Call(func=ast.Name(id=name), args=values) if name in _LISTS:
                return self._constant(values[0], depth) if values else []
            case ast.Name() | ast.Attribute() if not self._loop.has(node) and depth:
                values = self._names.values(node)
                return self._constant(values[0], depth - 1) if len(values) == 1 else UNKNOWN
        return UNKNOWN

    def _comprehended(
        self, element: ast.expr, generators: Sequence[ast.comprehension], env: _Env
    ) -> list[Any] | None:
        if not generators:
            return [self._eval(element, env)]
        items = self._items(self._eval(generators[0].iter, env))
        found: list[Any] | None = [] if items is not None else None
        for item in [UNKNOWN] if items is None else items:
            self._assign(generators[0].target, item, env)
            holds = _all([self._test(each, env) for each in generators[0].ifs])
            if holds is not False:
                inner = self._comprehended(element, generators[1:], env)
                is_told = found is not None and inner is not None and holds is True
                found = [*(found or []), *(inner or [])] if is_told else None
        return found

    # --- calls

    def _call(self, node: ast.Call, env: _Env, *, is_statement: bool) -> Any:  # noqa: C901, PLR0912 - a case for each kind
        if isinstance(node.func, Function | ast.Lambda):  # what a library repeats, or a predicate
            names = [each.arg for each in node.func.args.args][-1:] if node.args else []
            values = [self._eval(each, env) for each in node.args]
            return self._followed(node.func, dict(zip(names, values, strict=False)), {})
        name = self._names.origin(node)
        last = name.rpartition(".")[2]
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if of is not None and (last == "is_set" or (last == "wait" and node in self._loop.sleeps)):
            if isinstance(of, NAMED):
                self.stop_flags[source(of)] = source(of)
            return False
        function = self._names.called(node)
        if node in self._loop.sleeps:
            return UNKNOWN
        if function is not None and function is self._loop.node:
            raise _Exit("continue")
        read = self._read_call(node, env) if function is None else None
        if read is not None:
            return self._read(read)
        if name in _EXITS or last in _FAILS:
            raise _Exit("raise", _exit_of(node) if name in _EXITS else last)
        values = [self._eval(each, env) for each in node.args]
        keywords = {each.arg or "**": self._eval(each.value, env) for each in node.keywords}
        if function is not None:
            return self._inlined(function, node, values, keywords)
        if last in _CLOCKS:
            return _Count(is_growing=True)
        owner = UNKNOWN if of is None else self._eval(of, env)
        is_outside = isinstance(of, NAMED) and source(of) not in (env.keys() | self._kept.keys())
        if isinstance(owner, list) and is_outside and is_statement:
            self._acts.add("other")  # it grows from pass to pass
        elif isinstance(owner, Part | dict | list | str | _Count):
            return self._method(owner, last, values)
        if of is None and (name in _BUILTINS or name in (*_LISTS, "all", "any", "next", "str")):
            return self._builtin(name, values)
        if of is not None and node.keywords and method_verb(last) in CHANGES:
            self._acts.add("change")
        elif _LOGS.search(name):
            self._acts.add("log")
        elif is_statement:
            self._acts.add("other")
        return UNKNOWN

    def _read_call(self, node: ast.Call, env: _Env) -> ReadCall | None:
        # Before it is assigned in a pass, a name is what it was before the loop.
        same = (
            name
            for name in self._loop.assigned_before
            if isinstance(env.get(name, ""), Document | Part | str)
            or self._names.resource(ast.Name(name), self._loop.node)[0]
        )
        stable = frozenset({*self._loop.constants, *same})
        key = node, id(self._given), stable
        if key not in self._calls:
            self._calls[key] = read_call(self._loop, node, self._given, stable)
        return self._calls[key]

    def _resource(self, node: ast.expr, env: _Env) -> ReadCall | None:
        """Return the call that reads a resource object of boto3, if a node is one."""
        if not isinstance(node, NAMED) or self._names.resource(node)[0] is None:
            return None
        made = ast.copy_location(ast.Call(ast.Attribute(node, "load"), [], []), node)
        return self._read_call(self._reloads.setdefault(node, made), env)

    def _read(self, call: ReadCall) -> Any:
        """Return the answer of a call, or raise the error that takes its place."""
        world = self._world
        if world.call not in (None, call):
            self._acts.add("read")
            return UNKNOWN
        self._is_read = True
        self.observed.setdefault(call, {})
        if world.error is not None:
            raise _Exit("raise", Code(world.error) if world.error else Part(call, ERROR))
        return Part(call, ()) if world.document is None else world.document

    def _inlined(self, function: Function, node: ast.Call, values: list[Any], more: _Env) -> Any:
        """Return what a function of the file returns."""
        key = node, id(self._given)
        if key not in self._arguments:
            self._arguments[key] = arguments_of(self._names, function, node, self._given)
        names = [e.arg for e in function.args.args if e.arg not in ("self", "cls")]
        defaults = zip(reversed(names), reversed(function.args.defaults), strict=False)
        env: _Env = {k: v.value for k, v in defaults if isinstance(v, ast.Constant)}
        env = dict.fromkeys(names, UNKNOWN) | env | dict(zip(names, values, strict=False)) | more
        return self._followed(function, env, self._arguments[key])

    def _followed(self, function: Function | ast.Lambda, env: _Env, given: Arguments) -> Any:
        """Return what a function returns."""
        if self._depth >= _DEEPEST:
            return UNKNOWN
        outer, self._given = self._given, given
        self._depth += 1
        try:
            if isinstance(function, ast.Lambda):
                return self._eval(function.body, env)
            self._block(function.body, env)
        except _Exit as exit_:
            if exit_.kind != "return":
                raise
            return exit_.value
        finally:
            self._depth -= 1
            self._given = outer

    def _method(self, owner: Any, name: str, values: list[Any]) -> Any:
        """Return what a method of a value returns."""
        if name == "get" and isinstance(owner, dict | Part) and values:
            return self._member(owner, values[0], values[1] if values[1:] else None)
        if name in ("append", "add", "extend", "update") and isinstance(owner, list):
            owner += (
                (self._items(values[0]) or [UNKNOWN]) if name in ("extend", "update") else values
            )
            return None
        if isinstance(owner, Part) and name in _METHODS:
            texts = [each for each in _flat(values) if isinstance(each, str)]
            self._note(owner, [f"ANY{e}" if name == "endswith" else f"{e}ANY" for e in texts])
            return UNKNOWN if values else owner
        if isinstance(owner, str) and name in _METHODS:
            known = [tuple(each) if isinstance(each, list) else each for each in values]
            return self._apply(getattr(owner, name), *known)
        return owner if isinstance(owner, _Count | Code) else UNKNOWN

    def _builtin(self, name: str, values: list[Any]) -> Any:
        if not values:
            return []
        first = values[0]
        if name == "str" or isinstance(first, _Count):
            return first
        if name in ("len", "bool"):
            holds = self._truth(first)
            return holds if name == "bool" and holds is not None else self._apply(len, first)
        items = self._items(first)
        if items is None or name in _BUILTINS:
            return self._apply(_BUILTINS[name], *values) if name in _BUILTINS else UNKNOWN
        if name in ("any", "all"):
            truths = [self._truth(each) for each in items]
            wanted = [e if name == "all" or e is None else not e for e in truths]
            found = _all(wanted)
            return found if name == "all" or found is UNKNOWN else not found
        return next(iter([*items, *values[1:]]), UNKNOWN) if name == "next" else items


def _all(truths: Sequence[Any]) -> Any:
    """Return whether all are true, as far as it is known."""
    return False if False in truths else UNKNOWN if {None, UNKNOWN} & {*truths} else True


def _decides(node: ast.stmt) -> bool:
    """Return whether a statement may change what is decided, or where the loop goes on."""
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Assign, ast.AugAssign, ast.Assert)
    return any(isinstance(each, kinds) for each in walk(node))


def _is_unknown(value: Any) -> bool:
    is_list = isinstance(value, list)
    return isinstance(value, _Unknown | Part | _Count | ast.AST) or (
        is_list and any(map(_is_unknown, value))
    )


def _flat(value: Any) -> Iterator[Any]:
    """Yield a value, or what is in a list."""
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def _caught(handler: ast.ExceptHandler) -> list[str]:
    """Return the last names of what a handler catches."""
    match handler.type:
        case None:
            return [""]
    kinds = getattr(handler.type, "elts", [handler.type])
    return [source(each).rpartition(".")[2] for each in kinds]


def _exit_of(node: ast.expr) -> str:
    """Return how a call ends the program: `exit 0` is a good end."""
    match node:
        case ast.Call(args=[] | [ast.Constant(value=0 | None)]):
            return "exit 0"
    return "SystemExit"

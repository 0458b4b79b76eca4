"""What the names of one Python file mean, as far as its syntax tree tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Final

_STUB: Final = re.compile(r"(?:mypy_boto3|types_boto3|types_aiobotocore)_(\w+)\..*Client")
RETRIES: Final = ("tenacity.", "backoff.", "retrying.")
_DEPTH: Final = 4
"""Assignments and functions that are followed from a name."""

MOST_STEPS: Final = 1_000_000
"""Steps that may be spent on one file, of about a microsecond. What grows with the file alone, such
as to parse it, costs none."""
_steps_left: Final = ContextVar("steps_left", default=MOST_STEPS)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
ANNOTATION: Final = ":"
NAMED: Final = (ast.Name, ast.Attribute)


class NotReadError(Exception):
    """A file is not read; the text says why."""


def spend(steps: int) -> None:
    """Count steps that are spent on the file.

    Raises:
        NotReadError: they are more than one file may take.
    """
    _steps_left.set(_steps_left.get() - steps)
    if _steps_left.get() < 0:
        raise NotReadError("too much work")


def steps_left() -> int:
    """Return the steps that may still be spent on the file."""
    return _steps_left.get()


class SourceNames:
    """The names of a file.

    Args:
        tree: the file.
    """

    def __init__(self, tree: ast.Module) -> None:
        _steps_left.set(MOST_STEPS)
        self.repeatable: list[Function | Loop | ast.Call] = []
        """The loops and functions of the file, and the calls whose values are used as they are."""
        self._tree = tree
        self._scopes: dict[int, tuple[ast.AST, ...]] = {}
        self._functions: dict[str, list[Function]] = {}
        self._classes: dict[Function, ast.ClassDef | None] = {}
        """The class around each function."""
        self._origins: dict[str, str] = {}
        self.reading: dict[ast.AST, bool] = {}
        """Whether functions may read something, as far as it was asked for."""
        self.recursive: set[ast.AST] = set()
        """The functions that call themselves."""
        self.around: dict[ast.AST, tuple[ast.Try, ...]] = {}
        """The `try` statements of the same function whose bodies a loop is in."""
        self.blocks: dict[ast.AST, list[ast.AST]] = {}
        """The statements among which a statement is."""
        self._bound: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._last_uses: dict[ast.AST, dict[str, int]] = {}
        self._services: dict[tuple[str, tuple[ast.AST, ...]], frozenset[str]] = {}
        """The services of names, by their scopes."""
        self._attributes: dict[str, list[ast.expr]] = {}
        self._enter(tree, (), None, ())

    def _enter(  # noqa: C901 - a case for each kind of statement
        self,
        node: ast.AST,
        functions: tuple[Function, ...],
        owner: ast.ClassDef | None,
        around: tuple[ast.Try, ...],
    ) -> None:
        prefixes = [""]
        bindings: list[tuple[str, ast.expr]] = []
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                functions, around = (*functions, node), ()
                self.repeatable.append(node)
                # Of a property, what reads it.
                if not any(getattr(each, "attr", "") == "setter" for each in node.decorator_list):
                    self._functions.setdefault(name, []).append(node)
                self._classes[node] = owner
            case ast.Import(names=names):
                self._origins |= {each.asname or each.name: each.name for each in names}
            case ast.ImportFrom(module=str(module), names=names):
                self._origins |= {e.asname or e.name: f"{module}.{e.name}" for e in names}
            case ast.ClassDef(name=name, body=body):
                owner, prefixes = node, ["self.", "cls.", f"{name}."]
                bindings = [pair for each in body for pair in bindings_of(each)]
            case ast.For() | ast.AsyncFor() | ast.While():
                self.repeatable.append(node)
                self.around[node] = around
            case ast.Assign() | ast.AnnAssign():
                bindings = [pair for pair in bindings_of(node) if "." in pair[0]]
        used = getattr(node, "value", None)
        call = used.value if isinstance(used, ast.Await) else used
        if isinstance(call, ast.Call):
            self.repeatable.append(call)
            called = getattr(call.func, "id", getattr(call.func, "attr", None))
            self.recursive.update(each for each in functions if each.name == called)
        for name, value in bindings:
            for prefix in prefixes:
                self._attributes.setdefault(prefix + name, []).append(value)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = (*around, node) if isinstance(node, ast.Try) and field == "body" else around
            block: list[ast.AST] = getattr(node, field, [])
            for child in block if isinstance(block, list) else ():
                self.blocks[child] = block
                self._enter(child, functions, owner, inner)

    def scopes(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """Return the file and the functions around a node, the innermost last.

        A function is its own innermost scope; of what is made here, the scope is the file.
        """
        line = getattr(node, "lineno", 0)
        if line not in self._scopes:
            around = (
                each for each in self._classes if each.lineno <= line <= (each.end_lineno or 0)
            )
            self._scopes[line] = (self._tree, *around)
        return self._scopes[line]

    def origin(self, node: ast.expr) -> str:
        """Return the dotted name by which a function, class or module was imported.

        That of a call is the name of what is called.
        """
        spend(1)
        match node:
            case ast.Name(id=name):
                return self._origins.get(name, name)
            case ast.Attribute(value=value, attr=name):
                return f"{self.origin(value)}.{name}"
            case ast.Call(func=function):
                return self.origin(function)
        return ""

    def values(self, target: ast.expr, at: ast.AST | None = None, kind: str = "") -> list[ast.expr]:
        """Return what a name or attribute is bound to, in the innermost scope that binds it.

        Args:
            target: the name or attribute.
            at: the node in whose scope it is; by default its own.
            kind: `ANNOTATION`: what its annotation has instead.
        """
        name = source(target) + kind
        scopes = reversed(self.scopes(at or target))
        bound = (self.bound(each)[name] for each in scopes if name in self.bound(each))
        found = next(bound, self._attributes.get(name, []))
        spend(len(found))
        return found

    def last_use(self, scope: ast.AST) -> dict[str, int]:
        """Return the last lines in which the names of a scope are read."""
        if scope not in self._last_uses:
            names = [each for each in walk(scope) if isinstance(each, ast.Name)]
            read = (each for each in names if isinstance(each.ctx, ast.Load))
            lines = sorted((each.lineno, each.id) for each in read)
            self._last_uses[scope] = {name: line for line, name in lines}
        return self._last_uses[scope]

    def bound(self, scope: ast.AST) -> dict[str, list[ast.expr]]:
        """Return what each name and attribute is bound to in a scope."""
        if scope not in self._bound:
            self._bound[scope] = {}
            for name, value in (pair for each in inside(scope) for pair in bindings_of(each)):
                self._bound[scope].setdefault(name, []).append(value)
        return self._bound[scope]

    def retries(self, node: Function | Loop) -> list[ast.expr]:
        """Return the decorators that repeat a function, or the iterator of such a library."""
        repeats: list[ast.expr] = getattr(node, "decorator_list", None) or []
        if isinstance(node, ast.For | ast.AsyncFor):
            repeats = [node.iter]
        return [each for each in repeats if self.origin(each).startswith(RETRIES)]

    def called(self, node: ast.AST) -> Function | None:
        """Return the function of the file that a node calls."""
        match node:
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)
            ):
                return self._function(name, node)
        return None

    def _function(self, name: str, node: ast.AST) -> Function | None:
        """Return the function with a name; of several, that of the class around a node."""
        found = self._functions.get(name, [])
        around = [self._classes[e] for e in self.scopes(node) if isinstance(e, Function)]
        own = [each for each in found if self._classes[each] in around[-1:]] if found[1:] else found
        return own[0] if len(own) == 1 else None

    def services(self, client: ast.expr, depth: int = _DEPTH) -> frozenset[str]:
        """Return the services that an expression may be a client of; none if it is not told."""
        if not isinstance(client, ast.Name) or depth < _DEPTH:
            return self._services_of(client, depth)
        key = client.id, self.scopes(client)
        if key not in self._services:
            self._services[key] = self._services_of(client, depth)
        return self._services[key]

    def _services_of(self, client: ast.expr, depth: int) -> frozenset[str]:  # noqa: C901 - a case for each kind
        found: Sequence[ast.expr] = ()
        match client:
            case ast.Call(
                func=ast.Attribute(attr="client" | "create_client" | "resource"), args=arguments
            ) if found := [*arguments[:1], *named(client, "service_name")]:
                return frozenset(text for each in found for text in self.texts(each))
            case ast.Call() if (function := self.called(client)) is not None:
                made = [self.services(each, depth - 1) for each in returned(function) if depth]
                return frozenset().union(*made) or self._of_argument(client)
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name[:1].isupper():
                found = [value]  # a resource object
            case ast.Call():
                return self._of_argument(client)
            case ast.Attribute(value=ast.Attribute(value=value, attr="meta"), attr="client"):
                found = [value]
            case ast.Await(value=value):
                found = [value]
            case ast.BoolOp(values=values):
                found = values
            case ast.IfExp(body=body, orelse=orelse):
                found = [body, orelse]
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
                tables = [each for each in self.values(value) if isinstance(each, ast.Dict)]
                pairs = (
                    pair for each in tables for pair in zip(each.keys, each.values, strict=True)
                )
                found = [e for k, e in pairs if isinstance(k, ast.Constant) and k.value == key]
            case ast.Constant(value=str(name)):
                return self._of_stubs(ast.Name(name))
            case ast.Name() | ast.Attribute():
                if of_stubs := self._of_stubs(client):
                    return of_stubs
                function = self.property_of(client)
                notes = self.values(client, kind=ANNOTATION)
                found = [*self.values(client), *notes] or (returned(function) if function else [])
        return frozenset().union(*(self.services(each, depth - 1) for each in found if depth))

    def property_of(self, node: ast.AST) -> Function | None:
        """Return the property of the file's class that an attribute is."""
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                function = self._function(name, node)
                made_by = function.decorator_list if function else []
                if any(source(each).endswith("property") for each in made_by):
                    return function
        return None

    def _of_argument(self, call: ast.Call) -> frozenset[str]:
        """Return the service that a function is told which makes a client, such as `get_client`."""
        if not re.search(r"(?i)client", self.origin(call).rpartition(".")[2]):
            return frozenset()
        values = [*call.args, *(each.value for each in call.keywords)]
        return frozenset(text for each in values for text in self.texts(each))

    def resource(
        self, node: ast.expr, at: ast.AST | None = None
    ) -> tuple[str | None, list[ast.expr]]:
        """Return the class of a resource object of boto3, and what it was made of."""
        for value in (node, *self.values(node, at)) if isinstance(node, NAMED) else (node,):
            match value:
                case ast.Call(func=ast.Attribute(value=maker, attr=name), args=[_, *_] as made_of):
                    if name[:1].isupper() and self.services(maker):
                        return name, made_of
        return None, []

    def _of_stubs(self, name: ast.expr) -> frozenset[str]:
        """Return the service of a client's class in boto3-stubs."""
        stub = _STUB.fullmatch(self.origin(name))
        return frozenset({stub[1].replace("_", "-")} if stub else ())

    def texts(self, node: ast.AST, depth: int = _DEPTH) -> list[str]:
        """Return the texts that an expression, or what its name is bound to, has or consists of."""
        found: Sequence[ast.expr] = ()
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                found = elements
            case ast.Call(func=ast.Name(id="set" | "frozenset" | "tuple" | "list"), args=arguments):
                found = arguments
            case ast.Name() | ast.Attribute():
                found = self.values(node)
        spend(1 + len(found))
        return [text for each in found if depth for text in self.texts(each, depth - 1)]


def inside(node: ast.AST, without: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.AST]:
    """Yield what is below a node, in the order of the source, without functions and classes.

    Args:
        node: the node.
        without: further kinds of nodes that are left out, with what is below them.
    """
    without = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *without)
    waiting = [node]
    while waiting:
        children = ast.iter_child_nodes(waiting.pop())
        waiting += [each for each in children if not isinstance(each, without)][::-1]
        spend(2)
        yield from waiting[-1:]


def walk(node: ast.AST) -> list[ast.AST]:
    """Return a node and what is below it."""
    found = list(ast.walk(node))
    spend(len(found))
    return found


def source(node: ast.AST) -> str:
    """Return an expression as source."""
    if isinstance(node, ast.Name):
        spend(1)
        return node.id
    text = ast.unparse(node)
    spend(10 + len(text))
    return text


def names_in(*nodes: ast.AST) -> set[str]:
    """Return the names that stand in expressions."""
    below = (each for node in nodes for each in walk(node))
    return {each.id for each in below if isinstance(each, ast.Name)}


def returned(function: ast.AST) -> list[ast.expr]:
    """Return what a function returns."""
    found = (each.value for each in inside(function) if isinstance(each, ast.Return))
    return [each for each in found if each is not None]


def named(call: ast.Call, name: str) -> list[ast.expr]:
    """Return what a call passes by a name."""
    return [each.value for each in call.keywords if each.arg == name]


_LISTS: Final = (ast.Tuple, ast.List, ast.Set)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def bindings_of(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:  # noqa: C901 - a case for each kind
    """Yield the names and attributes that a node binds, with their values.

    What an annotation has is the value of the name with `ANNOTATION` behind it.
    """
    notes: list[tuple[ast.expr, ast.AST]] = []
    pairs: list[tuple[ast.expr, ast.AST | None]] = []
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs += zip(target.elts, value.elts, strict=False)
                pairs.append((target, value))
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            pairs.append((target, value))
            notes = [(target, each) for each in ast.walk(annotation)]
        case ast.NamedExpr(target=target, value=value):
            pairs.append((target, value))
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            # What is entered is another object, as what is awaited is.
            pairs.append((target, ast.Await(value)))
        case ast.arguments(args=args, defaults=defaults, kwonlyargs=more):
            given = [*zip(reversed(args), reversed(defaults), strict=False)]
            given += [(a, v) for a, v in zip(more, node.kw_defaults, strict=True) if v is not None]
            # A state that is waited for; of a flag or a number, callers give others.
            pairs += [
                (ast.Name(each.arg), v) for each, v in given if isinstance(v, _LISTS) or _is_text(v)
            ]
        case ast.arg(arg=name, annotation=ast.expr() as annotation):
            notes = [(ast.Name(name), each) for each in ast.walk(annotation)]
    for target, meaning in pairs:
        if isinstance(meaning, ast.expr) and isinstance(target, NAMED):
            yield ast.unparse(target), meaning
    for target, meaning in notes:
        if isinstance(meaning, ast.expr) and isinstance(target, NAMED):
            yield ast.unparse(target) + ANNOTATION, meaning

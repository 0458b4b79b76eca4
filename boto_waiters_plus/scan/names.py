"""What the names of one Python file mean, as far as its syntax tree tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Final

_STUB: Final = re.compile(r"(?:mypy_boto3|types_boto3|types_aiobotocore)_(\w+)\..*Client")
_SLEEPS: Final = ("time.sleep", "asyncio.sleep")
_RETRIES: Final = ("tenacity.", "backoff.", "retrying.")
_DEPTH: Final = 4
"""Assignments and functions that are followed from a name."""

MOST_STEPS: Final = 1_000_000
"""Steps that may be spent on one file, of about a microsecond. What grows with the file alone, such
as to parse it, costs none."""
_steps_left: Final = ContextVar("steps_left", default=MOST_STEPS)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While


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


class SourceNames:
    """The names of a file.

    Args:
        tree: the file.
    """

    def __init__(self, tree: ast.Module) -> None:
        _steps_left.set(MOST_STEPS)
        self.functions: dict[str, Function] = {}
        self.scopes: dict[ast.AST, tuple[ast.AST, ...]] = {}
        """The file and the functions around each node, the innermost last; a function is its own
        innermost scope."""
        self._tree = tree
        self._origins: dict[str, str] = {}
        self._bound: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._attributes: dict[str, list[ast.expr]] = {}
        self._enter(tree, ())
        for node in ast.walk(tree):
            prefixes = [""]
            bindings = [pair for pair in _bindings(node) if "." in pair[0]]
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self.functions[name] = node
                case ast.Import(names=names):
                    self._origins |= {each.asname or each.name: each.name for each in names}
                case ast.ImportFrom(module=str(module), names=names):
                    self._origins |= {e.asname or e.name: f"{module}.{e.name}" for e in names}
                case ast.ClassDef(name=owner, body=body):
                    prefixes = ["self.", "cls.", f"{owner}."]
                    bindings = [pair for each in body for pair in _bindings(each)]
            for name, value in bindings:
                for prefix in prefixes:
                    self._attributes.setdefault(prefix + name, []).append(value)

    def _enter(self, node: ast.AST, scopes: tuple[ast.AST, ...]) -> None:
        if isinstance(node, ast.Module | Function):
            scopes = (*scopes, node)
        self.scopes[node] = scopes
        for child in ast.iter_child_nodes(node):
            self._enter(child, scopes)

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

    def values(self, target: ast.expr) -> list[ast.expr]:
        """Return what a name or attribute is bound to, in the innermost scope that binds it."""
        name = source(target)
        scopes = reversed(self.scopes.get(target, (self._tree,)))
        bound = (self.bound(each)[name] for each in scopes if name in self.bound(each))
        found = next(bound, self._attributes.get(name, []))
        spend(len(found))
        return found

    def bound(self, scope: ast.AST) -> dict[str, list[ast.expr]]:
        """Return what each name and attribute is bound to in a scope."""
        if scope not in self._bound:
            self._bound[scope] = {}
            for name, value in (pair for each in inside(scope) for pair in _bindings(each)):
                self._bound[scope].setdefault(name, []).append(value)
        return self._bound[scope]

    def retries(self, node: Function | Loop) -> list[ast.expr]:
        """Return the decorators that repeat a function, or the iterator of such a library."""
        repeats: list[ast.expr] = getattr(node, "decorator_list", None) or []
        if isinstance(node, ast.For | ast.AsyncFor):
            repeats = [node.iter]
        return [each for each in repeats if self.origin(each).startswith(_RETRIES)]

    def called(self, node: ast.AST) -> Function | None:
        """Return the function of the file that a node calls."""
        match node:
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)
            ):
                return self.functions.get(name)
        return None

    def services(self, client: ast.expr, depth: int = _DEPTH) -> frozenset[str]:
        """Return the services that an expression may be a client of; none if it is not told."""
        found: Sequence[ast.expr] = ()
        match client:
            case ast.Call(func=ast.Attribute(attr="client" | "create_client"), args=arguments):
                named = [each.value for each in client.keywords if each.arg == "service_name"]
                first = [*arguments[:1], *named]
                return frozenset(text for each in first for text in self.texts(each))
            case ast.Call() if (function := self.called(client)) is not None:
                found = returned(function)
            case ast.Await(value=value):
                found = [value]
            case ast.Constant(value=str(name)):
                return self._of_stubs(ast.Name(name))
            case ast.Name() | ast.Attribute():
                if of_stubs := self._of_stubs(client):
                    return of_stubs
                found = self.values(client)
        return frozenset().union(*(self.services(each, depth - 1) for each in found if depth))

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


class LoopSource:
    """A loop, or a function that decorators may repeat.

    Args:
        names: the names of its file.
        node: the loop or function.
    """

    def __init__(self, names: SourceNames, node: Function | Loop) -> None:
        self.names, self.node = names, node
        is_function = isinstance(node, Function)
        # A decorator calls the function again after any error; its handlers tell no state.
        without = (ast.For, ast.AsyncFor, ast.While, *[ast.ExceptHandler] * is_function)
        self.own = list(inside(node, without))
        """What is in the loop, but not in a loop inside."""
        stored = (each for each in self.own if isinstance(each, ast.Name))
        self.assigned = {each.id for each in stored if isinstance(each.ctx, ast.Store)}
        calls = (each for each in self.own if isinstance(each, ast.Call))
        self.sleeps = dict.fromkeys(each for each in calls if names.origin(each) in _SLEEPS)
        self.retries = names.retries(node)


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
    text = node.id if isinstance(node, ast.Name) else ast.unparse(node)
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


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and attributes that a node binds, with their values or annotations."""
    pairs: list[tuple[ast.expr, ast.AST | None]] = []
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs += zip(target.elts, value.elts, strict=False)
                pairs.append((target, value))
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            pairs += [(target, value), *((target, each) for each in ast.walk(annotation))]
        case ast.NamedExpr(target=target, value=value):
            pairs.append((target, value))
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            # What is entered is another object, as what is awaited is.
            pairs.append((target, ast.Await(value)))
        case ast.arg(arg=name, annotation=ast.expr() as annotation):
            named = ast.Name(name)
            pairs += [(named, each) for each in ast.walk(annotation)]
    known = {each for each, _ in pairs if isinstance(each, ast.Name | ast.Attribute)}
    texts: dict[ast.expr, str] = {each: ast.unparse(each) for each in known}
    for target, meaning in pairs:
        if isinstance(meaning, ast.expr) and target in texts:
            yield texts[target], meaning

"""Calls in a loop that may be of a client's read operation, with what is passed to them."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from ..definitions.shipped import from_groups, pollable_list, shipped_services, unread_shipped
from ..definitions.words import READS
from ..service.catalog import client_name, squashed
from .loop_source import OF_OBJECTS, LoopSource, method_verb
from .names import Function, SourceNames, names_in, source, spend, walk

Arguments = Mapping[str, ast.expr]
"""What the parameters of a function stand for."""

_PAGE: Final = re.compile(
    r"(?i)(next|starting|continuation|pagination|page)_?(page_?)?token|(next_?)?marker"
)
_LONGEST: Final = 100
"""Characters of an expression that takes the place of a name."""


class ReadCall(NamedTuple):
    """A call that may be of a client's read operation."""

    client: str
    """The client, or the resource object of boto3, as source."""
    services: frozenset[str]
    """The services that the client may be of; empty if the file does not tell."""
    method: str
    parameters: tuple[str, ...]
    is_of_items: bool = False
    """Whether each pass may ask for another resource, or asks for another page."""
    resource: str | None = None
    """The class of a resource object, such as `Instance`; what made it is in `parameters`."""


def may_read(method: str, *, is_client: bool) -> bool:
    """Return whether a method may be one of a client, or of a resource object, that reads."""
    if method in ("get_waiter", *OF_OBJECTS):
        return is_client
    return method_verb(method) in READS and (is_client or squashed(method) in services_by_method())


def reads(names: SourceNames, node: ast.AST) -> bool:
    """Return whether a node calls a method that may read, or has a member of a resource object."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]):
            return may_read(method, is_client=bool(names.services(owner)))
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, ctx=ast.Load()):
            return names.resource(owner)[0] is not None
    return False


def reads_in(names: SourceNames, node: ast.AST, depth: int = 4) -> bool:
    """Return whether a node, or a function of the file that it calls, may read something."""
    for each in walk(node):
        function = names.called(each) or names.property_of(each) if depth else None
        if function is not None and function not in names.reading:
            names.reading[function] = False  # if it calls itself
            names.reading[function] = reads_in(names, function, depth - 1)
        if reads(names, each) or (function is not None and names.reading[function]):
            return True
    return False


def read_call(
    loop: LoopSource, call: ast.Call, given: Arguments, stable: frozenset[str] = frozenset()
) -> ReadCall | None:
    """Return the read operation that a node may call; None if it is none.

    Args:
        loop: the loop.
        call: the node.
        given: what names stand for.
        stable: names that the loop assigns and that stand for the same in each pass.
    """
    names = loop.names
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]):
            pass
        case _:
            return None
    resource, made_of = names.resource(owner) if method in OF_OBJECTS else (None, [])
    if resource is None and (method in OF_OBJECTS or not reads(names, call)):
        return None
    keywords = [ast.keyword("", each) for each in made_of] or call.keywords
    found = client_call(loop, owner, method, call, keywords, given, stable)
    # A branch of a function that this call of it does not take.
    is_absent = any(each.endswith("=None") for each in found.parameters)
    if is_absent or found.client in ("self", "cls"):
        return None
    return found._replace(resource=resource, method="load" if resource else method)


def client_call(
    loop: LoopSource,
    client: ast.expr,
    method: str,
    call: ast.Call,
    keywords: list[ast.keyword],
    given: Arguments = {},  # noqa: B006 - nothing writes it
    stable: frozenset[str] = frozenset(),
) -> ReadCall:
    """Return the call of a client's method."""
    names = loop.names
    given = {**loop.constants, **given}
    named = replaced(client, given)
    keywords = [each for each in keywords if each.arg != "aws_retry"]  # of Ansible
    values = [ast.keyword(each.arg, replaced(each.value, given)) for each in keywords]
    scope = names.scopes(call)
    is_outside = scope != names.scopes(loop.node)
    inner = names.bound(scope[-1]).keys() if scope and is_outside else set()
    # What only the function knows that makes the call.
    hidden = [each for each in names_in(client, *keywords) - given.keys() if each in inner]
    return ReadCall(
        client=source(named),
        services=names.services(client) or names.services(named),
        method=method,
        parameters=tuple(source(each).removeprefix("=") for each in values),
        is_of_items=bool(hidden or names_in(*values) & loop.assigned - stable)
        or any(_PAGE.fullmatch(each.arg or "") for each in keywords),
    )


def replaced(node: ast.expr, given: Arguments) -> ast.expr:
    """Return an expression with arguments in the place of parameters."""

    class Replace(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            value = given.get(node.id, node)
            source(value)  # What is put in more than once counts each time.
            return value

    if not names_in(node) & given.keys():
        return node
    spend(20 * len(walk(node)))
    return cast("ast.expr", Replace().visit(copy.deepcopy(node)))


def arguments_of(
    names: SourceNames, function: Function | ast.Lambda, call: ast.Call, given: Arguments
) -> Arguments:
    """Return what the parameters and the names of a function stand for in one call of it."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    known = [each.arg for each in parameters if each.arg not in ("self", "cls")]
    passed = [*zip(known, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    defaults = zip(reversed(known), reversed(function.args.defaults), strict=False)
    more = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    found = dict(defaults) | {each.arg: value for each, value in more if value is not None}
    found |= {name: replaced(value, given) for name, value in passed if name is not None}
    for name, values in names.bound(function).items():
        # Long expressions would grow with each name.
        is_one = len(values) == 1 and not isinstance(values[0], ast.Await) and name not in known
        if is_one and len(source(values[0])) < _LONGEST:
            found.setdefault(name, replaced(values[0], found))
    return found


@functools.cache
def services_by_method() -> Mapping[str, frozenset[str]]:
    """Return the services that have an operation that reads, by the letters of its method."""
    known = pollable_list()
    names = [(each, from_groups(text)) for each, text in known.allowed.items()]
    for group in (known.refused, known.private):
        names += [(each, frozenset(reasons)) for each, reasons in group.items()]
    shipped = ((each, unread_shipped(each).values()) for each in shipped_services())
    names += [(each, frozenset(w.operation for w in waiters)) for each, waiters in shipped]
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for service_id, operations in names:
        for name in operations:
            found[name.lower()] |= {client_name(service_id)}
    return found

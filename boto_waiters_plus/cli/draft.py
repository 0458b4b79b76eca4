"""`boto-wait draft`: a definition of a waiter that is not shipped, from the model's states.

Which state is a success and which is a failure is guessed from their names. Every guess is in the
documentation of the waiter, for the reader to confirm.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jmespath
from botocore.model import ListShape, OperationModel, Shape, StringShape, StructureShape
from botocore.session import Session

from ..definitions.operation_names import verb_of, words_of
from ..definitions.services import aws_namespace
from ..definitions.smithy import WAITABLE
from ..definitions.state_words import SortedStates, is_underway, sort_states, state_words
from ..engine.redaction import printable
from ..service.made_waiter import waiter_of_states
from ..validation import Severity, check
from .client_options import service_model
from .completion import complete_with
from .exit_codes import UsageError
from .service_lookup import SERVICE_HELP, operation_named, operations_of, service_names, waiters_of
from .text import json_text, refused

TAG = "draft"

MOST_MEMBERS = 4
"""The members of the longest path that is looked for."""

STATE_NAMES = ("status", "state", "statuscode", "lifecycle", "phase", "progress")
"""The ends of the names of members that hold states, in lower case."""


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "draft",
        description="Print a definition that waits for a state of a resource, from the states in "
        "botocore's model: redirect it to a file, confirm the guesses in its documentation, and "
        "use it by `boto-wait --definitions FILE` or `install(definitions=FILE)`. What "
        "`boto-wait check` says about it is printed on stderr.",
    )
    service = parser.add_argument("service", metavar="SERVICE", help=SERVICE_HELP)
    complete_with(service, lambda _: service_names())
    operation = parser.add_argument("operation", metavar="OPERATION", help="describe-services")
    complete_with(operation, lambda given: operations_of(service_model(Session(), given.service)))
    parser.add_argument("--path", metavar="EXPRESSION", help="JMESPath to the state")
    parser.add_argument("--success", nargs="+", metavar="STATE", help="instead of a guess")
    parser.add_argument("--failure", nargs="+", metavar="STATE", help="instead of a guess")
    parser.add_argument("--name", help="name of the waiter, such as JobDone")


def run(arguments: argparse.Namespace) -> int:
    """Print the draft; return the exit code."""
    service = service_model(Session(), arguments.service)
    operation = operation_named(service, arguments.operation)
    paths = state_paths(operation)
    path = arguments.path or next(iter(paths), None)
    if path is None:
        raise UsageError(f"{operation.name} has no member with a state: give --path and --success")
    others = [each for each in paths if each != path]
    if arguments.path is None and others:
        print(f"boto-wait draft: other states: --path {', '.join(others)}", file=sys.stderr)
    values = states_at(operation, path)
    states = sort_states(values, arguments.success or (), arguments.failure or ())
    if not states.success:
        known = ", ".join(values) or "the model has no enumeration there"
        raise UsageError(f"cannot guess which state of {path} is a success ({known}): --success")
    names = [w.name for w in waiters_of(arguments.service) if w.operation == operation.name]
    if names:
        print(f"boto-wait draft: {operation.name} has {', '.join(names)} already", file=sys.stderr)
    guessed = not (arguments.success and arguments.failure)
    document = draft(operation, path, states, name=arguments.name, guessed=guessed)
    for event in check(document):
        if event.severity >= Severity.WARNING:
            print(f"boto-wait draft: {printable(str(event))}", file=sys.stderr)
    print(json_text(document, indent=2))
    return 0


def draft(
    operation: OperationModel,
    path: str,
    states: SortedStates,
    *,
    name: str | None = None,
    guessed: bool = True,
) -> dict[str, Any]:
    """Return a document with a waiter for the states at a path.

    Args:
        operation: the operation to poll.
        path: the expression for the state in its response.
        states: the states.
        name: the name of the waiter; by default made from operation and success.
        guessed: whether the states were sorted by their names.

    Raises:
        UsageError: the path or the name is malformed.
    """
    with refused(ValueError):
        waiter = waiter_of_states(operation, path, states, name or _name(operation, states))
    waiter = replace(waiter, tags=(TAG,))
    body = {"documentation": _documentation(states, guessed=guessed), **waiter.to_json()}
    shape = f"{aws_namespace(operation.service_model.service_id)}#{operation.name}"
    traits = {WAITABLE: {waiter.name: body}}
    return {"smithy": "2.0", "shapes": {shape: {"type": "apply", "traits": traits}}}


def state_paths(operation: OperationModel) -> list[str]:
    """Return the expressions for members of the response that hold states, the best first.

    A member holds states if its values are enumerated and one of them is on its way to another,
    or if it is named like a state.
    """
    found = []
    for names, shape in strings(operation.output_shape, (), frozenset()):
        if not shape.enum:
            continue
        is_named = names[-1].removesuffix("[]").lower().endswith(STATE_NAMES)
        has_process = any(is_underway(state_words(value)) for value in shape.enum)
        if is_named or has_process:
            found.append((not (is_named and has_process), not has_process, len(names), names))
    # The sort is stable: the model's order decides.
    return [".".join(names) for *_, names in sorted(found, key=lambda each: each[:3])]


def states_at(operation: OperationModel, path: str) -> tuple[str, ...]:
    """Return the states that the model has at a path; none if it has no enumeration there."""
    for names, shape in strings(operation.output_shape, (), frozenset()):
        if ".".join(names).replace("[]", "") == _plain(path):
            return tuple(shape.enum)
    return ()


def strings(
    shape: Shape | None, names: tuple[str, ...], seen: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], StringShape]]:
    """Yield the strings of a shape with their paths."""
    if isinstance(shape, StringShape):
        if names:
            yield names, shape
    elif isinstance(shape, ListShape):
        if names:
            yield from strings(shape.member, (*names[:-1], f"{names[-1]}[]"), seen)
    elif isinstance(shape, StructureShape) and shape.name not in seen:
        for name, member in shape.members.items() if len(names) < MOST_MEMBERS else ():
            yield from strings(member, (*names, name), seen | {shape.name})


def _plain(path: str) -> str:
    """Return the members of a path, joined by dots."""
    try:
        tree = jmespath.compile(path).parsed
    except ValueError as error:
        problem = str(error).splitlines()[0]
        raise UsageError(f"--path is not a JMESPath expression: {problem}") from None
    return ".".join(_fields(tree))


def _fields(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if node["type"] == "field":
            yield node["value"]
        for child in node["children"]:
            yield from _fields(child)


def _name(operation: OperationModel, states: SortedStates) -> str:
    noun = operation.name.replace(verb_of(operation.name), "", 1)
    goal = "".join(word.capitalize() for word in words_of(states.success[0]))
    return f"{noun or operation.name}{goal}"


def _documentation(states: SortedStates, *, guessed: bool) -> str:
    text = states.in_words()
    if not guessed:
        return f"{text[0].upper()}{text[1:]}."
    return f"DRAFT: the states were sorted by their names. Confirm each of them. {text}."

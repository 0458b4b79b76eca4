"""The rules of the traits `boto.waiters#token`, `#tokenLifetime` and `#produces`.

| rule | severity | id |
|---|---|---|
| the trait has the form that `data/traits.json` defines | ERROR | `Token.Form`, \
`TokenLifetime.Form`, `Produces.Form` |
| it is on an operation | ERROR | `Token.Target`, `TokenLifetime.Target`, `Produces.Target` |
| `path` leads from member to member to a string | ERROR | `Token.Path` |
| the model itself does not mark a token on the operation | WARNING | `Token.Marked` |
| the service has a waiter of each name | ERROR | `Produces.Waiter` |
| each key is a parameter of the waiter, and none that is required is missing | ERROR | \
`Produces.Parameter` |
| each expression is free of problems on the operation's input and output | as found | \
`Produces.Expression` |
| its value is of the type that the parameter takes | ERROR | `Produces.Type` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from botocore import xform_name
from botocore.model import ListShape, Shape

from ..aws.service_waiters import ServiceWaiters
from ..definitions.parsing import as_mapping
from .events import Finding, Severity, ValidationEvent
from .expressions import ExpressionSyntaxError, parse
from .samples import sample
from .shapes import OperationShapes, is_string, members_of
from .type_checker import lint
from .units import AppliedTrait

_JSON_TYPES: Final = {
    "string": "string",
    "character": "string",
    "list": "array",
    "structure": "object",
    "map": "object",
    "boolean": "boolean",
}


def check_token(trait: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check where an operation's unmarked token is."""
    value = as_mapping(trait.value)
    path: Any = value.get("path")
    problem = None
    if not _is_path(path) or value.keys() != {"path", "evidence"} or not value["evidence"]:
        problem = "it must be an object with `path`, a list of member names, and `evidence`, a text"
    return trait.events("Token", problem, lambda operation: _token(operation, path))


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, str) for x in value)


def _token(operation: OperationShapes, path: list[str]) -> Iterator[Finding]:
    shape: Shape | None = operation.input
    for name in path:
        shape = members_of(shape).get(name)
    if not is_string(shape):
        text = f"the input has no string `{'.'.join(path)}`"
        yield Finding(Severity.ERROR, "Path", text)
    for name, member in members_of(operation.input).items():
        if member.metadata.get("idempotencyToken"):
            text = f"the model marks the token `{name}`: the trait is not read"
            yield Finding(Severity.WARNING, "Marked", text)


def check_lifetime(trait: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check for how long the service knows a token of an operation."""
    value = as_mapping(trait.value)
    seconds: Any = value.get("seconds")
    is_whole = isinstance(seconds, int) and not isinstance(seconds, bool) and seconds > 0
    problem = None
    if not is_whole or value.keys() != {"seconds", "evidence"} or not value["evidence"]:
        problem = "it must be an object with `seconds`, a whole number, and `evidence`, a text"
    return trait.events("TokenLifetime", problem, lambda _: ())


def check_produces(trait: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check where the parameters of the waiters that follow an operation come from."""

    def judge(operation: OperationShapes) -> Iterator[Finding]:
        if trait.model is None:
            return
        waiters = ServiceWaiters(trait.model, None, ())
        for name, paths in trait.value.items():
            bound_waiter = waiters.get(xform_name(name))
            if bound_waiter is None or bound_waiter.definition.name != name:
                text = f"the service has no waiter `{name}`"
                yield Finding(Severity.ERROR, "Waiter", text)
                continue
            taken = bound_waiter.operation.input_shape
            for each in [] if taken is None else taken.required_members:
                if each not in paths:
                    text = f"the waiter `{name}` needs `{each}`"
                    yield Finding(Severity.ERROR, "Parameter", text)
            yield from _parameters(operation, name, members_of(taken), paths)

    problem = "it must be an object of objects of expressions, by waiter and by its parameter"
    is_well_formed = _is_map_of_maps(trait.value)
    return trait.events("Produces", None if is_well_formed else problem, judge)


def _is_map_of_maps(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(paths, Mapping)
        and paths
        and all(isinstance(each, str) for each in paths.values())
        for paths in value.values()
    )


def _parameters(
    operation: OperationShapes, waiter: str, members: Mapping[str, Shape], paths: Mapping[str, str]
) -> Iterator[Finding]:
    document = {"input": sample(operation.input), "output": sample(operation.output)}
    for name, path in paths.items():
        if name not in members:
            text = f"the waiter `{waiter}` has no parameter `{name}`"
            yield Finding(Severity.ERROR, "Parameter", text)
            continue
        try:
            found = lint(parse(path), document)
        except ExpressionSyntaxError as error:
            yield Finding(Severity.ERROR, "Expression", f"`{path}`: {error}")
            continue
        for problem in found.problems:
            yield Finding(problem.severity, "Expression", f"`{path}`: {problem.message}")
        yield from _type_findings(members[name], path, document)


def _type_findings(taken: Shape, path: str, document: Any) -> Iterator[Finding]:
    """Compare the type of a value, and of a list's first element, with what is taken."""
    shapes: list[tuple[Shape, str]] = [(taken, path)]
    if isinstance(taken, ListShape):
        shapes.append((taken.member, f"({path})[0]"))
    for shape, expression in shapes:
        wanted = _JSON_TYPES.get(shape.type_name, "number")
        found = lint(parse(expression), document).return_type
        if found not in ("any", wanted):
            text = f"`{expression}` gives a `{found}`, not a `{wanted}`"
            yield Finding(Severity.ERROR, "Type", text)

"""The rules of the traits `boto.waiters#token`, `#tokenLifetime` and `#effect`.

| rule | severity | id |
|---|---|---|
| the trait has the form that `data/traits.json` defines | ERROR | `Token.Form`, \
`TokenLifetime.Form`, `Effect.Form` |
| it is on an operation | ERROR | `Token.Target`, `TokenLifetime.Target`, `Effect.Target` |
| `path` leads from member to member to a string | ERROR | `Token.Path` |
| the model itself does not mark a token on the operation | WARNING | `Token.Marked` |
| the service has the waiter, or the operation that is polled | ERROR | `Effect.Waiter` |
| each key is a parameter of what is polled, and none that is required is missing | ERROR | \
`Effect.Parameter` |
| each expression of a parameter is free of problems on the call | as found | `Effect.Expression` |
| its value is of the type that the parameter takes | ERROR | `Effect.Type` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from botocore import xform_name
from botocore.model import ListShape, Shape

from boto_waiters_plus.check.events import Finding, Severity, ValidationEvent
from boto_waiters_plus.check.expressions import ExpressionSyntaxError, parse
from boto_waiters_plus.check.samples import sample
from boto_waiters_plus.check.shapes import OperationShapes, is_string, members_of
from boto_waiters_plus.check.type_checker import lint
from boto_waiters_plus.check.units import AppliedTrait
from boto_waiters_plus.definitions.parsing import as_mapping
from boto_waiters_plus.service.service_waiters import ServiceWaiters

from .trait_events import trait_events

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
    return trait_events(trait, "Token", problem, lambda operation: _token(operation, path))


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
    return trait_events(trait, "TokenLifetime", problem, lambda _: ())


def check_effect(trait: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check where the parameters of what is polled after an operation come from."""

    def judge(operation: OperationShapes) -> Iterator[Finding]:
        if trait.model is None:
            return
        waiters = ServiceWaiters(trait.model, None, ())
        for effect, body in trait.value.items():
            name, polled = body.get("operation", body.get("waiter", effect)), None
            if "operation" not in body:
                bound_waiter = waiters.get(xform_name(name))
                if bound_waiter is not None and bound_waiter.definition.name == name:
                    polled = bound_waiter.operation
            elif name in trait.model.operation_names:
                polled = trait.model.operation_model(name)
            if polled is None:
                text = f"the service has no waiter and no operation `{name}`"
                yield Finding(Severity.ERROR, "Waiter", text)
                continue
            taken = polled.input_shape
            for each in [] if taken is None else taken.required_members:
                if each not in body["parameters"]:
                    text = f"`{name}` needs `{each}`"
                    yield Finding(Severity.ERROR, "Parameter", text)
            yield from _parameters(operation, name, members_of(taken), body["parameters"])

    problem = "it must be an object of effects with `parameters`, expressions by parameter"
    return trait_events(trait, "Effect", None if _are_effects(trait.value) else problem, judge)


def _are_effects(value: Any) -> bool:
    return bool(value) and all(
        isinstance(paths := as_mapping(body).get("parameters"), Mapping)
        and paths
        and all(isinstance(each, str) for each in paths.values())
        for body in as_mapping(value).values()
    )


def _parameters(
    operation: OperationShapes, waiter: str, members: Mapping[str, Shape], paths: Mapping[str, str]
) -> Iterator[Finding]:
    call = {"input": sample(operation.input), "output": sample(operation.output)}
    document = {"call": call}
    for name, path in paths.items():
        if name not in members:
            text = f"`{waiter}` has no parameter `{name}`"
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

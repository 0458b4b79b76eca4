"""Smithy JSON AST to definitions; refuses what the specification forbids.

The trait `smithy.waiters#waitable` is read on `operation` shapes and in `apply` statements.
Members that the specification does not know are ignored, as by Smithy's own loader, which only
warns about them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..engine.acceptors import Acceptor, OutputMatcher
from ..engine.model import (
    DEFAULT_MAX_DELAY,
    DEFAULT_MIN_DELAY,
    WAITER_NAME,
    WAITER_NAME_PROBLEM,
    WaiterDefinition,
)
from .parsing import (
    Place,
    as_mapping,
    parse_delay,
    parse_tags,
    parse_typed,
    read_acceptor,
    require_acceptor_rules,
    require_expression,
    require_mapping,
    require_success,
)

# --- the names of waiters are unique in the closure of a service (section "Waiter names") --------
# The loader and the checker share this rule. Names differ by more than case. One name may be
# defined several times, on one operation. Between places the nearer one wins.

UNIQUE_NAMES = "UniqueWaiterNames"
"""The id of the rule in Smithy's validator."""

RESOURCE_OPERATIONS = ("create", "put", "read", "update", "delete", "list")
"""The members of a resource that each name one operation."""


def conflicts(
    waiters: Iterable[WaiterDefinition],
) -> Iterator[tuple[WaiterDefinition, WaiterDefinition]]:
    """Yield the waiters of one service whose name is taken, each after the one that took it."""
    taken: dict[str, WaiterDefinition] = {}
    for waiter in waiters:
        first = taken.setdefault(waiter.name.lower(), waiter)
        if (first.name, first.operation) != (waiter.name, waiter.operation):
            yield first, waiter


def refuse_conflicts(definitions: Iterable[WaiterDefinition]) -> None:
    """Refuse waiters of one service whose names conflict."""
    for first, other in conflicts(definitions):
        where = "" if first.source == other.source else f" in {first.source}"
        problem = f"name already taken by {first.name} of {first.operation}{where} "
        problem += "(names must differ by more than case)"
        raise Place(other.source, other.name).error(problem, UNIQUE_NAMES)


def closures(shapes: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the operations of each service of a Smithy model, those of its resources included."""
    # A broken model, whose ids need not be strings, is refused elsewhere.
    named = (name for name, shape in shapes.items() if as_mapping(shape).get("type") == "service")
    names = sorted(name for name in named if isinstance(name, str))
    return {name: _operations_of(name, shapes) for name in names}


def services_by_operation(shapes: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the services in whose closures each operation is."""
    services: dict[str, list[str]] = {}
    for service, operations in closures(shapes).items():
        for operation in operations:
            services.setdefault(operation, []).append(service)
    return services


def _operations_of(service: str, shapes: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    visited: set[str] = set()
    waiting = [service]
    while waiting:
        shape_id = waiting.pop()
        if shape_id not in visited:
            visited.add(shape_id)
            shape = as_mapping(shapes.get(shape_id))
            found.update(targets_of([shape.get(member) for member in RESOURCE_OPERATIONS]))
            for member in ("operations", "collectionOperations"):
                found.update(targets_of(shape.get(member)))
            waiting += targets_of(shape.get("resources"))
    return found


def targets_of(references: Any) -> list[str]:
    """Return the shape ids of a list of references; those that are malformed are left out."""
    if not isinstance(references, list):
        return []
    targets = [as_mapping(reference).get("target") for reference in references]
    return [target for target in targets if isinstance(target, str)]


# --- the trait in JSON AST -----------------------------------------------------------------------

WAITABLE = "smithy.waiters#waitable"
REPORTS = "boto.waiters#reports"
SERVICE_TRAIT = "aws.api#service"
OVERLAY = "boto.waiters#overlay"
OVERLAY_PROBLEM = (
    f"{OVERLAY} changes no waiter: write a definition of the same name, or give retry_errors_for"
)
AWS_NAMESPACE = "com.amazonaws."
UNIT = "smithy.api#Unit"

_SHAPE_ID = r"[A-Za-z_][\w.]*#[A-Za-z_]\w*\Z"


def parse_model(
    model: Mapping[str, Any], *, source: str, service: str | None = None
) -> list[WaiterDefinition]:
    """Parse the waiters of a Smithy model in JSON AST form.

    Args:
        model: the model; in each of its services, the names of waiters must differ by more than
            case.
        source: the file that error messages name.
        service: the service, if neither the model nor an AWS namespace names it.

    Raises:
        WaiterDefinitionError: the model breaks a rule of the specification.
    """
    place = Place(source)
    shapes = require_mapping(model.get("shapes", {}), "shapes", place)
    definitions: list[WaiterDefinition] = []
    by_service: dict[str, list[WaiterDefinition]] = {}
    services = services_by_operation(shapes)
    for shape_id, service_id, bodies in _waitable(shapes, place, service):
        namespace, _, operation = shape_id.partition("#")
        shape = shapes[shape_id]
        reports = require_mapping(shape["traits"].get(REPORTS, {}), REPORTS, place)
        waiters = []
        for name, body in bodies.items():
            definition = parse_waiter(
                name, body, operation=operation, source=source, service=service_id
            )
            in_waiter = place.in_waiter(name)
            definition = replace(definition, reports=read_reports(reports, name, in_waiter))
            if shape.get("type") == "operation":
                _check_operation(definition, shape, shapes, in_waiter)
            waiters.append(definition)
        definitions += waiters
        for name in services.get(shape_id) or [service_id or namespace]:
            by_service.setdefault(name, []).extend(waiters)
    for group in by_service.values():
        refuse_conflicts(group)
    return definitions


def parse_waiter(
    name: str, body: Any, *, operation: str, source: str, service: str | None = None
) -> WaiterDefinition:
    """Parse one waiter of a `waitable` trait.

    Raises:
        WaiterDefinitionError: the waiter breaks a rule of the specification.
    """
    place = Place(source, name)
    definition = read_waiter(name, body, place, operation=operation, service=service)
    for index, acceptor in enumerate(definition.acceptors):
        require_acceptor_rules(acceptor, place.in_acceptor(index))
    require_success(definition.acceptors, place)
    if definition.min_delay > definition.max_delay:
        raise place.error(
            f"minDelay ({definition.min_delay}) is more than maxDelay ({definition.max_delay})"
        )
    return definition


def read_waiter(
    name: str, body: Any, place: Place, *, operation: str, service: str | None = None
) -> WaiterDefinition:
    """Parse the form of one waiter; `parse_waiter` checks its values too."""
    place.attempt(_require_name, name)
    waiter = require_mapping(body, "a waiter", place)
    return WaiterDefinition(
        name=name,
        operation=operation,
        acceptors=place.attempt(read_acceptors, waiter),
        min_delay=place.attempt(parse_delay, waiter, "minDelay", DEFAULT_MIN_DELAY),
        max_delay=place.attempt(parse_delay, waiter, "maxDelay", DEFAULT_MAX_DELAY),
        documentation=place.attempt(parse_typed, waiter, documentation_in(waiter), str, default=""),
        deprecated=place.attempt(parse_typed, waiter, "deprecated", bool, default=False),
        tags=place.attempt(parse_tags, waiter.get("tags", [])),
        service=service,
        source=place.source,
    )


def reports_of(trait: Mapping[str, Any], waiter: str) -> tuple[tuple[str, str], ...]:
    """Return the words that a waiter reports, each with its path; `*` stands for any waiter."""
    return tuple(trait.get(waiter, trait.get("*", {})).items())


def read_reports(
    trait: Mapping[str, Any], waiter: str, place: Place
) -> tuple[tuple[str, str], ...]:
    """Parse what a waiter reports; see `reports_of`."""
    for words in trait.values():
        require_mapping(words, REPORTS, place)
    found = reports_of(trait, waiter)
    for word, path in found:
        if not word:
            raise place.error(f"a word of {REPORTS} is empty")
        require_expression(path, place, word)
    return found


def documentation_in(waiter: Mapping[str, Any]) -> str:
    """Return the name of the member that documents a waiter."""
    # The specification's own examples have a `description`.
    is_described = "description" in waiter and "documentation" not in waiter
    return "description" if is_described else "documentation"


def _require_name(name: Any, place: Place) -> None:
    if not isinstance(name, str) or not re.match(WAITER_NAME, name):
        raise place.error(WAITER_NAME_PROBLEM, "TraitValue")


def read_acceptors(
    waiter: Mapping[str, Any], place: Place, read: Callable[..., Acceptor] = read_acceptor
) -> tuple[Acceptor, ...]:
    """Parse the acceptors of a waiter, each by a function of its body and `place`."""
    acceptors = waiter.get("acceptors")
    if not isinstance(acceptors, list) or not acceptors:
        rule = "TraitValue" if acceptors == [] else "Model"
        raise place.error("acceptors must be a list of at least one acceptor", rule)
    return tuple(
        place.in_acceptor(index).attempt(read, acceptor) for index, acceptor in enumerate(acceptors)
    )


def _waitable(
    shapes: Mapping[str, Any], place: Place, service: str | None
) -> Iterator[tuple[str, str | None, Mapping[str, Any]]]:
    """Yield the shape id of each operation with waiters, its service, and its trait.

    Raises:
        WaiterDefinitionError: another shape has the trait, it has no waiter, or an overlay exists.
    """
    sdk_id_of = _sdk_ids(shapes)
    for shape_id, body in shapes.items():
        if not isinstance(shape_id, str):
            raise place.error("the id of a shape must be a string")
        shape = require_mapping(body, f"shape {shape_id}", place)
        traits = require_mapping(shape.get("traits", {}), f"the traits of {shape_id}", place)
        for waiter in as_mapping(traits.get(OVERLAY)):
            raise place.in_waiter(waiter).error(OVERLAY_PROBLEM)
        if WAITABLE not in traits:
            continue
        if shape.get("type") not in ("operation", "apply"):
            raise place.error(f"{WAITABLE} on {shape_id}, which is not an operation")
        if not re.match(_SHAPE_ID, shape_id):
            raise place.error(f"{shape_id!r} is not an absolute shape id")
        waiters = require_mapping(traits[WAITABLE], f"{WAITABLE} of {shape_id}", place)
        if not waiters:
            raise place.error(f"{WAITABLE} of {shape_id} has no waiter")
        namespace = shape_id.partition("#")[0]
        is_aws = namespace.startswith(AWS_NAMESPACE)
        by_namespace = namespace.removeprefix(AWS_NAMESPACE) if is_aws else None
        yield shape_id, sdk_id_of(shape_id) or by_namespace or service, waiters


def _sdk_ids(shapes: Mapping[str, Any]) -> Callable[[str], str | None]:
    """Return a function that gives the SDK id of an operation's service; None if not known.

    If a model has one id, it holds for all operations; of several, each holds for those in the
    closure of its service.
    """
    ids: dict[str, str] = {}
    for shape_id, shape in shapes.items():
        traits = as_mapping(as_mapping(shape).get("traits"))
        sdk_id = as_mapping(traits.get(SERVICE_TRAIT)).get("sdkId")
        if isinstance(sdk_id, str):
            ids[shape_id] = sdk_id
    services = services_by_operation(shapes) if len(ids) > 1 else {}

    def sdk_id_of(operation: str) -> str | None:
        found = [ids[service] for service in services.get(operation, ids) if service in ids]
        return found[0] if len(found) == 1 else None

    return sdk_id_of


def _check_operation(
    definition: WaiterDefinition, shape: Mapping[str, Any], shapes: Mapping[str, Any], place: Place
) -> None:
    """Check the rules that need the operation: an output to match on, and no event stream."""
    targets = {member: _target(shape.get(member)) for member in ("input", "output")}
    if targets["output"] == UNIT:
        for index, acceptor in enumerate(definition.acceptors):
            if isinstance(acceptor.matcher, OutputMatcher):
                raise place.in_acceptor(index).error(
                    "an output matcher on an operation with no output"
                )
    for target in targets.values():
        members = _shape(shapes, target, place).get("members", {})
        for member in require_mapping(members, f"the members of {target}", place).values():
            of_member = _shape(shapes, _target(member), place)
            traits = require_mapping(of_member.get("traits", {}), f"the traits of {target}", place)
            if of_member.get("type") == "union" and "smithy.api#streaming" in traits:
                raise place.error("a waiter on an operation that uses an event stream")


def _shape(shapes: Mapping[str, Any], shape_id: str, place: Place) -> Mapping[str, Any]:
    """Return the shape with this id; an empty one if the model does not have it."""
    return require_mapping(shapes.get(shape_id, {}), f"shape {shape_id}", place)


def _target(member: Any) -> str:
    target = member.get("target") if isinstance(member, Mapping) else None
    return target if isinstance(target, str) else UNIT


# --- the spellings of a service's name -----------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def service_key(name: str) -> str:
    """Return a service's name without the characters in which its spellings differ.

    `CloudWatch Logs`, `cloudwatch-logs` and `cloudwatchlogs` have the same key.
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def aws_namespace(service_id: str) -> str:
    """Return the Smithy namespace of an AWS service: `com.amazonaws.cloudwatchlogs`."""
    return AWS_NAMESPACE + service_key(service_id)


# --- a waiter of a file, before it is parsed -----------------------------------------------------


class UnreadWaiter(NamedTuple):
    """A waiter that is parsed when it is asked for."""

    name: str
    operation: str
    service: str | None
    source: str
    body: Any
    parse: Callable[..., WaiterDefinition]

    def read(self) -> WaiterDefinition:
        """Parse the waiter."""
        name, operation, service, source, body, parse = self
        return parse(name, body, operation=operation, source=source, service=service)

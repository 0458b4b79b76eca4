"""Smithy JSON AST to definitions; refuses what the specification forbids.

The trait `smithy.waiters#waitable` is read on `operation` shapes and in `apply` statements.
Members that the specification does not know are ignored, as by Smithy's own loader, which only
warns about them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

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
    require_mapping,
    require_success,
)
from .unique_names import refuse_conflicts, services_by_operation

WAITABLE = "smithy.waiters#waitable"
SERVICE_TRAIT = "aws.api#service"
AWS_NAMESPACE = "com.amazonaws."
UNIT = "smithy.api#Unit"

_SHAPE_ID = re.compile(r"[A-Za-z_][\w.]*#[A-Za-z_]\w*\Z")


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
        waiters = []
        for name, body in bodies.items():
            definition = parse_waiter(
                name, body, operation=operation, source=source, service=service_id
            )
            if shape.get("type") == "operation":
                _check_operation(definition, shape, shapes, place.in_waiter(name))
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
        documentation=place.attempt(parse_typed, waiter, documentation_in(waiter), str),
        deprecated=place.attempt(parse_typed, waiter, "deprecated", bool),
        tags=place.attempt(parse_tags, waiter.get("tags", [])),
        service=service,
        source=place.source,
    )


def documentation_in(waiter: Mapping[str, Any]) -> str:
    """Return the name of the member that documents a waiter."""
    # The specification's own examples have a `description`.
    is_described = "description" in waiter and "documentation" not in waiter
    return "description" if is_described else "documentation"


def _require_name(name: Any, place: Place) -> None:
    if not isinstance(name, str) or not WAITER_NAME.match(name):
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
        WaiterDefinitionError: another shape has the trait, or the trait has no waiter.
    """
    sdk_id_of = _sdk_ids(shapes)
    for shape_id, body in shapes.items():
        if not isinstance(shape_id, str):
            raise place.error("the id of a shape must be a string")
        shape = require_mapping(body, f"shape {shape_id}", place)
        traits = require_mapping(shape.get("traits", {}), f"the traits of {shape_id}", place)
        if WAITABLE not in traits:
            continue
        if shape.get("type") not in ("operation", "apply"):
            raise place.error(f"{WAITABLE} on {shape_id}, which is not an operation")
        if not _SHAPE_ID.match(shape_id):
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

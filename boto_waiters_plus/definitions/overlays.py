"""Overlays: changes to a waiter that is defined elsewhere.

The trait `boto.waiters#overlay` is allowed wherever `smithy.waiters#waitable` is. For the name of a
waiter it holds acceptors to add before and after the waiter's own, and members to replace. An
overlay cannot remove an acceptor, but can put one with the same matcher before it, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..common.arguments import unknown
from ..common.definition_error import WaiterDefinitionError
from ..engine.acceptors import Acceptor
from ..engine.model import WaiterDefinition
from .parsing import (
    Place,
    parse_acceptor,
    parse_delay,
    parse_tags,
    parse_typed,
    require_mapping,
    require_method_name,
)
from .smithy import shapes_with

OVERLAY = "boto.waiters#overlay"

MEMBERS = ("prepend", "append", "minDelay", "maxDelay", "documentation", "deprecated", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiterOverlay:
    """Changes to one waiter of one operation. A member that is None changes nothing."""

    name: str
    operation: str
    prepend: tuple[Acceptor, ...] = ()
    append: tuple[Acceptor, ...] = ()
    min_delay: float | None = None
    max_delay: float | None = None
    documentation: str | None = None
    deprecated: bool | None = None
    tags: tuple[str, ...] | None = None
    service: str | None = None
    """The service, as in `WaiterDefinition.service`."""
    source: str = field(default="", compare=False)
    """The file (or kind of place) it was read from, for messages."""

    def __hash__(self) -> int:
        """Hash what identifies the overlay; hashing its acceptors would take longer."""
        return hash((self.service, self.operation, self.name))

    def applied_to(self, definition: WaiterDefinition) -> WaiterDefinition:
        """Return the changed waiter.

        Raises:
            WaiterDefinitionError: the waiter polls another operation, or its minDelay would be
                more than its maxDelay.
        """
        if definition.operation != self.operation:
            raise self.refuse(f"the waiter polls {definition.operation}, not {self.operation}")
        members = ("min_delay", "max_delay", "documentation", "deprecated", "tags")
        given = {name: getattr(self, name) for name in members if getattr(self, name) is not None}
        changed = replace(
            definition,
            acceptors=(*self.prepend, *definition.acceptors, *self.append),
            source=f"{definition.source}, changed by {self.source}",
            **given,
        )
        if changed.min_delay > changed.max_delay:
            raise self.refuse(
                f"minDelay ({changed.min_delay}) would be more than maxDelay ({changed.max_delay})"
            )
        return changed

    def refuse(self, problem: str) -> WaiterDefinitionError:
        """Return an error that names the file and the waiter."""
        return WaiterDefinitionError(f"{OVERLAY}: {problem}", source=self.source, waiter=self.name)


Layer = WaiterDefinition | WaiterOverlay
"""A definition of a waiter, or changes to one."""


def parse_overlays(
    model: Mapping[str, Any], *, source: str, service: str | None = None
) -> list[WaiterOverlay]:
    """Parse the overlays of a Smithy model in JSON AST form; see `smithy.parse_model`.

    Raises:
        WaiterDefinitionError: an overlay changes nothing, has an unknown member, or has a member
            that breaks a rule of the specification.
    """
    place = Place(source)
    shapes = require_mapping(model.get("shapes", {}), "shapes", place)
    return [
        _overlay(body, shape_id.partition("#")[2], service_id, place.in_waiter(name))
        for shape_id, service_id, bodies in shapes_with(OVERLAY, shapes, place, service)
        for name, body in bodies.items()
    ]


def _overlay(body: Any, operation: str, service: str | None, place: Place) -> WaiterOverlay:
    require_method_name(place.waiter, place)
    overlay = require_mapping(body, "an overlay", place)
    for member in overlay:
        # An unknown member of a Smithy trait may be new; in one of this package it is a mistake.
        if member not in MEMBERS:
            raise place.error(f"an overlay: {unknown(str(member)[:40], MEMBERS, 'member')}")
    if not overlay:
        raise place.error(f"an overlay has one of {', '.join(MEMBERS)}")

    def given(member: str, parse: Callable[..., Any], *options: Any) -> Any:
        return parse(overlay, member, *options, place=place) if member in overlay else None

    return WaiterOverlay(
        name=str(place.waiter),
        operation=operation,
        min_delay=given("minDelay", parse_delay, 0),
        max_delay=given("maxDelay", parse_delay, 0),
        tags=parse_tags(overlay["tags"], place) if "tags" in overlay else None,
        prepend=_acceptors(overlay, "prepend", place),
        append=_acceptors(overlay, "append", place),
        documentation=given("documentation", parse_typed, str),
        deprecated=given("deprecated", parse_typed, bool),
        service=service,
        source=place.source,
    )


def _acceptors(overlay: Mapping[str, Any], member: str, place: Place) -> tuple[Acceptor, ...]:
    acceptors = overlay.get(member, [])
    if not isinstance(acceptors, list):
        raise place.error(f"{member} must be a list of acceptors")
    return tuple(
        parse_acceptor(acceptor, place.in_acceptor(index))
        for index, acceptor in enumerate(acceptors)
    )

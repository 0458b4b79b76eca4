"""Units: traits that are checked together, with the operations they are on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.model import ServiceModel

from ..definitions.parsing import as_mapping
from ..definitions.smithy import AWS_NAMESPACE, OVERLAY, OVERLAY_PROBLEM, WAITABLE
from ..engine.model import WaiterDefinition
from .documents import Document, Target, as_note
from .events import Location, Severity, Suppression, ValidationEvent, of_metadata, of_trait
from .model import BotocoreService, OperationShapes, SmithyModel, service_by_namespace
from .waiter_rules import nearest


@dataclass(slots=True, kw_only=True)
class AppliedTrait:
    """One of the traits on a shape, or waiters that come in another form."""

    target: Target
    operation: OperationShapes | None
    """None if the shape is not an operation."""
    value: Any = None
    """The value of the trait, as it is written."""
    definitions: Sequence[WaiterDefinition] = ()
    """The waiters, once they are read."""
    newer: str | None = None
    """The newer botocore that the trait was written for, if the shapes are the installed one's."""
    model: ServiceModel | None = None
    """The service of botocore that the operation is of; None in a model of its own."""


@dataclass(slots=True)
class Unit:
    """What is checked together."""

    documents: list[Document] = field(default_factory=list)
    events: list[ValidationEvent] = field(default_factory=list)
    """The problems found while loading, and in the form of the waiters."""
    traits: defaultdict[str, list[AppliedTrait]] = field(default_factory=lambda: defaultdict(list))
    """The traits to check, by their ids."""
    suppressions: list[Suppression] = field(default_factory=list)
    services: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The operations of each service."""

    @property
    def is_readable(self) -> bool:
        """Whether all that was loaded has the right form and place."""
        return not any(event.severity is Severity.ERROR for event in self.events)

    def error(self, shape: str | None, message: str, location: Location | None = None) -> None:
        """Report that something cannot be loaded."""
        event = ValidationEvent(Severity.ERROR, "Model", shape, message, location)
        self.events.append(event)


def shapes_of(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the shapes and `apply` statements of a Smithy document by shape id."""
    for shape_id, shape in as_mapping(document.data.get("shapes")).items():
        if isinstance(shape_id, str):
            yield shape_id, as_mapping(shape)


class SmithyUnit:
    """Builds the unit of Smithy documents.

    Args:
        documents: the documents.
        service: the service of botocore that is meant, if the caller names it.
        newer: the newer botocore that the documents were written for.
    """

    def __init__(
        self, documents: list[Document], service: BotocoreService | None, newer: str | None
    ) -> None:
        self.unit = Unit(documents)
        self._service = service
        self._newer = newer
        self._shapes: dict[str, dict[str, Any]] = {}
        self._written: dict[str, Document] = {}
        for document in documents:
            self.unit.suppressions += of_metadata(document.data.get("metadata"))
            for shape_id, shape in shapes_of(document):
                if shape.get("type") != "apply":
                    self._define(document, shape_id, shape)
        for document in documents:
            for shape_id, shape in shapes_of(document):
                traits = as_mapping(shape.get("traits"))
                for waiter in as_mapping(traits.get(OVERLAY)):
                    location = document.locate(("shapes", shape_id, "traits", OVERLAY))
                    self.unit.error(shape_id, f"Waiter `{waiter}`: {OVERLAY_PROBLEM}", location)
                if shape_id in self._shapes and shape.get("type") == "apply":
                    self._apply(document, shape_id, traits)
                elif shape_id.partition("$")[0] not in self._shapes:
                    self._apply_to_botocore(document, shape_id, traits)
        self._add_traits(SmithyModel(self._shapes))

    def _define(self, document: Document, shape_id: str, shape: Mapping[str, Any]) -> None:
        if self._shapes.setdefault(shape_id, dict(shape)) != shape:
            text = f"Conflicting shape definition for `{shape_id}`"
            self.unit.error(shape_id, text, document.locate(("shapes", shape_id)))
        self._written.setdefault(shape_id, document)

    def _apply(self, document: Document, shape_id: str, traits: Mapping[str, Any]) -> None:
        """Apply traits to a shape of the model."""
        own = dict(as_mapping(self._shapes[shape_id].get("traits")))
        for trait, value in traits.items():
            if isinstance(value, list) and isinstance(own.get(trait), list):
                own[trait] = [*own[trait], *value]
            elif own.setdefault(trait, value) == value:
                if trait == WAITABLE:
                    self._written[shape_id] = document
            elif trait == WAITABLE:
                text = f"Conflicting `{WAITABLE}` trait found on shape `{shape_id}`"
                location = document.locate(("shapes", shape_id, "traits", WAITABLE))
                self.unit.error(shape_id, text, location)
        self._shapes[shape_id]["traits"] = own

    def _add_traits(self, model: SmithyModel) -> None:
        """Add the traits on shapes of the model."""
        for shape_id, shape in self._shapes.items():
            traits = model.traits(shape_id)
            self.unit.suppressions += of_trait(shape_id, traits)
            operation = model.operation(shape_id) if shape.get("type") == "operation" else None
            self._add(self._written[shape_id], shape_id, traits, operation)
        self.unit.services |= model.closures()
        served = set().union(*self.unit.services.values())
        for trait in self.unit.traits[WAITABLE]:
            if trait.target.shape not in served:
                namespace, _, _ = str(trait.target.shape).partition("#")
                self.unit.services[namespace].add(str(trait.target.shape))

    def _apply_to_botocore(
        self, document: Document, shape_id: str, traits: Mapping[str, Any]
    ) -> None:
        """Add traits on a shape of botocore."""
        unit = self.unit
        namespace, _, name = shape_id.partition("#")
        target = _target(document, shape_id, WAITABLE)
        service = self._service or service_by_namespace(namespace)
        if service is None:
            text = f"Trait applied to unknown shape `{shape_id}`"
            if namespace.startswith(AWS_NAMESPACE):
                service_id = namespace.removeprefix(AWS_NAMESPACE)
                text += f": botocore has no service with the id {service_id}"
                unit.events.append(target.event(Severity.NOTE, "WaiterUnknownOperation", text))
            else:
                unit.error(shape_id, text, document.locate(target.path))
            return
        unit.suppressions += of_trait(shape_id, traits)
        if name not in service.operation_names:
            if WAITABLE in traits:
                event = unknown_operation(target, name, service)
                unit.events.append(as_note(event, self._newer))
            return
        self._add(document, shape_id, traits, service.operation(name), service)
        if WAITABLE in traits:
            unit.services[service.shape].add(shape_id)

    def _add(
        self,
        document: Document,
        shape_id: str,
        traits: Mapping[str, Any],
        operation: OperationShapes | None,
        service: BotocoreService | None = None,
    ) -> None:
        for name, value in traits.items():
            applied = AppliedTrait(
                target=_target(document, shape_id, name),
                operation=operation,
                value=value,
                newer=self._newer if service else None,
                model=service.model if service else None,
            )
            self.unit.traits[name].append(applied)


def _target(document: Document, shape_id: str, trait: str) -> Target:
    return Target(shape_id, document, ("shapes", shape_id, "traits", trait))


def unknown_operation(target: Target, name: str, service: BotocoreService) -> ValidationEvent:
    """Return the event for an operation that the installed botocore lacks."""
    text = f"{service.name} has no operation {name}: its waiters are ignored"
    near = nearest(name, service.operation_names)
    if near is None:
        return target.event(Severity.NOTE, "WaiterUnknownOperation", text)
    text += f". Did you mean {near}?"
    return target.event(Severity.WARNING, "WaiterUnknownOperation", text)

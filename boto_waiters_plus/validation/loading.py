"""Traits to check, with the operations they are on, from documents and definitions.

A `Unit` is checked together: the documents that define shapes with those that apply traits to them,
or one document over botocore's shapes. As in Smithy, metadata hold for everything that is loaded
together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from botocore import xform_name
from botocore.model import ServiceModel

from ..aws.service_waiters import ServiceWaiters, operation_name
from ..definitions.coalescing import COALESCING
from ..definitions.files import load_definitions
from ..definitions.overlays import OVERLAY, parse_overlays
from ..definitions.smithy import AWS_NAMESPACE, WAITABLE, parse_model
from ..definitions.waiters2 import without_status
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from .botocore_services import (
    BotocoreService,
    service_by_any_name,
    service_by_name,
    service_by_namespace,
)
from .documents import Document, Target, files_below, location_of, read_document
from .events import Location, Severity, ValidationEvent
from .shapes import Operation
from .smithy_model import SmithyModel, as_mapping
from .suppressions import Suppression, of_metadata, of_trait
from .version_skew import as_note, newer_than_installed
from .waiter_rules import nearest
from .waiters2_rules import check_waiters2

Checkable = str | os.PathLike[str] | Mapping[str, Any] | WaiterDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedTrait:
    """The trait `waitable` or `coalescing` on a shape, or waiters that come in another form."""

    target: Target
    operation: Operation | None
    """None if the shape is no operation."""
    value: Any = None
    """The value of the trait, as it is written."""
    definitions: tuple[WaiterDefinition, ...] = ()
    """The waiters that come in another form."""
    newer: str | None = None
    """The newer botocore that the trait was written for, if the shapes are the installed one's."""


@dataclass(slots=True)
class Unit:
    """What is checked together."""

    documents: list[Document] = field(default_factory=list)
    events: list[ValidationEvent] = field(default_factory=list)
    """The problems found while loading."""
    waitable: list[AppliedTrait] = field(default_factory=list)
    coalescing: list[AppliedTrait] = field(default_factory=list)
    suppressions: list[Suppression] = field(default_factory=list)
    services: dict[str, set[str]] = field(default_factory=dict)
    """The operations of each service."""

    def error(self, shape: str | None, message: str, location: Location | None = None) -> None:
        """Report that something cannot be loaded."""
        event = ValidationEvent(Severity.ERROR, "Model", shape, message, location)
        self.events.append(event)


def load(
    model: Checkable | Iterable[Checkable], service: str | ServiceModel | None
) -> Iterator[Unit]:
    """Yield the units of a model.

    Raises:
        botocore.exceptions.UnknownServiceError: botocore has no service of this name.
    """
    given = service_by_name(service) if isinstance(service, str) else None
    if isinstance(service, ServiceModel):
        given = BotocoreService(service)
    is_one = isinstance(model, (str, os.PathLike, Mapping, WaiterDefinition))
    parts = _Parts()
    for part in [cast("Checkable", model)] if is_one else cast("Iterable[Checkable]", model):
        parts.add(part)
    yield parts.unreadable
    newer = newer_than_installed(document.data.get("metadata") for document in parts.documents)
    for documents in _models(parts.documents):
        yield _SmithyUnit(documents, given, newer).unit
    for name, definitions in parts.definitions.items():
        yield _definition_unit(name, definitions, given)


class _Parts:
    """What is to be checked: Smithy documents, and definitions in other forms by service."""

    def __init__(self) -> None:
        self.unreadable = Unit()
        self.documents: list[Document] = []
        self.definitions: dict[str | None, list[tuple[WaiterDefinition, Document | None]]] = {}

    def add(self, part: Checkable) -> None:
        """Add a document, a definition, a file or a folder."""
        if isinstance(part, WaiterDefinition):
            self._add_definition(part, None)
        elif isinstance(part, Mapping):
            self._add_document(Document(part))
        elif Path(part).is_dir():
            found = [self._add_file(file, is_named=False) for file in files_below(Path(part))]
            if not any(found):
                text, place = "no file in this folder has waiters", Location(os.fspath(part))
                event = ValidationEvent(Severity.WARNING, "WaiterNoDefinitions", None, text, place)
                self.unreadable.events.append(event)
        else:
            self._add_file(Path(part), is_named=True)

    def _add_file(self, file: Path, *, is_named: bool) -> bool:
        """Add a file; of the files in a folder, only those of waiters."""
        try:
            document = read_document(file)
        except WaiterDefinitionError as error:
            self.unreadable.error(None, error.problem, location_of(error))
            return True
        if not is_named and not {"smithy", "waiters"} & as_mapping(document.data).keys():
            return False
        self._add_document(document)
        return True

    def _add_document(self, document: Document) -> None:
        if isinstance(document.data, Mapping) and "smithy" in document.data:
            self.documents.append(document)
            return
        try:
            # The path of a file may name the service.
            definitions = load_definitions(document.source or document.data)
        except WaiterDefinitionError as error:
            path = () if error.waiter is None else ("waiters", error.waiter)
            steps = () if error.acceptor is None else ("acceptors", error.acceptor)
            self.unreadable.error(None, str(error), document.locate((*path, *steps)))
            return
        self.unreadable.events += check_waiters2(document)
        for definition in definitions:
            self._add_definition(definition, document)

    def _add_definition(self, definition: WaiterDefinition, document: Document | None) -> None:
        self.definitions.setdefault(definition.service, []).append((definition, document))


def _models(documents: list[Document]) -> Iterator[list[Document]]:
    """Yield the documents that are checked together."""
    defining = [
        document
        for document in documents
        if any(shape.get("type") != "apply" for _, shape in _shapes(document))
    ]
    names = {name for document in defining for name, _ in _shapes(document)}
    together = list(defining)
    for document in documents if defining else ():
        targets = [name.partition("$")[0] for name, _ in _shapes(document)]
        if document not in defining and names.issuperset(targets):
            together.append(document)
    if together:
        yield together
    yield from ([document] for document in documents if document not in together)


def _shapes(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for shape_id, shape in as_mapping(document.data.get("shapes")).items():
        if isinstance(shape_id, str):
            yield shape_id, as_mapping(shape)


class _SmithyUnit:
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
            for shape_id, shape in _shapes(document):
                if shape.get("type") != "apply":
                    self._define(document, shape_id, shape)
        for document in documents:
            for shape_id, shape in _shapes(document):
                traits = as_mapping(shape.get("traits"))
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
            for name, found in (
                (WAITABLE, self.unit.waitable),
                (COALESCING, self.unit.coalescing),
            ):
                if name in traits:
                    target = _target(self._written[shape_id], shape_id, name)
                    value = traits[name]
                    found.append(AppliedTrait(target=target, operation=operation, value=value))
        for service in model.services():
            self.unit.services[service] = model.operations_of(service)

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
            if WAITABLE in traits or OVERLAY in traits:
                event = _unknown_operation(target, name, service)
                unit.events.append(as_note(event, self._newer) if self._newer else event)
            return
        operation = service.operation(name)
        if COALESCING in traits:
            place, value = _target(document, shape_id, COALESCING), traits[COALESCING]
            unit.coalescing.append(
                AppliedTrait(target=place, operation=operation, value=value, newer=self._newer)
            )
        if OVERLAY in traits:
            self._add_overlays(document, operation, shape_id, traits[OVERLAY], service)
        if WAITABLE in traits:
            value = traits[WAITABLE]
            unit.waitable.append(
                AppliedTrait(target=target, operation=operation, value=value, newer=self._newer)
            )
            unit.services.setdefault(service.shape, set()).add(shape_id)

    def _add_overlays(
        self,
        document: Document,
        operation: Operation,
        shape_id: str,
        overlays: Any,
        service: BotocoreService,
    ) -> None:
        """Add the waiters of a client that overlays change."""
        target = _target(document, shape_id, OVERLAY)
        alone = {"shapes": {shape_id: {"type": "apply", "traits": {OVERLAY: overlays}}}}
        source = document.source or "dict"
        try:
            parsed = parse_overlays(alone, source=source, service=service.name)
            own = parse_model(document.data, source=source, service=service.name)
            found = ServiceWaiters(service.model, None, [*parsed, *own]).by_snake_name
        except WaiterDefinitionError as error:
            text = (
                error.problem
                if error.acceptor is not None
                else f"Waiter `{error.waiter}`: {error.problem}"
            )
            waiter, acceptor = error.waiter, error.acceptor
            event = target.event(Severity.ERROR, "Model", text, waiter=waiter, acceptor=acceptor)
            self.unit.events.append(event)
            return
        changed = tuple(found[xform_name(overlay.name)].definition for overlay in parsed)
        self.unit.waitable.append(
            AppliedTrait(target=target, operation=operation, definitions=changed)
        )


def _target(document: Document, shape_id: str, trait: str) -> Target:
    return Target(shape_id, document, ("shapes", shape_id, "traits", trait))


def _unknown_operation(target: Target, name: str, service: BotocoreService) -> ValidationEvent:
    """Return the event for an operation that the installed botocore lacks."""
    text = f"{service.name} has no operation {name}: its waiters are ignored"
    near = nearest(name, service.operation_names)
    if near is None:
        return target.event(Severity.NOTE, "WaiterUnknownOperation", text)
    text += f". Did you mean {near}?"
    return target.event(Severity.WARNING, "WaiterUnknownOperation", text)


def _definition_unit(
    name: str | None,
    definitions: list[tuple[WaiterDefinition, Document | None]],
    given: BotocoreService | None,
) -> Unit:
    """Return the unit of one service's definitions in other forms than Smithy's."""
    unit = Unit()
    service = given or service_by_any_name(name)
    groups: dict[tuple[str, Document | None], list[WaiterDefinition]] = {}
    for definition, document in definitions:
        groups.setdefault((definition.operation, document), []).append(definition)
    for (operation, document), group in groups.items():
        if service is None:
            problem = (
                f"botocore has no service {name!r}"
                if name
                else "the service is not known; pass `service`"
            )
            for definition in group:
                location = document.locate(("waiters", definition.name)) if document else None
                unit.error(None, f"Waiter `{definition.name}`: {problem}", location)
            continue
        known = operation_name(operation, service.operation_names)
        target = Target(f"{service.namespace}#{known or operation}", document, ("waiters",))
        if known is None:
            unit.events.append(_unknown_operation(target, operation, service))
            continue
        of_botocore = service.operation(known)
        resolved = tuple(_without_status(definition, of_botocore) for definition in group)
        unit.waitable.append(
            AppliedTrait(target=target, operation=of_botocore, definitions=resolved)
        )
        unit.services.setdefault(service.shape, set()).add(target.shape)
    return unit


def _without_status(definition: WaiterDefinition, operation: Operation) -> WaiterDefinition:
    return without_status(
        definition,
        is_head=operation.http_method == "HEAD",
        errors_with_status=lambda status: [
            error.name for error in operation.errors if error.status == status
        ],
        keep_others=True,
    )

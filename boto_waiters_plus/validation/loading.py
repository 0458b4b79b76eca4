"""From what somebody wants checked to operations with waiters, each with its shapes.

One unit holds the documents that define shapes, together with those that only apply traits to
them; each other document is a unit for itself, over botocore's shapes. Metadata are, as in Smithy,
those of everything that is loaded together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.model import ServiceModel

from ..aws.service_waiters import ServiceWaiters, operation_name
from ..definitions.coalescing import COALESCING
from ..definitions.files import load_definitions
from ..definitions.overlays import OVERLAY, parse_overlays
from ..definitions.smithy import AWS_NAMESPACE, WAITABLE, parse_model
from ..definitions.waiters2 import without_status
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from .botocore_shapes import BotocoreModel, service_by_name, service_by_namespace
from .documents import Document, UnreadableDocumentError, read_documents
from .events import Locate, Location, Severity, Target, ValidationEvent, nowhere
from .shapes import Operation
from .smithy_model import SmithyModel, as_mapping
from .suppressions import Suppression, of_metadata, of_trait
from .version_skew import as_note, newer_than_installed
from .waiter_rules import nearest
from .waiters2_rules import slips

Checkable = str | os.PathLike[str] | Mapping[str, Any] | WaiterDefinition
_VERSIONS = ("1", "1.0", "2", "2.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A shape with waiters."""

    target: Target
    operation: Operation | None
    """None if the shape is no operation."""
    waitable: Any = None
    """The value of its trait, as it was written."""
    definitions: tuple[WaiterDefinition, ...] = ()
    """Its waiters, where they come from another form than Smithy's."""
    newer: str | None = None
    """The botocore that they were written from, if the shapes are those of an older one."""


@dataclass(frozen=True, slots=True)
class Coalesced:
    """A shape with a trait that says how its calls can be shared."""

    target: Target
    operation: Operation | None
    """None if the shape is no operation."""
    trait: Any
    newer: str | None = None
    """As of a `Subject`."""


@dataclass(slots=True)
class Unit:
    """What is checked together."""

    events: list[ValidationEvent] = field(default_factory=list)
    """What went wrong on the way here."""
    subjects: list[Subject] = field(default_factory=list)
    coalesced: list[Coalesced] = field(default_factory=list)
    suppressions: list[Suppression] = field(default_factory=list)
    closures: dict[str, set[str]] = field(default_factory=dict)
    """The operations of each service."""

    def fail(self, shape: str | None, message: str, location: Location | None = None) -> None:
        """Say that something cannot be loaded."""
        event = ValidationEvent(Severity.ERROR, "Model", shape, message, location)
        self.events.append(event)


def load(
    model: Checkable | Iterable[Checkable], service: str | ServiceModel | None
) -> Iterator[Unit]:
    """The units of a model.

    Raises:
        botocore.exceptions.UnknownServiceError: `service` is a name that botocore does not know.
    """
    if isinstance(service, str):
        given: BotocoreModel | None = service_by_name(service)
    else:
        given = None if service is None else BotocoreModel(service)
    unreadable = Unit()
    inbox = _Inbox(unreadable)
    if isinstance(model, (str, os.PathLike, Mapping, WaiterDefinition)):
        inbox.put(cast("Checkable", model))
    else:
        for part in model:
            inbox.put(part)
    yield unreadable
    newer = newer_than_installed(each.data.get("metadata") for each in inbox.documents)
    for documents in _models(inbox.documents):
        yield _smithy_unit(documents, given, newer)
    yield from _definition_units(inbox.definitions, given)


def _models(documents: list[Document]) -> Iterator[list[Document]]:
    """The documents that belong together: see above."""
    defining = [doc for doc in documents if any(s.get("type") != "apply" for s in _shapes(doc))]
    names = {name for doc in defining for name in as_mapping(doc.data.get("shapes"))}
    together = list(defining)
    for document in documents if defining else ():
        targets = as_mapping(document.data.get("shapes"))
        if document not in defining and all(t.partition("$")[0] in names for t in targets):
            together.append(document)
    if together:
        yield together
    yield from ([document] for document in documents if document not in together)


class _Inbox:
    """Tells Smithy documents from definitions that come in another form."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.documents: list[Document] = []
        self.definitions: list[tuple[WaiterDefinition, Locate]] = []

    def put(self, part: Checkable) -> None:
        """Take a part of what is to be checked."""
        if isinstance(part, WaiterDefinition):
            self.definitions.append((part, nowhere))
        elif isinstance(part, Mapping):
            self._put_document(Document(part))
        else:
            found = False
            try:
                for document in read_documents(part):
                    found = True
                    self._put_document(document)
                if not found:
                    self._warn_of_nothing(part)
            except UnreadableDocumentError as error:
                self._unit.fail(None, str(error), error.location)

    def _warn_of_nothing(self, path: str | os.PathLike[str]) -> None:
        text = "There is no file of waiters in this folder"
        place = Location(os.fspath(path))
        event = ValidationEvent(Severity.WARNING, "WaiterNoDefinitions", None, text, place)
        self._unit.events.append(event)

    def _put_document(self, document: Document) -> None:
        if document.is_smithy:
            if str(document.data["smithy"]) in _VERSIONS:
                self.documents.append(document)
            else:
                where = document.locate(("smithy",))
                self._unit.fail(None, "Unknown version of Smithy", where)
            return
        try:
            definitions = _converted(document)
        except WaiterDefinitionError as error:
            path = () if error.waiter is None else ("waiters", error.waiter)
            steps = () if error.acceptor is None else ("acceptors", error.acceptor)
            self._unit.fail(None, str(error), document.locate((*path, *steps)))
        else:
            self._unit.events += slips(document)
            place = document.locate_below("waiters")
            self.definitions += [(definition, place) for definition in definitions]


def _converted(document: Document) -> tuple[WaiterDefinition, ...]:
    """The waiters of a waiters-2 document; of a file, its path tells the service."""
    return load_definitions(document.source or document.data)


def _shapes(document: Document) -> Iterator[Mapping[str, Any]]:
    return map(as_mapping, as_mapping(document.data.get("shapes")).values())


def _smithy_unit(documents: list[Document], given: BotocoreModel | None, newer: str | None) -> Unit:
    unit = Unit()
    shapes: dict[str, dict[str, Any]] = {}
    applied: list[tuple[Document, str, Mapping[str, Any]]] = []
    places: dict[str, Document] = {}
    for document in documents:
        unit.suppressions += of_metadata(document.data.get("metadata"))
        for shape_id, shape in as_mapping(document.data.get("shapes")).items():
            body = as_mapping(shape)
            if body.get("type") == "apply":
                applied.append((document, shape_id, as_mapping(body.get("traits"))))
            elif shapes.get(shape_id, body) != body:
                text = f"Conflicting shape definition for `{shape_id}`"
                unit.fail(shape_id, text, document.locate(("shapes", shape_id)))
            else:
                shapes[shape_id] = dict(body)
                places[shape_id] = document
    model = SmithyModel(shapes)
    for document, shape_id, traits in applied:
        if shape_id.partition("$")[0] in shapes:
            _apply(unit, document, shape_id, traits, shapes, places)
        else:
            _apply_to_botocore(unit, document, shape_id, traits, given, newer)
    for shape_id, shape in shapes.items():
        traits = model.traits(shape_id)
        unit.suppressions += of_trait(shape_id, traits)
        operation = model.operation(shape_id) if shape.get("type") == "operation" else None
        if WAITABLE in traits:
            unit.subjects.append(
                Subject(
                    target=_target(places[shape_id], shape_id),
                    operation=operation,
                    waitable=traits[WAITABLE],
                )
            )
        if COALESCING in traits:
            target = _target(places[shape_id], shape_id, COALESCING)
            unit.coalesced.append(Coalesced(target, operation, traits[COALESCING]))
    unit.closures.update({service: model.operations_of(service) for service in model.services()})
    return unit


def _target(document: Document, shape_id: str, trait: str = WAITABLE) -> Target:
    return Target(shape_id, document.locate_below("shapes", shape_id, "traits", trait))


def _apply(
    unit: Unit,
    document: Document,
    shape_id: str,
    traits: Mapping[str, Any],
    shapes: dict[str, dict[str, Any]],
    places: dict[str, Document],
) -> None:
    """Put applied traits on a shape of the model."""
    if shape_id not in shapes:  # a member of one
        return
    own = dict(as_mapping(shapes[shape_id].get("traits")))
    for trait, value in traits.items():
        if isinstance(value, list) and isinstance(own.get(trait), list):
            own[trait] = [*own[trait], *value]
        elif own.get(trait, value) == value:
            own[trait] = value
            if trait == WAITABLE:
                places[shape_id] = document
        elif trait == WAITABLE:
            text = f"Conflicting `{WAITABLE}` trait found on shape `{shape_id}`"
            unit.fail(shape_id, text, document.locate(("shapes", shape_id, "traits", WAITABLE)))
    shapes[shape_id]["traits"] = own


def _apply_to_botocore(
    unit: Unit,
    document: Document,
    shape_id: str,
    traits: Mapping[str, Any],
    given: BotocoreModel | None,
    newer: str | None,
) -> None:
    """Take applied waiters as waiters of a service of botocore."""
    namespace, _, name = shape_id.partition("#")
    target = _target(document, shape_id)
    model = given or service_by_namespace(namespace)
    if model is None:
        text = f"Trait applied to unknown shape `{shape_id}`"
        if namespace.startswith(AWS_NAMESPACE):
            text += f": botocore has no service with the id {namespace.removeprefix(AWS_NAMESPACE)}"
            unit.events.append(target.event(Severity.NOTE, "WaiterUnknownOperation", text))
        else:
            unit.fail(shape_id, text, target.locate(()))
        return
    unit.suppressions += of_trait(shape_id, traits)
    if COALESCING in traits and name in model.operation_names:
        place = _target(document, shape_id, COALESCING)
        unit.coalesced.append(Coalesced(place, model.operation(name), traits[COALESCING], newer))
    if WAITABLE not in traits and OVERLAY not in traits:
        return
    if name not in model.operation_names:
        event = _unknown_operation(target, name, model)
        unit.events.append(event if newer is None else as_note(event, newer))
        return
    if OVERLAY in traits:
        _add_overlays(unit, document, shape_id, traits[OVERLAY], model)
    if WAITABLE not in traits:
        return
    operation = model.operation(name)
    unit.subjects.append(
        Subject(target=target, operation=operation, waitable=traits[WAITABLE], newer=newer)
    )
    closure = unit.closures.setdefault(f"{namespace}#{model.service.service_name}", set())
    closure.add(shape_id)


def _add_overlays(
    unit: Unit, document: Document, shape_id: str, overlays: Any, model: BotocoreModel
) -> None:
    """Take the waiters that a client has, as overlays change them."""
    target = Target(shape_id, document.locate_below("shapes", shape_id, "traits", OVERLAY))
    alone = {"shapes": {shape_id: {"type": "apply", "traits": {OVERLAY: overlays}}}}
    service = model.service.service_name
    source = document.source or "dict"
    try:
        parsed = parse_overlays(alone, source=source, service=service)
        below = parse_model(document.data, source=source, service=service)
        found = ServiceWaiters(model.service, None, [*parsed, *below]).by_snake_name
        changed = tuple(found[xform_name(overlay.name)].definition for overlay in parsed)
    except WaiterDefinitionError as error:
        acceptor = "" if error.acceptor is None else f", acceptor {error.acceptor}"
        text = f"Waiter `{error.waiter}`{acceptor}: {error.problem}"
        unit.events.append(target.event(Severity.ERROR, "Model", text, waiter=error.waiter))
        return
    operation = model.operation(shape_id.partition("#")[2])
    unit.subjects.append(Subject(target=target, operation=operation, definitions=changed))


def _unknown_operation(target: Target, name: str, model: BotocoreModel) -> ValidationEvent:
    """An operation that botocore lacks is passed over, in case it is one of another release."""
    text = f"{model.service.service_name} has no operation {name}: its waiters are passed over"
    near = nearest(name, model.operation_names)
    if near is None:
        return target.event(Severity.NOTE, "WaiterUnknownOperation", text)
    text += f". Did you mean {near}?"
    return target.event(Severity.WARNING, "WaiterUnknownOperation", text)


def _definition_units(
    definitions: list[tuple[WaiterDefinition, Locate]], given: BotocoreModel | None
) -> Iterator[Unit]:
    """Definitions that are not in Smithy's form, service by service."""
    by_service: dict[str | None, list[tuple[WaiterDefinition, Locate]]] = {}
    for definition, locate in definitions:
        by_service.setdefault(definition.service, []).append((definition, locate))
    for service, members in by_service.items():
        unit = Unit()
        model = given or _service(service)
        if model is None:
            for definition, locate in members:
                text = (
                    f"botocore has no service {service!r}"
                    if service
                    else "nothing tells which service it is for; say `service`"
                )
                text = f"Waiter `{definition.name}`: {text}"
                unit.fail(None, text, locate((definition.name,)))
        else:
            _add_definitions(unit, members, model)
        yield unit


def _service(name: str | None) -> BotocoreModel | None:
    """A service by any of the names a definition may have for it."""
    if name is None:
        return None
    squashed = "".join(character for character in name.lower() if character.isalnum())
    try:
        return service_by_namespace(AWS_NAMESPACE + squashed) or service_by_name(name)
    except UnknownServiceError:
        return None


def _add_definitions(
    unit: Unit, members: list[tuple[WaiterDefinition, Locate]], model: BotocoreModel
) -> None:
    by_operation: dict[str, list[tuple[WaiterDefinition, Locate]]] = {}
    for definition, locate in members:
        by_operation.setdefault(definition.operation, []).append((definition, locate))
    service = f"{model.namespace}#{model.service.service_name}"
    for name, group in by_operation.items():
        places = {definition.name: locate for definition, locate in group}
        target = Target(f"{model.namespace}#{name}", _by_waiter(places))
        known = operation_name(name, model.operation_names)
        if known is None:
            unit.events.append(_unknown_operation(target, name, model))
            continue
        target = replace(target, shape=f"{model.namespace}#{known}")
        operation = model.operation(known)
        resolved = tuple(_without_status(definition, operation) for definition, _ in group)
        unit.subjects.append(Subject(target=target, operation=operation, definitions=resolved))
        unit.closures.setdefault(service, set()).add(target.shape)


def _by_waiter(places: Mapping[str, Locate]) -> Locate:
    """A shape's waiters may come from several documents."""
    return lambda path: places.get(str(path[0]), nowhere)(path) if path else None


def _without_status(definition: WaiterDefinition, operation: Operation) -> WaiterDefinition:
    return without_status(
        definition,
        is_head=operation.http_method == "HEAD",
        errors_with_status=lambda status: [
            error.name for error in operation.errors if error.status == status
        ],
        keep_others=True,
    )

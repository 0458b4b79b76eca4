"""Loading of models, files and definitions into units to check.

A `Unit` is checked together: the documents that define shapes with those that apply traits to them,
or one document over botocore's shapes. As in Smithy, metadata hold for everything that is loaded
together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from botocore.model import ServiceModel

from ..definitions.files import files_below, load_definitions
from ..definitions.parsing import as_mapping
from ..definitions.smithy import WAITABLE
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..service.places import operation_name
from ..service.service_waiters import without_status
from .documents import Document, Target, newer_than_installed, read_document
from .events import Location, Severity, ValidationEvent
from .model import BotocoreService, service_by_any_name, service_by_name
from .trait_rules import check_waiters2
from .units import AppliedTrait, SmithyUnit, Unit, shapes_of, unknown_operation

Checkable = str | os.PathLike[str] | Mapping[str, Any] | WaiterDefinition


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
        yield SmithyUnit(documents, given, newer).unit
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
        elif part == "":
            problem = 'the path is empty; pass "." for the working directory'
            self.unreadable.error(None, problem, None)
        elif not Path(part).is_dir():
            self._add_file(Path(part), is_named=True)
        elif not sum(self._add_file(file, is_named=False) for file in files_below(Path(part))):
            text, place = "no file in this folder has waiters", Location(os.fspath(part))
            event = ValidationEvent(Severity.WARNING, "WaiterNoDefinitions", None, text, place)
            self.unreadable.events.append(event)

    def _add_file(self, file: Path, *, is_named: bool) -> bool:
        """Add a file; of the files in a folder, only those of waiters."""
        try:
            document = read_document(file)
        except WaiterDefinitionError as error:
            cause = error.__cause__
            line = getattr(cause, "lineno", getattr(cause, "line", None))
            place = Location(error.source, line, getattr(cause, "colno", None))
            self.unreadable.error(None, error.problem, place)
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
            # The event names the file already.
            problem = str(error).removeprefix(f"{error.source}: ")
            self.unreadable.error(None, problem, document.locate((*path, *steps)))
            return
        self.unreadable.events += check_waiters2(document)
        for definition in definitions:
            self._add_definition(definition, document)

    def _add_definition(self, definition: WaiterDefinition, document: Document | None) -> None:
        self.definitions.setdefault(definition.service, []).append((definition, document))


def _models(documents: list[Document]) -> Iterator[list[Document]]:
    """Yield the documents that are checked together."""
    together = [
        document
        for document in documents
        if any(shape.get("type") != "apply" for _, shape in shapes_of(document))
    ]
    names = {name for document in together for name, _ in shapes_of(document)}
    for document in documents if together else ():
        targets = [name.partition("$")[0] for name, _ in shapes_of(document)]
        if document not in together and names.issuperset(targets):
            together.append(document)
    if together:
        yield together
    yield from ([document] for document in documents if document not in together)


def _definition_unit(
    name: str | None,
    definitions: list[tuple[WaiterDefinition, Document | None]],
    given: BotocoreService | None,
) -> Unit:
    """Return the unit of one service's definitions in other forms than Smithy's."""
    unit = Unit()
    service = given or service_by_any_name(name)
    if service is None:
        unknown = "the service is not known; pass `service`"
        problem = f"botocore has no service {name!r}" if name else unknown
        for definition, document in definitions:
            location = document.locate(("waiters", definition.name)) if document else None
            unit.error(None, f"Waiter `{definition.name}`: {problem}", location)
        return unit
    groups: dict[tuple[str, Document | None], list[WaiterDefinition]] = {}
    for definition, document in definitions:
        groups.setdefault((definition.operation, document), []).append(definition)
    for (operation, document), group in groups.items():
        known = operation_name(operation, service.operation_names)
        target = Target(f"{service.namespace}#{known or operation}", document, ("waiters",))
        if known is None:
            unit.events.append(unknown_operation(target, operation, service))
        else:
            of_model = service.model.operation_model(known)
            unit.traits[WAITABLE].append(
                AppliedTrait(
                    target=target,
                    operation=service.operation(known),
                    definitions=[without_status(each, of_model) for each in group],
                )
            )
            unit.services[service.shape].add(str(target.shape))
    return unit

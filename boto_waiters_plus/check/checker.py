"""Loads models, files and definitions into units, runs the rules on them, applies suppressions.

A `Unit` is checked together: the documents that define shapes with those that apply traits to them,
or one document over botocore's shapes. As in Smithy, metadata hold for everything that is loaded
together.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from botocore.model import ServiceModel

from ..definitions.files import files_below, load_definitions, parse_document
from ..definitions.parsing import RuleError, as_mapping
from ..definitions.smithy import REPORTS, WAITABLE, reports_of
from ..engine.model import GENERATED, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..service.places import operation_name
from ..service.service_waiters import without_status
from .absence_rules import check_absence, check_unhandled_states
from .documents import Document, Target, downgraded, newer_than_installed, read_document
from .events import Location, Severity, ValidationEvent, apply_suppressions
from .list_rules import check_lists
from .model import BotocoreService, OperationShapes, service_by_any_name, service_by_name
from .paths import TracedWaiter
from .practice_rules import check_practices, check_replaced, check_reports
from .units import AppliedTrait, SmithyUnit, Unit, shapes_of, unknown_operation
from .waiter_rules import (
    AcceptorChecker,
    check_acceptors,
    check_names,
    check_operation,
    check_waiter,
    check_waiters2,
    read_trait,
)

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


# --- the rules on all that is loaded, and suppressions -------------------------------------------

Rules = Mapping[str, Callable[[AppliedTrait], Iterable[ValidationEvent]]]
"""What checks a trait, by its id."""


def check(
    model: Checkable | Iterable[Checkable], service: str | ServiceModel | None = None
) -> list[ValidationEvent]:
    """Check waiter definitions against the shapes of the operations they poll.

    Args:
        model: a Smithy model in JSON AST form, with shapes of its own or with `apply` statements
            for a service of botocore; a `waiters-2` document; the path of a file or a folder of
            these; a definition; or several of these.
        service: the botocore service (a name or a model) whose operations are meant, where
            neither an AWS namespace nor a path names it.

    Returns:
        The events, model by model and rule by rule; empty if there is no problem. After an ERROR
        in the form or the place of a trait, the other rules are not run on that model.

    Raises:
        botocore.exceptions.UnknownServiceError: botocore has no service of that name.
    """
    return check_with({}, model, service)


def check_with(
    rules: Rules, model: Checkable | Iterable[Checkable], service: str | ServiceModel | None = None
) -> list[ValidationEvent]:
    """Check waiter definitions as `check`, and other traits by rules of the caller."""
    units = list(load(model, service))
    suppressions = [suppression for unit in units for suppression in unit.suppressions]
    for unit in units:
        _read_waiters(unit)
    names = list(_name_events(units))
    events = [event for unit in units for event in _unit_events(unit, rules, names)]
    if not (rules or events or any(unit.traits[WAITABLE] for unit in units)):
        text = f"no shape has the trait `{WAITABLE}`"
        events = [ValidationEvent(Severity.WARNING, "WaiterNoDefinitions", None, text)]
    return list(apply_suppressions(events, suppressions))


def _read_waiters(unit: Unit) -> None:
    """Read the waiters of a unit, and note what is wrong with the form and the place of a trait."""
    for trait in unit.traits[WAITABLE]:
        if trait.operation is None or trait.operation.event_stream:
            text = f"Trait `{WAITABLE}` cannot be applied to `{trait.target.shape}`: "
            text += "it may only be applied to operations without event streams"
            unit.events.append(trait.target.event(Severity.ERROR, "TraitTarget", text))
        if not trait.definitions:
            trait.definitions, found = read_trait(trait.target, trait.value)
            unit.events += found


def _name_events(units: Iterable[Unit]) -> Iterator[tuple[Target, ValidationEvent]]:
    """Yield the conflicts of names in each service, with what they are about."""
    by_service: dict[str, list[tuple[Target, WaiterDefinition]]] = {}
    for unit in units:
        for service, closure in unit.services.items() if unit.is_readable else ():
            own = by_service.setdefault(service, [])
            for trait in unit.traits[WAITABLE]:
                if trait.target.shape in closure:
                    own += [(trait.target, definition) for definition in trait.definitions]
    for service, waiters in by_service.items():
        yield from check_names(service, waiters)


def _unit_events(
    unit: Unit, rules: Rules, names: list[tuple[Target, ValidationEvent]]
) -> Iterator[ValidationEvent]:
    events = list(unit.events)
    for name, rule in rules.items():
        for trait in unit.traits[name]:
            events += rule(trait)
    if unit.is_readable:
        reports = {str(each.target.shape): each.value for each in unit.traits[REPORTS]}
        for trait in unit.traits[WAITABLE]:
            events += _waiter_events(trait, reports.get(str(trait.target.shape), {}))
        targets = {id(trait.target) for trait in unit.traits[WAITABLE]}
        events += [event for target, event in names if id(target) in targets]
    yield from events
    if all(event.severity < Severity.DANGER for event in events):
        yield from filter(None, map(_refusal, unit.documents))


def _refusal(document: Document) -> ValidationEvent | None:
    """Return an ERROR if the loader would refuse a document in which no rule found a problem."""
    try:
        parse_document(document.data, source=document.source or "dict")
    except WaiterDefinitionError as error:
        rule = error.rule if isinstance(error, RuleError) else "Model"
        return ValidationEvent(Severity.ERROR, rule, None, error.problem, document.locate(()))
    return None


def _waiter_events(trait: AppliedTrait, reports: Mapping[str, Any]) -> Iterator[ValidationEvent]:
    assert trait.operation is not None  # else there was an ERROR

    def rules(operation: OperationShapes) -> Iterator[ValidationEvent]:
        checker = AcceptorChecker(operation)
        for definition in trait.definitions:
            waiter = TracedWaiter(definition, operation)
            # Smithy's rules, then those that it lacks.
            findings = itertools.chain(
                check_waiter(definition, checker),
                check_acceptors(waiter),
                check_unhandled_states(waiter),
                check_practices(waiter),
                check_reports(definition, reports_of(reports, definition.name)),
                check_replaced(definition, trait.model),
                check_operation(operation),
                check_absence(waiter),
                check_lists(waiter),
            )
            # A note is for someone who can decide: generated waiters are changed by corrections.
            is_generated = GENERATED in definition.tags
            for finding in findings:
                if finding.severity is not Severity.NOTE or not is_generated:
                    yield trait.target.finding(definition.name, finding)

    if trait.newer is None:
        return rules(trait.operation)
    return downgraded(rules, trait.operation, trait.newer)

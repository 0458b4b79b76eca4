"""Runs the rules on everything that is loaded, and applies suppressions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from botocore.model import ServiceModel

from ..definitions.files import parse_document
from ..definitions.parsing import RuleError
from ..definitions.smithy import REPORTS, WAITABLE, reports_of
from ..engine.model import GENERATED, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from .absence_rules import check_absence, check_unhandled_states
from .documents import Document, Target, downgraded
from .events import Severity, ValidationEvent, apply_suppressions
from .list_rules import check_lists
from .loading import Checkable, load
from .model import OperationShapes
from .paths import TracedWaiter
from .practice_rules import check_practices, check_replaced, check_reports
from .trait_rules import read_trait
from .units import AppliedTrait, Unit
from .waiter_rules import (
    AcceptorChecker,
    check_acceptors,
    check_names,
    check_operation,
    check_waiter,
)

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

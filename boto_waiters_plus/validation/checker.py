"""Brings together models, rules and suppressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from botocore.model import ServiceModel

from ..engine.model import (
    DEFAULT_MAX_DELAY,
    DEFAULT_MIN_DELAY,
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    Matcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    SuccessMatcher,
    WaiterDefinition,
)
from .coalescing_rules import FORM, TARGET, check_coalescing
from .events import Severity, Target, ValidationEvent
from .loading import Checkable, Coalesced, Subject, Unit, load
from .operation_rules import check_operation
from .paths import traced_path
from .reach_rules import check_reach
from .shapes import Operation
from .state_rules import check_states
from .suppressions import suppressed
from .trait_rules import check_trait, wrong_target
from .version_skew import as_note, lowered
from .waiter_rules import check_names, check_waiters


def check(
    model: Checkable | Iterable[Checkable], service: str | ServiceModel | None = None
) -> list[ValidationEvent]:
    """Check waiter definitions against the shapes of the operations they poll.

    Args:
        model: a Smithy model in JSON AST form, with shapes of its own or with `apply` statements
            over a service of botocore; a `waiters-2` document; the path of a file or a folder of
            either; a definition; or several of these.
        service: the botocore service (a name or a model) whose shapes are meant, where neither
            an AWS namespace nor a path tells it.

    Returns:
        The events, model by model and rule by rule; empty if there is nothing to say. After an
        ERROR in what a trait is or where it stands, the other rules are not run on that model.

    Raises:
        botocore.exceptions.UnknownServiceError: botocore knows no service of that name.
    """
    units = list(load(model, service))
    suppressions = [suppression for unit in units for suppression in unit.suppressions]
    return [event for unit in units for event in suppressed(_unit_events(unit), suppressions)]


def _unit_events(unit: Unit) -> Iterator[ValidationEvent]:
    first = [*unit.events, *(event for each in unit.subjects for event in _trait_events(each))]
    yield from first
    for coalesced in unit.coalesced:
        yield from _coalescing_events(coalesced)
    if any(event.severity is Severity.ERROR for event in first):
        return
    waiters: dict[str, tuple[Target, list[str]]] = {}
    for subject in unit.subjects:
        assert subject.operation is not None  # else there was an ERROR
        definitions = subject.definitions or tuple(_definitions(subject))
        waiters[subject.target.shape] = (subject.target, [each.name for each in definitions])
        yield from _subject_events(subject, subject.operation, definitions)
    for service, closure in unit.closures.items():
        yield from check_names(service, {k: v for k, v in waiters.items() if k in closure})


def _coalescing_events(coalesced: Coalesced) -> Iterator[ValidationEvent]:
    for event in check_coalescing(coalesced.target, coalesced.operation, coalesced.trait):
        # The form of the trait is wrong with any shapes.
        is_of_shapes = event.id not in (FORM, TARGET)
        newer = coalesced.newer if is_of_shapes else None
        yield event if newer is None else as_note(event, newer)


def _subject_events(
    subject: Subject, operation: Operation, definitions: tuple[WaiterDefinition, ...]
) -> Iterator[ValidationEvent]:
    def rules(operation: Operation) -> Iterator[ValidationEvent]:
        yield from check_waiters(subject.target, operation, definitions)
        for definition in definitions:
            yield from _further_events(subject.target, operation, definition)

    if subject.newer is None:
        return rules(operation)
    return lowered(rules, operation, subject.newer)


def _trait_events(subject: Subject) -> Iterator[ValidationEvent]:
    if subject.operation is None or subject.operation.event_stream:
        yield wrong_target(subject.target)
    if not subject.definitions:
        yield from check_trait(subject.target, subject.waitable)


def _further_events(
    target: Target, operation: Operation, waiter: WaiterDefinition
) -> Iterator[ValidationEvent]:
    """The rules beyond Smithy's."""
    paths = [traced_path(acceptor, operation) for acceptor in waiter.acceptors]
    yield from check_reach(target, waiter, paths)
    yield from check_states(target, waiter, paths)
    yield from check_operation(target, operation, waiter, paths)


def _definitions(subject: Subject) -> Iterator[WaiterDefinition]:
    """The waiters of a trait that was found well-formed."""
    for name, waiter in subject.waitable.items():
        yield WaiterDefinition(
            name=name,
            operation=subject.target.shape.rpartition("#")[2],
            acceptors=tuple(map(_acceptor, waiter["acceptors"])),
            min_delay=waiter.get("minDelay", DEFAULT_MIN_DELAY),
            max_delay=waiter.get("maxDelay", DEFAULT_MAX_DELAY),
        )


def _acceptor(body: Mapping[str, Any]) -> Acceptor:
    [(kind, value)] = body["matcher"].items()
    return Acceptor(
        state=AcceptorState(body["state"]),
        matcher=_matcher(kind, value),
        message=body.get("message"),
    )


def _matcher(kind: str, value: Any) -> Matcher:
    match kind:
        case "success":
            return SuccessMatcher(value)
        case "errorType":
            return ErrorTypeMatcher(value)
    matcher = PathMatcher(
        path=value["path"],
        expected=value["expected"],
        comparator=PathComparator(value["comparator"]),
    )
    return OutputMatcher(matcher) if kind == "output" else InputOutputMatcher(matcher)

"""The states of a newer botocore that the shipped definitions do not know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from botocore.model import OperationModel, Shape

from ..definitions.shipped import shipped_definitions, shipped_states
from ..definitions.words import words_of
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    InputOutputMatcher,
    OutputMatcher,
    WordsMatcher,
)
from ..engine.model import WaiterDefinition
from .places import botocore_is_newer, botocores_own
from .reasons import Compared
from .shapes import is_plain, is_text, shape_at, state_path, walk

_STEM = 4
"""The letters that a word and another form of it have in common: DELETE and DELETED."""


def comparisons_of(
    definition: WaiterDefinition, kind: Any = InputOutputMatcher | OutputMatcher
) -> list[Compared]:
    """Return what the acceptors of a definition compare, those with a matcher of this kind."""
    return [
        Compared(each.matcher.matcher.path, each.matcher.matcher.expected, each.state)
        for each in definition.acceptors
        if isinstance(each.matcher, kind)
    ]


def shipped_waiters_of(operation: OperationModel) -> list[WaiterDefinition]:
    """Return the shipped waiters that poll an operation."""
    shipped = shipped_definitions(operation.service_model.service_id.hyphenize())
    return [each for each in shipped if each.operation == operation.name]


def failure_by_words(definition: WaiterDefinition) -> Iterator[Acceptor]:
    """Yield the acceptor of the states that say that something failed, for `FAILS_BY_WORDS`."""
    # Its expressions take 4 ms to compile.
    from ..definitions.state_words import says_it_failed  # noqa: PLC0415

    success = AcceptorState.SUCCESS
    goals = [e for e in comparisons_of(definition, OutputMatcher) if e.leads_to is success]
    # A boolean tells that all of a list are in one of several states, or that it is empty.
    goals = [each for each in goals if each.expected != "true"]
    wanted = frozenset(each.expected for each in goals)
    says_failure = lru_cache(maxsize=64)(partial(says_it_failed, wanted=wanted))

    def compare(value: Any, _: str) -> bool:
        states = value if isinstance(value, list) else [value]
        return any(isinstance(each, str) and says_failure(each) for each in states)

    for goal in goals[:1]:
        matcher = OutputMatcher(WordsMatcher(path=goal.path, compare=compare))
        yield Acceptor(state=AcceptorState.FAILURE, matcher=matcher)


def failures_to_warn_of(
    waiter: str, comparisons: Sequence[Compared], operation: OperationModel
) -> frozenset[str]:
    """Return the new failures of a waiter that is shipped or botocore's own."""
    found = new_failures(waiter, comparisons, operation)
    is_meant = found and is_known_waiter(waiter, comparisons, operation)
    return found if is_meant else frozenset()


def new_failures(
    waiter: str, comparisons: Sequence[Compared], operation: OperationModel
) -> frozenset[str]:
    """Return the new states that say failure and that no acceptor of a waiter mentions.

    A resource in one of them is polled until `max_wait`. A wait for an end or an absence passes
    over what has failed before: that can be deleted, too.
    """
    if not botocore_is_newer():
        return frozenset()
    # Its expressions take 4 ms to compile.
    from ..definitions.state_words import (  # noqa: PLC0415
        ENDINGS,
        means_absence,
        says_failure,
        state_words,
    )

    failed = [
        value
        for values in new_states(comparisons, operation).values()
        for value in values
        if says_failure(value) and not mentions(comparisons, value)
    ]
    if means_absence(waiter):
        stems = {word.upper()[:_STEM] for word in words_of(waiter)} | {e[:_STEM] for e in ENDINGS}
        failed = [f for f in failed if any(word[:_STEM] in stems for word in state_words(f))]
    return frozenset(failed)


def is_known_waiter(name: str, comparisons: Iterable[Compared], operation: OperationModel) -> bool:
    """Return whether a waiter is shipped or botocore's own, perhaps with further acceptors.

    What a user's own definition mentions is the user's decision.
    """
    own = botocores_own(operation.service_model, name, operation.name)
    shipped = [each for each in shipped_waiters_of(operation) if each.name == name]
    return any({*comparisons_of(each)} <= {*comparisons} for each in filter(None, (own, *shipped)))


def new_states(
    comparisons: Iterable[Compared], operation: OperationModel
) -> Mapping[str, tuple[str, ...]]:
    """Return the values that are newer than the shipped definitions, by enumeration."""
    known = shipped_states(operation.service_model.service_id.hyphenize())
    found = {
        shape.name: tuple(v for v in shape.metadata["enum"] if v not in known.get(shape.name, ()))
        for shape in state_enums(comparisons, operation, known)
    }
    return {name: values for name, values in found.items() if values}


def state_enums(
    comparisons: Iterable[Compared], operation: OperationModel, known: Collection[str] = ()
) -> Iterator[Shape]:
    """Yield the enumerations of the states that a waiter compares or, in messages, shows.

    Args:
        comparisons: those of its acceptors.
        operation: what it polls.
        known: the names of those that an expression other than a plain path may read.
    """
    output = operation.output_shape
    paths = dict.fromkeys(each.path.removeprefix("output.") for each in comparisons)
    plain = [path for path in paths if is_plain(path)]
    shapes = [shape for path in plain if (shape := shape_at(output, path)) is not None]
    by_model = None if any(map(is_text, shapes)) else state_path(operation)
    shape = None if by_model is None else shape_at(output, by_model)
    shapes += [] if shape is None else [shape]
    if len(plain) < len(paths):
        shapes += [each.shape for each in walk(output) if each.shape.name in known]
    yield from {each.name: each for each in shapes if each.metadata.get("enum")}.values()


def mentions(comparisons: Iterable[Compared], value: str) -> bool:
    """Return whether an acceptor compares a value, in its path or with it."""
    quoted = (f"'{value}'", f'"{value}"')
    return any(c.expected == value or any(q in c.path for q in quoted) for c in comparisons)

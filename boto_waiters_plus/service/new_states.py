"""The states of a newer botocore that the shipped definitions do not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from botocore.model import OperationModel, Shape

from ..definitions.shipped import shipped_states
from ..definitions.state_words import ENDINGS, FAILED_WORDS, means_gone, state_words
from ..engine.acceptors import InputOutputMatcher, OutputMatcher
from ..engine.model import WaiterDefinition
from .installed_botocore import botocore_is_newer
from .reasons import Compared
from .state_member import is_plain, shape_at, state_path


def comparisons_of(definition: WaiterDefinition) -> list[Compared]:
    """Return what the acceptors of a definition compare, of the input, too."""
    return [
        Compared(each.matcher.matcher.path, each.matcher.matcher.expected, each.state)
        for each in definition.acceptors
        if isinstance(each.matcher, InputOutputMatcher | OutputMatcher)
    ]


def new_failures(
    waiter: str, comparisons: Sequence[Compared], operation: OperationModel
) -> frozenset[str]:
    """Return the new states whose names say failure and that no acceptor of a waiter mentions.

    A resource in one of them is polled until `max_wait`. A wait until it is gone passes over what
    has failed before: that can be deleted, too.
    """
    if not botocore_is_newer():
        return frozenset()
    ending = tuple(ENDINGS) if means_gone(waiter) else ("",)
    return frozenset(
        value
        for values in new_states(comparisons, operation).values()
        for value in values
        if (words := state_words(value)) & FAILED_WORDS
        and any(word.startswith(ending) for word in words)
        and not mentions(comparisons, value)
    )


def new_states(
    comparisons: Iterable[Compared], operation: OperationModel
) -> Mapping[str, tuple[str, ...]]:
    """Return the values that are newer than the shipped definitions, by enumeration."""
    known = shipped_states(operation.service_model.service_id.hyphenize())
    found = {
        shape.name: tuple(v for v in shape.metadata["enum"] if v not in known.get(shape.name, ()))
        for shape in state_enums(comparisons, operation)
    }
    return {name: values for name, values in found.items() if values}


def state_enums(comparisons: Iterable[Compared], operation: OperationModel) -> Iterator[Shape]:
    """Yield the enumerations of the states that a waiter compares or, in messages, shows."""
    paths = {state_path(operation) or "", *(each.path for each in comparisons)}
    for path in filter(is_plain, sorted(paths)):
        shape = shape_at(operation, path)
        if shape is not None and shape.metadata.get("enum"):
            yield shape


def mentions(comparisons: Iterable[Compared], value: str) -> bool:
    """Return whether an acceptor compares a value, in its path or with it."""
    quoted = (f"'{value}'", f'"{value}"')
    return any(c.expected == value or any(q in c.path for q in quoted) for c in comparisons)

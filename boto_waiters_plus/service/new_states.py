"""The states of a newer botocore that the shipped definitions do not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from botocore.model import OperationModel, Shape

from ..definitions.shipped import shipped_states
from ..definitions.state_words import ENDINGS, FAILED_WORDS, means_gone, state_words
from ..engine.acceptors import InputOutputMatcher, OutputMatcher
from ..engine.model import WaiterDefinition
from .state_member import is_plain, shape_at, state_path


def new_failures(definition: WaiterDefinition, operation: OperationModel) -> frozenset[str]:
    """Return the new states of a waiter whose names say failure and that no acceptor mentions.

    A resource in one of them is polled until `max_wait`. A wait until it is gone passes over what
    has failed before: that can be deleted, too.
    """
    ending = tuple(ENDINGS) if means_gone(definition.name) else ("",)
    return frozenset(
        value
        for values in new_states(definition, operation).values()
        for value in values
        if (words := state_words(value)) & FAILED_WORDS
        and any(word.startswith(ending) for word in words)
        and not mentions(definition, value)
    )


def new_states(
    definition: WaiterDefinition, operation: OperationModel
) -> Mapping[str, tuple[str, ...]]:
    """Return the values that are newer than the shipped definitions, by enumeration."""
    known = shipped_states(operation.service_model.service_id.hyphenize())
    found = {
        shape.name: tuple(v for v in shape.metadata["enum"] if v not in known.get(shape.name, ()))
        for shape in state_enums(definition, operation)
    }
    return {name: values for name, values in found.items() if values}


def state_enums(definition: WaiterDefinition, operation: OperationModel) -> Iterator[Shape]:
    """Yield the enumerations of the states that a waiter compares or, in messages, shows."""
    paths = {
        each.matcher.matcher.path
        for each in definition.acceptors
        if isinstance(each.matcher, OutputMatcher)
    }
    paths.add(state_path(operation) or "")
    for path in filter(is_plain, sorted(paths)):
        shape = shape_at(operation, path)
        if shape is not None and shape.metadata.get("enum"):
            yield shape


def mentions(definition: WaiterDefinition, value: str) -> bool:
    """Return whether an acceptor compares a value, in its path or with it."""
    matchers = [
        each.matcher.matcher
        for each in definition.acceptors
        if isinstance(each.matcher, InputOutputMatcher | OutputMatcher)
    ]
    quoted = (f"'{value}'", f'"{value}"')
    return any(m.expected == value or any(q in m.path for q in quoted) for m in matchers)

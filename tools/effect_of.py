"""The effects of `data/effects.json` with the models of their operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import OperationModel

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.changes import (
    EFFECT,
    EFFECTS_FILE,
    REFUSED_ITEMS,
    EffectTrait,
)
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_json
from boto_waiters_plus.engine.acceptors import Acceptor, InputOutputMatcher, OutputMatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectOf:
    """An effect with the models of its two operations."""

    shape: str
    """The id of the mutation: `com.amazonaws.ecs#RunTask`."""
    name: str
    body: Mapping[str, Any]
    """The trait as it is written."""
    trait: EffectTrait
    mutation: OperationModel
    polled: OperationModel
    acceptors: tuple[Acceptor, ...]
    """All of them: its own, and those of its waiter."""
    refused_items: Mapping[str, Any] | None
    """The trait `boto.waiters#refusedItems` of the mutation."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule has found in an effect."""

    rule: str
    """Such as `EffectNotNew`."""
    text: str


def shipped_document() -> Mapping[str, Any]:
    """Return the content of `data/effects.json`."""
    document: Mapping[str, Any] = shipped_json(EFFECTS_FILE)
    return document


def effects(shapes: Mapping[str, Any] | None = None) -> Iterator[EffectOf]:
    """Yield effects: those of `data/effects.json`, or of shapes of the same form."""
    for shape, applied in (shipped_document()["shapes"] if shapes is None else shapes).items():
        namespace, _, operation = shape.partition("#")
        service = service_by_namespace(namespace)
        if service is None or operation not in service.operation_names:
            continue  # in an older botocore
        model = service.model
        waiters = {each.name: each for each in shipped_definitions(model.service_id.hyphenize())}
        traits = applied["traits"]
        for name, body in traits.get(EFFECT, {}).items():
            trait = EffectTrait.of(name, body, operation)
            definition = waiters[trait.waiter] if isinstance(trait.waiter, str) else trait.waiter
            yield EffectOf(
                shape=shape,
                name=name,
                body=body,
                trait=trait,
                mutation=model.operation_model(operation),
                polled=model.operation_model(definition.operation),
                acceptors=(*trait.own, *definition.acceptors),
                refused_items=traits.get(REFUSED_ITEMS),
            )


def effect_named(shape: str, name: str) -> EffectOf:
    """Return a shipped effect of a mutation, by its shape id."""
    shapes = {shape: shipped_document()["shapes"][shape]}
    return next(each for each in effects(shapes) if each.name == name)


def path_of(acceptor: Acceptor) -> str:
    """Return the expression of an acceptor; "" if it has none."""
    match acceptor.matcher:
        case OutputMatcher(matcher) | InputOutputMatcher(matcher):
            return str(matcher.path)
    return ""

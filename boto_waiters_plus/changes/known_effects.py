"""What is known of the effects of mutations; what waits for them is slower to import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from botocore.model import ListShape, OperationModel

from ..definitions.changes import (
    OF_ANSWER,
    Basis,
    EffectTrait,
    reason_without_effect,
    shipped_effects,
)
from ..engine.acceptors import AcceptorState
from ..service.bound_waiter import BoundWaiter
from ..service.service_waiters import ServiceWaiters
from ..service.shapes import members_of, shape_id_of

SETTLE_FOR: Final = 60
"""Seconds in which a state may be from before a call, where the effect itself compares the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What is waited for after a mutation."""

    name: str
    """Its name, which `begin` takes as `then_wait`."""
    operation: str
    """The operation that is polled."""
    basis: Basis | None
    """How it is known that a state belongs to the change, best first: `"identity"`, the answer of
    the call names the change; `"goal"`, what was asked for is read back; `"version"`, the revision
    of the answer or a later one; `"transition"`, another state was seen first; `"held"`, none was
    seen, and the state has held for the whole of `settle_for`. None: the waiter is the
    caller's, and may end on a state from before the call. An outcome may also have `"unchanged"`:
    there was nothing to change."""
    settle_for: float
    """Seconds after the call in which a state counts only if another one was seen before it."""
    stop: str | None
    """The operation that stops what was begun; None if there is none."""
    actions: tuple[str, ...]
    """What the wait and `stop` need to be allowed to call: `ecs:DescribeServices`."""
    documentation: str
    """What is waited for, in a sentence."""


def effects_after(service: ServiceWaiters, operation: OperationModel) -> Iterator[Effect]:
    """Yield the effects of an operation, the one that is meant by default first.

    Args:
        service: the waiters of the operation's service.
        operation: the operation.
    """
    for trait in traits_of(service, operation):
        waiter = trait.waiter
        found = service.find(waiter) if isinstance(waiter, str) else service.bind(waiter)
        if found is not None:
            yield effect_from(operation, trait, found)


def effects_beside(service: ServiceWaiters, operation: OperationModel) -> Iterator[Effect]:
    """Yield what else may be waited for: the waiters that poll as the first effect does."""
    traits = traits_of(service, operation)
    names = {each.name for each in traits}
    for found in service.values() if traits else ():
        trait = trait_beside(service, traits[0], found)
        if trait is not None and trait.name not in names:
            yield effect_from(operation, trait, found)


def trait_beside(
    service: ServiceWaiters, first: EffectTrait, found: BoundWaiter
) -> EffectTrait | None:
    """Return a waiter as an effect beside the first one, or None.

    It is one if it polls the same operation and needs no other parameter. None of its acceptors is
    certain.
    """
    definition, waiter = found.definition, first.waiter
    of_first = service.find(waiter) if isinstance(waiter, str) else service.bind(waiter)
    if of_first is None or of_first.operation.name != found.operation.name:
        return None
    paths = " ".join(each.describe() for each in definition.acceptors)
    if not first.parameters.keys() >= {*re.findall(r"\binput\.(\w+)", paths)}:
        return None
    # What the call has made is told by its parameters; else the acceptors of the effect tell.
    told = isinstance(waiter, str) or any(map(OF_ANSWER.search, first.parameters.values()))
    is_new = first.basis == "identity" and told
    if is_new and not first.settle_for and _may_be_absent(found, first):
        return None  # as it is right after the call
    settle_for = first.settle_for or (0 if is_new else SETTLE_FOR)
    return replace(
        first,
        name=definition.name,
        waiter=definition.name,
        basis="transition" if settle_for else first.basis,
        certain=(),
        says=(),
        own=(),
        reports=(),
        settle_for=settle_for,
        documentation="",
        is_beside=True,
    )


def _may_be_absent(found: BoundWaiter, first: EffectTrait) -> bool:
    """Whether a waiter succeeds where there is nothing."""
    from ..service.absence import errors_of_success  # noqa: PLC0415 - names of effects need none

    members = members_of(found.operation.output_shape).items()
    nothing: dict[str, Any] = {name: [] for name, s in members if isinstance(s, ListShape)}
    given = {name: ["-"] for name in first.parameters}
    index = found.polling.matching.match_response(nothing, given).index
    is_success = index is not None and found.definition.states[index] is AcceptorState.SUCCESS
    return is_success or bool(errors_of_success(found.definition))


def why_nothing_follows(operation: OperationModel) -> str | None:
    """Return why there is nothing to wait for after an operation; None if that is not known."""
    return reason_without_effect(operation.service_model.service_id.hyphenize(), operation.name)


def effect_from(mutation: OperationModel, trait: EffectTrait, found: BoundWaiter) -> Effect:
    """Return what a trait of an operation says, on the waiter that was found for it."""
    stop = None if trait.stop is None else trait.stop.operation
    operations = [found.operation.name] + ([] if stop is None else [stop])
    service = mutation.service_model.signing_name
    return Effect(
        name=trait.name,
        operation=found.operation.name,
        basis=trait.basis,
        settle_for=trait.settle_for,
        stop=stop,
        actions=tuple(_action(service, name) for name in operations),
        documentation=trait.documentation or found.definition.documentation,
    )


def traits_of(service: ServiceWaiters, operation: OperationModel) -> list[EffectTrait]:
    """Return the effects, without those that poll what an older botocore lacks."""
    operations = operation.service_model.operation_names
    return [
        each
        for each in shipped_effects(shape_id_of(operation))
        if each.polled in (service if isinstance(each.waiter, str) else operations)
    ]


def _action(service: str, operation: str) -> str:
    """Return the IAM action of an operation."""
    action = f"{service}:{operation}"
    return {"s3:HeadBucket": "s3:ListBucket", "s3:HeadObject": "s3:GetObject"}.get(action, action)

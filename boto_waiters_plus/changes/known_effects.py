"""What is known of the effects of mutations; what waits for them is slower to import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botocore.model import OperationModel

from ..definitions.changes import Basis, EffectTrait, reason_without_effect, shipped_effects
from ..service.bound_waiter import BoundWaiter
from ..service.service_waiters import ServiceWaiters
from ..service.shapes import shape_id_of


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

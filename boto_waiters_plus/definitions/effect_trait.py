"""What follows a mutation, and what tells that *this* mutation has ended.

`data/effects.json` states it by the trait `boto.waiters#effect`, which `data/traits.json` defines.
`data/no-effect.json` has the mutations that nothing follows; `tools/effect_reasons.py` writes it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from botocore import xform_name

from ..engine.model import WaiterDefinition
from .pollable_list import from_groups
from .shipped import read_shipped, shipped_traits
from .smithy import parse_waiter

EFFECTS_FILE: Final = "effects.json"

EFFECT: Final = "boto.waiters#effect"

Basis = Literal["identity", "goal", "version", "transition", "held"]
"""How it is known that a state belongs to a change; see `Effect.basis`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A case in which there is nothing to wait for."""

    path: str
    """An expression on the call, before it is made: true in this case."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCall:
    """The call that stops what was begun."""

    operation: str
    parameters: Mapping[str, str]
    """By parameter: an expression on the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectTrait:
    """One effect of an operation, as the data has it."""

    name: str
    waiter: str | WaiterDefinition
    """The name of a waiter of the service, or acceptors that see the call."""
    parameters: Mapping[str, str]
    """By parameter of the polled operation: an expression on the call."""
    basis: Basis | None
    """None: the waiter is the caller's."""
    certain: Collection[int] = ()
    """The acceptors that tell of this change, whatever the state was before it."""
    says: tuple[str, ...] = ()
    """What each acceptor says, in words; "" for the common words."""
    settle_for: float = 0
    missing_ok_for: float = 0
    refusals: tuple[Refusal, ...] = ()
    stop: StopCall | None = None
    documentation: str = ""

    @property
    def polled(self) -> str:
        """The name of the waiter in snake case, or of the operation."""
        return xform_name(self.waiter) if isinstance(self.waiter, str) else self.waiter.operation

    @classmethod
    def of(cls, name: str, body: Mapping[str, Any]) -> EffectTrait:
        """Read a valid trait."""
        acceptors = body.get("acceptors", ())
        waiter: str | WaiterDefinition = body.get("waiter", name)
        if acceptors:
            with_delay = {"maxDelay": 30, **body}
            waiter = parse_waiter(
                name, with_delay, operation=body["operation"], source=EFFECTS_FILE
            )
        stop = body.get("stop")
        return cls(
            name=name,
            waiter=waiter,
            parameters=body["parameters"],
            basis=body["basis"],
            certain=[index for index, each in enumerate(acceptors) if each.get("certain")],
            says=tuple(each.get("says", "") for each in acceptors),
            settle_for=body.get("settleFor", 0),
            missing_ok_for=body.get("missingOkFor", 0),
            refusals=tuple(Refusal(**each) for each in body.get("refusals", ())),
            stop=None if stop is None else StopCall(**stop),
            documentation=body.get("documentation", ""),
        )

    def to_json(self) -> dict[str, Any]:
        """Return all but the waiter and the refusals."""
        return asdict(replace(self, waiter="", refusals=()))

    @classmethod
    def from_json(cls, body: Mapping[str, Any], waiter: WaiterDefinition) -> EffectTrait:
        """Read what `to_json` returned."""
        stop = body["stop"]
        own = {"waiter": waiter, "says": tuple(body["says"]), "stop": stop and StopCall(**stop)}
        return cls(**{**body, **own})


def shipped_effects(shape_id: str) -> Iterator[EffectTrait]:
    """Yield the effects of an operation, the one that is meant by default first.

    Args:
        shape_id: of the operation.
    """
    effects = shipped_traits(EFFECTS_FILE, EFFECT).get(shape_id, {})
    return (EffectTrait.of(name, body) for name, body in effects.items())


def reason_without_effect(service_id: str, operation: str) -> str | None:
    """Return why there is nothing to wait for after a call, in words; None: that is not known.

    Args:
        service_id: the hyphenised service id.
        operation: the name of the operation.
    """
    for reason, services in _reasons().items():
        if operation in from_groups(services.get(service_id, "")):
            return reason
    return None


@functools.cache
def _reasons() -> Mapping[str, Mapping[str, str]]:
    reasons: Mapping[str, Mapping[str, str]] = json.loads(read_shipped("no-effect.json") or "{}")
    return reasons

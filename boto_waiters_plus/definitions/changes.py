"""What follows a mutation, and what tells that *this* mutation has ended.

`data/effects.json` states it by the trait `boto.waiters#effect`, and what the answer of a mutation
refuses by `boto.waiters#refusedItems`; `data/traits.json` defines both. `data/no-effect.json` has
the mutations that nothing follows; `tools/effect_reasons.py` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from botocore import xform_name

from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    InputOutputMatcher,
    PathComparator,
    PathMatcher,
)
from ..engine.model import WaiterDefinition
from .parsing import Place
from .shipped import FILE_OF, from_groups, shipped_json, shipped_traits
from .smithy import parse_waiter, read_acceptors
from .state_words import ENDINGS
from .words import verb_of

EFFECT: Final = "boto.waiters#effect"
REFUSED_ITEMS: Final = "boto.waiters#refusedItems"
EFFECTS_FILE: Final = FILE_OF[EFFECT]

OF_ANSWER: Final = re.compile(r"\bcall\.(output|accepted(?! \|\| call\.input))\b")
"""In a path: it takes the answer of the call. What was accepted of what the input names was there
before."""

NOT_FOUND_FOR: Final = 60
"""Seconds in which a service may not know yet what a call has made."""

MAKING_VERBS: Final = frozenset(("Create", "Run", "Start"))

Basis = Literal["identity", "goal", "version", "transition", "held"]
"""How it is known that a state belongs to a change; see `Effect.basis`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A case in which there is nothing to wait for."""

    path: str
    """An expression on the call, before it is made: true in this case."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedItems:
    """Where the answer of a call names the items that it refuses, though its status is 200."""

    path: str
    """On the call: the list. The next three are on an item of it."""
    id: str | None = None
    code: str | None = None
    message: str | None = None
    accepted: str | None = None
    """On the call: the list of what was taken; None: what the input names, less what was
    refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCall:
    """The call that stops what was begun."""

    operation: str
    parameters: Mapping[str, str]
    """By parameter: an expression on the call."""
    each: str | None = None
    """An expression on the call: what is stopped one by one, as `item` of the others."""
    refused: Mapping[str, str] | None = None
    """Where its answer names what it refuses, as in `RefusedItems`."""
    resource: bool = False
    """Whether it names the resource, and would stop what others have begun on it, too."""


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
    own: tuple[Acceptor, ...] = ()
    """Acceptors that come before those of the named waiter. The two fields above begin with
    them."""
    reports: tuple[tuple[str, str], ...] = ()
    """The words that it reports of the state seen, each with its path."""
    each: str | None = None
    """An expression on the call: the items that are judged one by one."""
    pages: bool = False
    """Whether what is looked for may be on any page of the answer: an attempt reads them all."""
    needed: tuple[str, ...] = ()
    """The parameters that the call has to tell, although the operation does not require them."""
    settle_for: float = 0
    missing_ok_for: float = 0
    refusals: tuple[Refusal, ...] = ()
    stop: StopCall | None = None
    documentation: str = ""
    is_beside: bool = False
    """Whether its waiter was found beside the first effect: none of its acceptors is certain."""

    @property
    def polled(self) -> str:
        """The name of the waiter in snake case, or of the operation."""
        return xform_name(self.waiter) if isinstance(self.waiter, str) else self.waiter.operation

    @classmethod
    def of(cls, name: str, body: Mapping[str, Any], mutation: str) -> EffectTrait:
        """Read a valid trait of an operation."""
        acceptors = body.get("acceptors", [])
        waiter: str | WaiterDefinition = body.get("waiter", name)
        own: tuple[Acceptor, ...] = ()
        if "operation" in body:
            with_delay = {"maxDelay": 30, **body}
            waiter = parse_waiter(
                name, with_delay, operation=body["operation"], source=EFFECTS_FILE
            )
        elif acceptors:
            own = read_acceptors(body, Place(EFFECTS_FILE, name))
        if "madeAgain" in body:
            acceptors = [{"certain": True, "says": "it is gone, and made again"}, *acceptors]
            again = _made_again(body["madeAgain"])
            if isinstance(waiter, str):
                own = (again, *own)
            else:
                waiter = replace(waiter, acceptors=(again, *waiter.acceptors))
        stop = body.get("stop")
        return cls(
            name=name,
            waiter=waiter,
            parameters=body["parameters"],
            basis=body["basis"],
            certain=[index for index, each in enumerate(acceptors) if each.get("certain")],
            says=tuple(each.get("says", "") for each in acceptors),
            own=own,
            reports=tuple(body.get("reports", {}).items()),
            each=body.get("each"),
            pages=body.get("pages", False),
            needed=tuple(body.get("needed", ())),
            settle_for=body.get("settleFor", 0),
            missing_ok_for=body.get("missingOkFor", _not_found_for(mutation, body)),
            refusals=tuple(Refusal(**each) for each in body.get("refusals", ())),
            stop=None if stop is None else StopCall(**stop),
            documentation=body.get("documentation", ""),
        )

    def to_json(self) -> dict[str, Any]:
        """Return all but the waiter, its own acceptors and its reports."""
        return asdict(replace(self, waiter="", own=(), reports=()))

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> EffectTrait:
        """Read what `to_json` returned."""
        stop = body["stop"]
        own: dict[str, Any] = {"stop": None if stop is None else StopCall(**stop)}
        own |= {name: tuple(body[name]) for name in ("says", "own", "reports", "needed")}
        own["refusals"] = tuple(Refusal(**each) for each in body["refusals"])
        return cls(**{**body, **own})


def _made_again(path: str) -> Acceptor:
    """Return the success on a resource that was created after the call that deletes it."""
    # The time of the call is in whole seconds.
    later = f"call.time != `null` && {path} >= sum([call.time, `2`])"
    holds = PathMatcher(path=later, expected="true", comparator=PathComparator.BOOLEAN_EQUALS)
    return Acceptor(state=AcceptorState.SUCCESS, matcher=InputOutputMatcher(holds))


def _not_found_for(mutation: str, body: Mapping[str, Any]) -> float:
    """Return for how long what a call has made may not be found, where the data does not say."""
    verb, is_identity = verb_of(mutation), body["basis"] == "identity"
    if not is_identity and verb.upper().startswith(tuple(ENDINGS)):
        return 0
    is_told = any(map(OF_ANSWER.search, body["parameters"].values()))
    return NOT_FOUND_FOR if is_told or (is_identity and verb in MAKING_VERBS) else 0


def shipped_effects(shape_id: str) -> Iterator[EffectTrait]:
    """Yield the effects of an operation, the one that is meant by default first.

    Args:
        shape_id: of the operation.
    """
    effects = shipped_traits(EFFECT).get(shape_id, {})
    mutation = shape_id.partition("#")[2]
    return (EffectTrait.of(name, body, mutation) for name, body in effects.items())


def shipped_refused_items(shape_id: str) -> RefusedItems | None:
    """Return where the answer of an operation names what it refuses; None if it does not.

    Args:
        shape_id: of the operation.
    """
    body = shipped_traits(REFUSED_ITEMS).get(shape_id, {})
    if "path" not in body or "ignored" in body:
        return None
    return RefusedItems(**body)


def reason_without_effect(service_id: str, operation: str) -> str | None:
    """Return why there is nothing to wait for after a call, in words; None: that is not known.

    Args:
        service_id: the hyphenised service id.
        operation: the name of the operation.
    """
    reasons: Mapping[str, Mapping[str, str]] = shipped_json("no-effect.json")
    for reason, services in reasons.items():
        if operation in from_groups(services.get(service_id, "")):
            return reason
    return None


# --- what `data/idempotency.json` tells of operations and errors, by traits of `data/traits.json`
# - `boto.waiters#token`: the tokens that botocore's models do not mark.
# - `boto.waiters#tokenLifetime`: how long a service knows a token.
# - `boto.waiters#inProgress`: the errors that say that another change is in progress.
# - `boto.waiters#noChange`: the errors that say that there is nothing to change.
# - `boto.waiters#describedBy`: the call that tells who made a resource that exists.
# - `boto.waiters#alreadyExists`: the errors that themselves say who made it.

TOKEN = "boto.waiters#token"  # noqa: S105 - the id of a trait
TOKEN_LIFETIME = "boto.waiters#tokenLifetime"  # noqa: S105 - the same
IN_PROGRESS = "boto.waiters#inProgress"
NO_CHANGE = "boto.waiters#noChange"
DESCRIBED_BY = "boto.waiters#describedBy"
ALREADY_EXISTS = "boto.waiters#alreadyExists"
IDEMPOTENCY_FILE = FILE_OF[TOKEN]
PROPAGATING = "boto.waiters#propagating"
"""In `data/propagating.json`: what says that something new is not visible to a service yet."""


def shipped_existence(
    namespace: str, names: Iterable[str], response: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what an error says about who made a resource; None if it says nothing.

    Args:
        namespace: of the service: `com.amazonaws.route53`.
        names: of the error: its code, and the names that the model has for it.
        response: the error response.
    """
    for name in names:
        found: Any = shipped_traits(ALREADY_EXISTS).get(f"{namespace}#{name}")
        if found and all(response.get(k) == v for k, v in found.get("members", {}).items()):
            return found  # type: ignore[no-any-return] # what `data/traits.json` says it is
    return None


def says_in_progress(
    namespace: str, names: Iterable[str], message: str, *, is_asked: bool = False
) -> bool:
    """Return whether an error says that another change of the resource is in progress.

    Args:
        namespace: of the service: `com.amazonaws.route53`.
        names: of the error: its code, and the names that the model has for it.
        message: of the service.
        is_asked: whether the caller has said for how long such a call is repeated: what may mean
            something else, too, counts then by its words.
    """
    metadata = shipped_json(IDEMPOTENCY_FILE).get("metadata", {})
    without_data = {"words": (), "codes": {}, "asked": {"words": (), "codes": ()}}
    of_any_service = metadata.get(IN_PROGRESS, without_data)
    text, names = message.lower(), [*names]
    is_said = any(words in text for words in of_any_service["words"])
    traits = shipped_traits(IN_PROGRESS)
    of_service = [each for name in names if (each := traits.get(f"{namespace}#{name}"))]
    found = [each for each in of_service if not each.get("onlyAsked")] or [
        of_any_service["codes"][name] for name in names if name in of_any_service["codes"]
    ]
    if any(is_said or not each.get("decidedByMessage", False) for each in found):
        return True
    if not is_asked or "already exist" in text or "satisfy constraint" in text:
        return False
    asked = of_any_service["asked"]
    found = [each for each in of_service if each.get("onlyAsked") or "words" in each]
    # What is known of the service decides.
    if not found and not {*names}.isdisjoint(asked["codes"]):
        found = [asked]
    return any(_says(each, text) for each in found)


def _says(trait: Mapping[str, Any], text: str) -> bool:
    """Return whether a message, in lower case, has one of the words that a trait asks for."""
    return any(words in text for words in trait.get("words", ("",)))


def says_no_change(shape_ids: Iterable[str], message: str, *, is_one: bool = True) -> bool:
    """Return whether an error or a reason says that nothing had to be changed.

    Args:
        shape_ids: of the error, by each of its names, or of the operation whose effect has failed.
        message: of the service.
        is_one: whether one change was asked for, at most: the message may be about one of several.
    """
    traits, text = shipped_traits(NO_CHANGE), message.lower()
    found = [traits[each] for each in shape_ids if each in traits]
    return any(_says(each, text) and (is_one or not each.get("ofOne")) for each in found)


def says_propagating(operation: str, code: str, message: str) -> bool:
    """Return whether an error says that a new role or another new thing is not visible yet.

    Args:
        operation: that was called: its shape id, or its name, as an error has it.
        code: of the error.
        message: of the service.
    """
    text = message.lower()
    return any(
        known["code"] == code and _says(known, text)
        for shape_id, refusals in shipped_traits(PROPAGATING).items()
        if operation in (shape_id, shape_id.partition("#")[2])
        for known in refusals
    )

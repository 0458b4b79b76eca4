"""Rules of what belongs together: the twins of a service, and the waiters of an operation.

| rule | what is found |
|---|---|
| `WaiterTwinLacks.W`, `EffectTwinLacks.E` | a twin answers the same, and has no such wait |
| `WaiterTwinDiffers.W` | that of a twin passes over what ends this one, or has other delays |
| `EffectTwinDiffers.E` | that of a twin has another basis, or other times |
| `WaiterSiblingDiffers.W` | it passes over what ends another waiter of its operation |

`tools/data_rules.py` and `tools/effect_rules.py` apply them. botocore's own waiters are what they
are, and a name explains the states that it is about: `PortalDisabled` passes over `PUBLISH_FAILED`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from botocore.model import OperationModel, ServiceModel
from effect_of import EffectOf, Found, effects, path_of
from observed_states import models

from boto_waiters_plus.check.events import Finding, Severity
from boto_waiters_plus.check.model import enum_of
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.definitions.state_words import means_absence, means_gone, state_words
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    DocumentMatcher,
    ErrorTypeMatcher,
)
from boto_waiters_plus.engine.model import GENERATED, WaiterDefinition
from boto_waiters_plus.service.shapes import walk

TWINS: Final = (
    "agent-registry-control bedrock-agentcore-control",
    "apigatewayv2 apiportal",
    "codeconnections codestar-connections",
    "detective guardduty macie2 securityhub",
    "docdb neptune rds",
    "drs mgn",
    "ecr ecr-public",
    "elasticsearch-service opensearch",
    "kinesis-analytics kinesis-analytics-v2",
    "waf waf-regional",
)
_OWN_WORDS: Final = re.compile("elasticsearch|crossclustersearch")
"""What only the names of one twin have."""
_COMPARED: Final = re.compile(r"(\w+)\s*[!=]=\s*'([^']+)'")
_SUCCESS, _RETRY, _FAILURE = AcceptorState.SUCCESS, AcceptorState.RETRY, AcceptorState.FAILURE

Ends = Mapping[tuple[str, str], AcceptorState]
"""What acceptors make of a value of a member, or of an error, whose member is ""."""


def _plain(name: str) -> str:
    return _OWN_WORDS.sub("", name.lower())


def _ends(acceptors: Iterable[Acceptor]) -> Ends:
    found: dict[tuple[str, str], AcceptorState] = {}
    for each in acceptors:
        named: list[tuple[str, str]] = []
        match each.matcher:
            case ErrorTypeMatcher(name):
                named = [("", name.removesuffix("Fault"))]
            case DocumentMatcher(matcher):
                named = _COMPARED.findall(path_of(each))
                if matcher.expected not in ("true", "false"):
                    named = [(re.findall(r"\w+", path_of(each))[-1], matcher.expected)]
        for member, value in named:
            found.setdefault((_plain(member), value), each.state)
    return found


def _members(operation: OperationModel) -> dict[str, tuple[str, ...]]:
    """Return the members of a call, however deep, with the values of those that list them."""
    shapes = (operation.input_shape, operation.output_shape)
    return {_plain(each.name): enum_of(each.shape) for shape in shapes for each in walk(shape)}


def _service(operation: OperationModel) -> str:
    return str(operation.service_model.service_id.hyphenize())


@functools.cache
def _operations(service_id: str) -> Mapping[str, OperationModel]:
    model = dict(models())[service_id]
    return {_plain(name): model.operation_model(name) for name in model.operation_names}


@functools.cache
def _effects() -> Mapping[tuple[str, str, str], EffectOf]:
    return {
        (_service(each.mutation), _plain(each.mutation.name), _plain(each.name)): each
        for each in effects()
    }


def _twins(operation: OperationModel, *others: str) -> Iterator[tuple[str, OperationModel]]:
    """Yield the twins of a service that have operations, and how they call the first."""
    service = _service(operation)
    for group in (each.split() for each in TWINS):
        for twin in group if service in group else ():
            known = _operations(twin)
            names = {*map(_plain, (operation.name, *others))}
            if twin != service and names <= known.keys():
                yield twin, known[_plain(operation.name)]


def _can_have(twin: OperationModel, polled: OperationModel, acceptors: Iterable[Acceptor]) -> bool:
    """Whether the call of a twin has all that successes read, with a value of each."""
    known, here = _members(polled), _members(twin)
    successes = [each for each in acceptors if each.state is _SUCCESS]
    paths = [re.sub(r"call\.\w+\.[\w.]+|'[^']*'", "", path_of(each)) for each in successes]
    read = {_plain(word) for word in re.findall(r"\w+", " ".join(paths))} & known.keys()
    values = _ends(successes)
    return read <= here.keys() and all(
        not here.get(member) or any((member, value) in values for value in here[member])
        for member, _ in values
    )


def twins_of_waiter(waiter: WaiterDefinition, model: ServiceModel) -> Iterator[Finding]:
    """Find a twin of the service that lacks the waiter, or has another one under its name."""
    polled = model.operation_model(waiter.operation)
    for twin, operation in _twins(polled):
        others = {_plain(each.name): each for each in shipped_definitions(twin)}
        other = others.get(_plain(waiter.name))
        if other is None and _can_have(operation, polled, waiter.acceptors):
            text = f"{twin} has {operation.name}, and no such waiter"
            yield Finding(Severity.WARNING, "WaiterTwinLacks", text)
        if other is None or GENERATED in {*waiter.tags, *other.tags}:
            continue
        values, ends = _members(operation), _ends(other.acceptors)
        values[""] = tuple(each.name.removesuffix("Fault") for each in operation.error_shapes)
        passed = [
            value
            for (member, value), state in _ends(waiter.acceptors).items()
            if not member or any(member == read for read, _ in ends)
            if value in (values.get(member) or [value])
            if ends.get((member, value), _RETRY if member else _FAILURE) is not state
        ]
        if (waiter.min_delay, waiter.max_delay) != (other.min_delay, other.max_delay):
            passed.append("the delays")
        if passed:
            text = f"that of {twin} has others, or none, for {', '.join(passed)}"
            yield Finding(Severity.WARNING, "WaiterTwinDiffers", text)


def twins_of_effect(effect: EffectOf) -> Iterator[Found]:
    """Find a twin of the service that lacks the effect, or has another one under its name."""
    call = effect.mutation.name
    for twin, operation in _twins(effect.polled, call):
        other = _effects().get((twin, _plain(call), _plain(effect.name)))
        if other is None and _can_have(operation, effect.polled, effect.acceptors):
            yield Found("EffectTwinLacks", f"{twin} has {call}, and no such effect")
        for key in ("basis", "settleFor", "missingOkFor") if other else ():
            if effect.body.get(key) != other.body.get(key):
                text = f"that of {twin} has {key} {other.body.get(key)}, not {effect.body.get(key)}"
                yield Found("EffectTwinDiffers", text)


def siblings_of(waiter: WaiterDefinition, others: Sequence[WaiterDefinition]) -> Iterator[Finding]:
    """Find what ends another waiter of the operation that is for such an end, too."""
    own, kind = _ends(waiter.acceptors), _kind(waiter)
    for other in others if GENERATED not in waiter.tags else ():
        if other is waiter or _kind(other) != kind:
            continue
        named = _starts(waiter.name) | _starts(other.name)
        # An error fails a wait without an acceptor; the codes of botocore's waiters are old ones.
        errors = {_RETRY, _SUCCESS} if kind[0] else {_RETRY}
        passed = [
            value
            for (member, value), state in _ends(other.acceptors).items()
            if (member, value) not in own
            if (
                state is _FAILURE
                and any(member == read for read, _ in own)
                and named.isdisjoint(_starts(value))
                if member
                else state in errors and GENERATED not in other.tags
            )
        ]
        if passed:
            text = f"it passes over {', '.join(passed)}, which {other.name} does not"
            yield Finding(Severity.WARNING, "WaiterSiblingDiffers", text)


def _kind(waiter: WaiterDefinition) -> tuple[bool, bool]:
    return means_absence(waiter.name), means_gone(waiter.name)


def _starts(name: str) -> set[str]:
    """Return the beginnings of the words of a name: `DELE` of `DELETING` and of `Deleted`."""
    return {word[:4] for word in state_words(name)} - {"FAIL"}


RULES = (twins_of_effect,)

"""Rules of what belongs together: the twins of a service, and the waiters of an operation.

| rule | what is found |
|---|---|
| `WaiterTwinLacks.W`, `EffectTwinLacks.E` | a twin has its operation and members, but no such wait |
| `WaiterTwinDiffers.W`, `EffectTwinDiffers.E` | the wait of a twin passes over what ends this one |
| `WaiterSiblingDiffers.W` | it passes over what ends another waiter of its operation |

`tools/data_rules.py` and `tools/effect_rules.py` apply them. Of botocore's waiters no rule asks
more. What a name explains is none: a process that one of two waiters is named after.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from botocore.model import OperationModel, ServiceModel, Shape
from effect_of import EffectOf, Found, effects, path_of
from observed_states import models

from boto_waiters_plus.check.events import Finding, Severity
from boto_waiters_plus.check.model import enum_of
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.definitions.state_words import means_absence, means_gone, state_words
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    OutputMatcher,
    PathComparator,
)
from boto_waiters_plus.engine.model import GENERATED, WaiterDefinition
from boto_waiters_plus.service.shapes import walk

TWINS: Final = tuple(
    tuple(line.split())
    for line in """
    docdb neptune rds
    elasticsearch-service opensearch
    detective guardduty macie2 securityhub
    codeconnections codestar-connections
    agent-registry-control bedrock-agentcore-control
    apigatewayv2 apiportal
    drs mgn
    ecr ecr-public
    kinesis-analytics kinesis-analytics-v2
    waf waf-regional
    """.strip().splitlines()
)
_OWN_WORDS: Final = re.compile("Elasticsearch|CrossClusterSearch")
"""What only the names of one twin have."""

_COMPARED: Final = re.compile(r"(\w+)(?:, '')?\)?\s*[!=]=\s*'([^']+)'")
_CONTAINED: Final = re.compile(r"contains\(`\[([^\]]*)\]`, [^)]*?(\w+)\b(?:, '')?\)")

_SUCCESS, _RETRY, _FAILURE = AcceptorState.SUCCESS, AcceptorState.RETRY, AcceptorState.FAILURE

Ends = dict[tuple[str, str], AcceptorState]
"""What acceptors make of a value of a member, or of an error, whose member is ""."""


def ends_of(acceptors: Iterable[Acceptor]) -> Ends:
    """Return what acceptors make of the values and the errors that they name."""
    found: Ends = {}
    for each in acceptors:
        named: list[tuple[str, str]] = []
        match each.matcher:
            case ErrorTypeMatcher(name):
                named = [("", name.removesuffix("Fault"))]
            case OutputMatcher(matcher) | InputOutputMatcher(matcher):
                path = path_of(each)
                named = [(_plain(m), v) for m, v in _COMPARED.findall(path)]
                for values, member in _CONTAINED.findall(path):
                    named += [(_plain(member), v.strip('" ')) for v in values.split(",")]
                if matcher.comparator is not PathComparator.BOOLEAN_EQUALS:
                    [*_, member] = re.findall(r"\w+", path)
                    named.append((_plain(member), matcher.expected))
        for key in named:
            found.setdefault(key, each.state)
    return found


def _twins(service_id: str) -> Iterator[str]:
    for group in TWINS:
        if service_id in group:
            yield from (each for each in group if each != service_id)


@functools.cache
def _operations(service_id: str) -> Mapping[str, OperationModel]:
    model = dict(models())[service_id]
    return {_OWN_WORDS.sub("", name): model.operation_model(name) for name in model.operation_names}


@functools.cache
def _effects() -> Mapping[tuple[str, str], Mapping[str, EffectOf]]:
    found: defaultdict[tuple[str, str], dict[str, EffectOf]] = defaultdict(dict)
    for each in effects():
        found[_service(each.mutation), _plain(each.mutation.name)][_plain(each.name)] = each
    return found


def _service(operation: OperationModel) -> str:
    return str(operation.service_model.service_id.hyphenize())


def _members(operation: OperationModel) -> dict[str, tuple[str, ...]]:
    """Return the members of a call, however deep, with the values of those that list them."""
    shapes = (operation.input_shape, operation.output_shape)
    return {_plain(each.name): enum_of(each.shape) for shape in shapes for each in walk(shape)}


def _plain(name: str) -> str:
    return _OWN_WORDS.sub("", name).lower()


def _can_have(twin: OperationModel, polled: OperationModel, acceptors: Iterable[Acceptor]) -> bool:
    """Whether an answer has all that a success reads, and one of the values of each."""
    known, here = _members(polled), _members(twin)
    read: set[str] = set()
    possible: defaultdict[str, bool] = defaultdict(bool)
    for each in acceptors:
        if each.state is _SUCCESS:
            path = re.sub(r"call\.\w+\.[\w.]+|'[^']*'", "", path_of(each))
            read |= {_plain(word) for word in re.findall(r"\w+", path)} & known.keys()
            for member, value in ends_of([each]):
                possible[member] |= not here.get(member) or value in here[member]
    return read <= here.keys() and all(possible.values())


def _passed_over(own: Ends, other: Ends, operation: OperationModel) -> list[str]:
    """Return what ends another wait, and is possible here, but is not named."""
    values = _members(operation)
    read = {member for member, _ in own}
    errors = {each.name.removesuffix("Fault") for each in operation.error_shapes}
    return sorted(
        value
        for (member, value), state in other.items()
        if own.get((member, value), _RETRY if member else _FAILURE)
        is not state
        and (
            (member in read and (not values.get(member) or value in values[member]))
            if member
            else value in errors
        )
    )


def twins_of_waiter(waiter: WaiterDefinition, model: ServiceModel) -> Iterator[Finding]:
    """Find a twin of the service that lacks the waiter, or has another one under its name."""
    polled = model.operation_model(waiter.operation)
    for twin in _twins(_service(polled)):
        operation = _operations(twin).get(_OWN_WORDS.sub("", waiter.operation))
        if operation is None:
            continue
        names = {_plain(each.name): each for each in shipped_definitions(twin)}
        other = names.get(_plain(waiter.name))
        if other is None:
            if _can_have(operation, polled, waiter.acceptors):
                text = f"{twin} has {operation.name}, and no such waiter"
                yield Finding(Severity.WARNING, "WaiterTwinLacks", text)
        elif GENERATED not in {*waiter.tags, *other.tags}:
            passed = _passed_over(ends_of(other.acceptors), ends_of(waiter.acceptors), operation)
            if passed:
                text = f"that of {twin} has another end for {', '.join(passed)}, or none"
                yield Finding(Severity.WARNING, "WaiterTwinDiffers", text)


def siblings_of(waiter: WaiterDefinition, others: Sequence[WaiterDefinition]) -> Iterator[Finding]:
    """Find what ends another waiter of the operation that is for such an end, too."""
    own, kind = ends_of(waiter.acceptors), _kind(waiter)
    read = {member for member, _ in own}
    for other in others if GENERATED not in waiter.tags else ():
        if other is waiter or _kind(other) != kind:
            continue
        named = _starts(waiter.name) | _starts(other.name)
        passed = [
            value
            for (member, value), state in ends_of(other.acceptors).items()
            if (member, value) not in own
            and (
                state is _FAILURE and member in read and named.isdisjoint(_starts(value))
                if member
                else state is _RETRY or (state is _SUCCESS and kind[0])
            )
            and (member or GENERATED not in other.tags)
        ]
        if passed:
            text = f"it passes over {', '.join(passed)}, which {other.name} does not"
            yield Finding(Severity.WARNING, "WaiterSiblingDiffers", text)


def _kind(waiter: WaiterDefinition) -> tuple[bool, bool]:
    """Whether a waiter waits for an absence, and whether for the end of the resource."""
    return means_absence(waiter.name), means_gone(waiter.name)


def _starts(name: str) -> set[str]:
    """Return the beginnings of the words of a name: `DELE` of `DELETING` and of `Deleted`."""
    return {word[:4] for word in state_words(name)} - {"FAIL"}


def twins_of_effect(effect: EffectOf) -> Iterator[Found]:
    """Find a twin of the service that lacks the effect, or has another one under its name."""
    for twin in _twins(_service(effect.mutation)):
        name = _OWN_WORDS.sub("", effect.mutation.name)
        polled = _operations(twin).get(_OWN_WORDS.sub("", effect.polled.name))
        if name not in _operations(twin) or polled is None:
            continue
        other = _effects().get((twin, _plain(name)), {}).get(_plain(effect.name))
        if other is None:
            if _can_have(polled, effect.polled, effect.acceptors):
                yield Found("EffectTwinLacks", f"{twin} has the operation, and no such effect")
            continue
        # Of waiters with one name, the rule of waiters tells.
        is_named = isinstance(effect.trait.waiter, str) and isinstance(other.trait.waiter, str)
        own, others = (e.trait.own if is_named else e.acceptors for e in (effect, other))
        passed = _passed_over(ends_of(others), ends_of(own), polled)
        for key in ("basis", "settleFor", "missingOkFor"):
            if effect.body.get(key) != other.body.get(key):
                passed.append(f"{key} {effect.body.get(key)}")
        if passed:
            yield Found("EffectTwinDiffers", f"that of {twin} lacks {', '.join(passed)}")


RULES = (twins_of_effect,)

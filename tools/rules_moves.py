"""The states that only the change itself shows are named, so that no other state moves its wait.

After `RebootDBInstance` the model of the answer has `rebooting`: a nightly `backing-up` must not
make the `available` from before the call a success. A retry acceptor marked `certain` names each
state that means that the verb of the mutation is under way.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jmespath
from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape
from effect_answers import literals_in
from effect_of import EffectOf, Found, path_of

from boto_waiters_plus.definitions.state_words import (
    ENDED_WORDS,
    ENDINGS,
    FAILED_WORDS,
    documented_states,
    is_underway,
    state_words,
)
from boto_waiters_plus.definitions.words import listed, resource_of, verb_of, words_of
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    InputOutputMatcher,
    OutputMatcher,
)

CHANGE_STEMS = ("MODIF", "UPDAT")
"""Beginnings of the words of any change of a part: models take one for the other."""
_NO_CHANGES = listed("Complete Create Failover Reboot Release Restart Restore Start Stop Test")
_START = ("START", "INITIALI", "PROVISION", "RUNNING", "ENABL")
_PROCESSES = listed("ASSESSMENT CHECK MERGE PREVIEW REFRESH TEST")
"""Words of a mutation that name what it starts: `StartSchemaMerge`."""
_GENERIC = listed("IN PENDING PROCESSING PROGRESS QUEUED REQUESTED SCHEDULED SUBMITTED")
_FILLERS = listed("A BE BEING IN IS OF PENDING PROGRESS REQUESTED SCHEDULED TO")
_BACKWARDS = (*ENDINGS, "CANCEL", "DISABL", "ROLL", "STOP")
_NOT_OWN = listed("UPDATING_AGENT")
"""What an image builder shows when it starts, whatever UpdateImageBuilder has changed."""
_STATE = re.compile(r"(?i)(state|status|lifecycle|support)\w*(\.\w+)?\Z")
"""The end of the path of a state, which may be in a structure: `Status.Code`."""

_PARTS = {
    "bedrock#StartAutomatedReasoningPolicyTestWorkflow": "TEST",
    "cloudformation#ContinueUpdateRollback": "ROLL",
    "cloudformation#ExecuteChangeSet": "CREAT IMPORT UPDAT",
    "databasemigrationservice#ModifyReplicationInstance": "UPGRAD",
    "databasemigrationservice#StartReplicationTaskAssessment": "TEST",
    "directoryservice#EnableRadius": "CREAT",
    "directoryservice#UpdateRadius": "CREAT",
    "ec2#ModifyClientVpnEndpoint": "APPLY",
    "ec2#ModifyRouteServer": "ENABL DISABL RESET",
    "ec2#ModifyTransitGatewayAttachmentNatConfiguration": "ENABL DISABL",
    "ec2#ModifyVpcEncryptionControl": "ENFORC MONITOR",
    "elasticbeanstalk#ComposeEnvironments": "LAUNCH UPDAT",
    "emr#ModifyInstanceFleet": "RESIZ RECONFIGUR",
    "emr#ModifyInstanceGroups": "RESIZ RECONFIGUR",
    "emr#PutAutoScalingPolicy": "ATTACH PENDING",
    "lambda#UpdateEventSourceMapping": "ENABL DISABL",
    "rds#ModifyTenantDatabase": "CREAT ROTAT",
    "redshift#ModifyCluster": "RENAM RESIZ",
    "workspaces#DeployWorkspaceApplications": "INSTALLING UNINSTALLING",
}
"""Beginnings of the words of other states that these mutations lead to, by their documentation."""

_GUIDES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "rds docdb neptune": {
        "DBInstances[].DBInstanceStatus": {
            "Modify": "configuring-enhanced-monitoring configuring-iam-database-auth "
            "configuring-log-exports converting-to-vpc modifying moving-to-vpc renaming "
            "resetting-master-credentials storage-config-upgrade upgrading",
            "Reboot": "rebooting",
        },
        "DBClusters[].Status": {
            "Failover": "failing-over",
            "Modify": "modifying renaming resetting-master-credentials update-iam-db-auth "
            "upgrading",
            "Reboot": "rebooting",
        },
        "DBShardGroups[].Status": {"Modify": "modifying", "Reboot": "rebooting"},
        "GlobalClusters[].Status": {"Modify": "modifying upgrading"},
        "TargetGroups[].Status": {"Modify": "modifying"},
        "TenantDatabases[].Status": {"Modify": "modifying"},
    },
    "databasemigrationservice": {
        "Replications[].Status": {
            "Start": "calculating_capacity fetching_metadata initializing "
            "preparing_metadata_resources provisioning_capacity replication_starting "
            "testing_connection",
        },
    },
    "eks": {"subscription.status": {"Update": "UPDATING"}},
    "elasticache": {
        "GlobalReplicationGroups[].Status": dict.fromkeys(
            ("Disassociate", "Modify", "Rebalance"), "modifying"
        ),
    },
    "memorydb": {"MultiRegionClusters[].Status": {"Update": "updating"}},
    "redshift": {"EndpointAccessList[].EndpointStatus": {"Modify": "modifying"}},
}
"""States of strings whose values the model does not list, by the guides of the services."""


_Read = dict[str, tuple[Shape, set[str]]]
"""By path: a string member of the answer, and the strings that it is compared with."""


def own_state(effect: EffectOf) -> Iterator[Found]:
    """Yield the states of the verb of a mutation that no retry acceptor names as its own."""
    uncertain = [effect.acceptors[index] for index in uncertain_successes(effect)]
    if not uncertain:
        return
    named = {
        literal.casefold()
        for index, each in enumerate(effect.acceptors)
        if each.state is AcceptorState.RETRY and index in effect.trait.certain
        for literal in compared_texts([each])
    }
    for path, states in own_states(effect, uncertain).items():
        missing = [state for state in states if state.casefold() not in named]
        if missing:
            text = f"no certain retry names {', '.join(missing)} of {path}"
            yield Found("EffectOwnState", text)


def uncertain_successes(effect: EffectOf) -> list[int]:
    """Return the indexes of the successes that the state from before the call may match."""
    trait = effect.trait
    is_whole = isinstance(trait.waiter, str) and trait.basis in ("goal", "identity", "version")
    if not trait.settle_for or is_whole:
        return []
    return [
        index
        for index, each in enumerate(effect.acceptors)
        if each.state is AcceptorState.SUCCESS and index not in trait.certain
    ]


def own_states(effect: EffectOf, acceptors: Sequence[Acceptor]) -> dict[str, list[str]]:
    """Return the states of the verb of the mutation, by the members that acceptors read."""
    successes = [each for each in effect.acceptors if each.state is AcceptorState.SUCCESS]
    states = states_read(effect, acceptors)
    # A certain success may compare more states of the same member.
    states = {path: states_read(effect, successes)[path] for path in states}
    states = states or states_read(effect, effect.acceptors)
    found = {path: _own_of(effect, path, *each) for path, each in states.items()}
    if not any(found.values()) and verb_of(effect.mutation.name) not in _NO_CHANGES:
        found = {
            path: _of(effect, path, *each, stems=CHANGE_STEMS) for path, each in states.items()
        }
    return {path: each for path, each in found.items() if each}


def states_read(effect: EffectOf, acceptors: Sequence[Acceptor]) -> _Read:
    """Return the states that acceptors read, by path, with the strings they are compared with."""
    read: _Read = {}
    for each in acceptors:
        for path, (shape, literals) in _members_read(each, effect.polled).items():
            if _STATE.search(path):
                read.setdefault(path, (shape, set()))[1].update(literals)
    return read


def _own_of(effect: EffectOf, path: str, shape: Shape, literals: set[str]) -> list[str]:
    """Return the states of a member that the mutation leads to."""
    service, _, mutation = effect.shape.removeprefix("com.amazonaws.").partition("#")
    verb, last = verb_of(mutation), words_of(mutation)[-1].upper()
    for services, members in _GUIDES.items():
        if service in services.split() and path in members:
            return members[path].get(verb, "").split()
    stem = verb.upper().rstrip("EY")
    stems = CHANGE_STEMS if stem in CHANGE_STEMS else (stem,)
    if verb == "Start":
        stems = (last,) if last in _PROCESSES else _START
    stems += tuple(_PARTS.get(f"{service}#{mutation}", "").split())
    found = _of(effect, path, shape, literals, stems=stems)
    if found or verb != "Start":
        return found
    process = resource_of(effect.polled.name.removesuffix("Status"))
    is_process = process == resource_of(mutation)
    return [each for each in shape.enum if is_process and state_words(each) <= _GENERIC]


def _of(
    effect: EffectOf, path: str, shape: Shape, literals: set[str], *, stems: tuple[str, ...]
) -> list[str]:
    """Return the states of a member that have one of these beginnings of words.

    If the member is named so, they are those that are on their way: `updateStatus`.
    """
    values = values_of(shape, stems, literals)
    known = _known_words(effect.mutation, path)
    found = [each for each in values if _is_of(stems, each, known, literals)]
    if any(word.upper().startswith(stems) for word in words_of(path)):
        on_way = [each for each in values if _is_on_its_way(each)]
        found += [each for each in on_way if not found or state_words(each) <= _GENERIC]
    return list(dict.fromkeys(found))


def _is_of(stems: tuple[str, ...], state: str, known: frozenset[str], literals: set[str]) -> bool:
    """Whether a state says that something with these beginnings is under way."""
    words = state_words(state)
    own = {word for word in words if word.startswith(stems)}
    rest = words - own
    is_back = any(word.startswith(_BACKWARDS) for word in rest)
    is_on_way = _is_underway(words)
    # Something that runs may be at rest.
    is_on_way |= "RUNNING" in own and state not in literals
    return (
        bool(own)
        and state not in _NOT_OWN
        and is_on_way
        and not is_back
        and not rest & (FAILED_WORDS | ENDED_WORDS)
        and rest - _FILLERS <= known
    )


def _is_underway(words: frozenset[str]) -> bool:
    return is_underway(words) or "SCHEDULED" in words


def _is_on_its_way(state: str) -> bool:
    words = state_words(state)
    is_back = any(word.startswith(_BACKWARDS) for word in words)
    return _is_underway(words) and not is_back and not words & FAILED_WORDS


def _known_words(mutation: OperationModel, path: str) -> frozenset[str]:
    """Return the words of a mutation, its parameters and the path of a state."""
    names = [mutation.name, path, *_parameters(mutation.input_shape)]
    words = {word.upper() for name in names for word in words_of(name)}
    # `rotating-keys` of RotateEncryptionKey.
    return frozenset(words | {f"{word}S" for word in words})


def _parameters(shape: Shape | None) -> Iterator[str]:
    return iter(shape.members if isinstance(shape, StructureShape) else ())


def values_of(shape: Shape, stems: tuple[str, ...], literals: set[str]) -> tuple[str, ...]:
    """Return the values of a state: those of the model, or of its documentation and literals."""
    if shape.metadata.get("enum"):
        return tuple(shape.metadata["enum"])
    found = documented_states(shape.documentation)
    if not found:
        words = re.findall(r"[A-Za-z][\w-]*", re.sub("<[^>]+>", " ", shape.documentation))
        found = tuple(each for each in words if each.upper().startswith(stems))
    if literals and all(map(str.islower, literals)):
        # The documentation writes "Updating" for what answers have as "updating".
        found = tuple(each.lower() for each in found)
    return tuple(dict.fromkeys((*found, *sorted(literals))))


def compared_texts(acceptors: Sequence[Acceptor]) -> set[str]:
    """Return the strings that acceptors compare."""
    found: set[Any] = set()
    for each in acceptors:
        if path := path_of(each):
            found |= {each.matcher.matcher.expected, *literals_in(path)}
    return {each for each in found if isinstance(each, str)} - {"true", "false", "|", ""}


def _members_read(acceptor: Acceptor, operation: OperationModel) -> _Read:
    """Return the string members of the answer that an acceptor reads."""
    match acceptor.matcher:
        case OutputMatcher(matcher=matcher):
            document: Any = ("", operation.output_shape)
        case InputOutputMatcher(matcher=matcher):
            document = {"output": ("", operation.output_shape)}
        case _:
            return {}
    found: _Read = {}
    end = _read(jmespath.compile(matcher.path).parsed, document, found=found)
    _compare(end, [matcher.expected], found)
    return found


def _compare(at: Any, values: Any, found: _Read) -> None:
    """Note the strings that a member is compared with."""
    at = _element(at)
    if isinstance(at, tuple) and at[0] in found:
        texts = values if isinstance(values, list) else [values]
        found[at[0]][1].update(each for each in texts if isinstance(each, str))


def _read(node: Any, at: Any, *, found: _Read) -> Any:
    """Return the path and shape of a node; None if it is not a member of the answer.

    Args:
        node: of an expression.
        at: the path and shape that it is evaluated on, or a mapping of such.
        found: takes the strings.
    """
    kind, children = node["type"], node["children"]
    read = functools.partial(_read, found=found)
    match kind:
        case "field":
            at = _member(at, node["value"])
            match _element(at):
                case (path, Shape() as shape) if shape.type_name == "string":
                    found.setdefault(path, (shape, set()))
        case "subexpression" | "pipe" | "index_expression" | "flatten":
            for child in children:
                at = read(child, at)
        case "index":
            at = _element(at)
        case "projection" | "value_projection" | "filter_projection":
            at = _element(read(children[0], at))
            for condition in children[2:]:
                read(condition, at)
            at = read(children[1], at)
        case "multi_select_dict":
            at = {each["value"]: read(each["children"][0], at) for each in children}
        case kind if kind not in ("current", "identity", "slice"):
            at = _read_others(node, [read(child, at) for child in children], found)
    return at


def _read_others(node: Any, values: Sequence[Any], found: _Read) -> Any:
    """Note the comparisons of a node, and return what a function gives back of its argument."""
    texts = [child.get("value") for child in node["children"]]
    name = node.get("value")
    if node["type"] == "comparator":
        _compare(values[0], texts[1], found)
        _compare(values[1], texts[0], found)
    elif name == "contains":
        _compare(values[1], texts[0], found)
    elif name in ("not_null", "max_by", "min_by", "sort_by", "sort"):
        return values[0]
    return None


def _member(at: Any, name: str) -> Any:
    if isinstance(at, dict):
        return at.get(name)
    if at is None:
        return None
    path, shape = _element(at)
    if isinstance(shape, StructureShape) and name in shape.members:
        return (f"{path}.{name}" if path else name, shape.members[name])
    return None


def _element(at: Any) -> Any:
    """Return the item of a list or map; what is neither is its own."""
    match at:
        case (path, ListShape() as shape):
            return (f"{path}[]", shape.member)
        case (path, MapShape() as shape):
            return (f"{path}.*", shape.value)
        case _:
            return at


RULES = (own_state,)

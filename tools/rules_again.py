"""The rule of deletions: another thing of the same name is not waited for.

A deletion that polls by a name finds what was made under that name after the call, and waits for it
too, or takes its failure for the deletion's. It has to compare what the poll shows with the call:
an id of the answer, or the time of the call with that of the creation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from botocore.model import ListShape, OperationModel, Shape, StructureShape
from effect_of import EffectOf, Found, effects

from boto_waiters_plus.definitions.words import resource_of, verb_of, words_of
from boto_waiters_plus.engine.acceptors import InputOutputMatcher

SAYS: Final = "it is gone, and made again"

MAKERS: Final = (
    "Create",
    "Allocate",
    "Register",
    "Request",
    "Run",
    "Import",
    "Put",
    "Start",
    "Add",
)
"""Verbs of the operations that make what others delete, the surest first."""

DELETIONS: Final = ("Delete", "Deprovision", "Deregister", "Purge", "Release", "Terminate")
"""Verbs after which the polled resource is gone."""

_CREATED: Final = re.compile(
    r"(date)?(creat(e|ed|ion)|submit(ted)?|regist(ered|ration))"
    r"(at|date|datetime|on|time|timestamp)?"
)

ALIASES: Final = {
    "DBInstance": "dbi",
    "EndpointAccess": "endpoint",
    "PrivateGraphEndpoint": "vpcendpoint",
}
"""What the names of members call a resource, where that is no part of its name."""

NEVER_AGAIN: Final = frozenset(
    (
        "com.amazonaws.amplify#DeleteJob",
        "com.amazonaws.cloudwatchlogs#DeleteLogAnomalyDetector",
        "com.amazonaws.databasemigrationservice#DeleteDataMigration",
        "com.amazonaws.directconnect#DeleteVirtualInterface",
        "com.amazonaws.docdbelastic#DeleteCluster",
        "com.amazonaws.ec2#DeleteTransitGatewayClientVpnAttachment",
        "com.amazonaws.elasticloadbalancingv2#DeleteTrustStore",
        "com.amazonaws.gamelift#DeleteVpcPeeringConnection",
        "com.amazonaws.interconnect#DeleteConnection",
        "com.amazonaws.lambda#DeleteDurableExecution",
        "com.amazonaws.mediaconnect#DeleteFlow",
        "com.amazonaws.opensearch#DeleteInboundConnection",
        "com.amazonaws.rds#DeleteDBClusterAutomatedBackup",
        "com.amazonaws.rds#DeleteDBInstanceAutomatedBackup",
        "com.amazonaws.redshift#DeleteQev2IdcApplication",
        "com.amazonaws.redshift#DeleteRedshiftIdcApplication",
        "com.amazonaws.rekognition#DeleteProject",
        "com.amazonaws.route53recoverycontrolconfig#DeleteCluster",
        "com.amazonaws.route53recoverycontrolconfig#DeleteControlPanel",
        "com.amazonaws.route53recoverycontrolconfig#DeleteRoutingControl",
        "com.amazonaws.sagemaker#BatchDeleteClusterNodes",
        "com.amazonaws.ssm#DeregisterManagedInstance",
        "com.amazonaws.timestreaminfluxdb#DeleteDbInstance",
        "com.amazonaws.workspaces#DeleteAccountLinkInvitation",
    )
)
"""Deletions whose poll takes what only the service gives, though the operation that makes it does
not show that: ids and ARNs with a random or counted part."""


def made_again(effect: EffectOf) -> Iterator[Found]:
    """Yield the deletions that poll by a name and do not look at what the poll shows.

    The rule is `EffectMadeAgain`.
    """
    if not polls_by_name(effect) or compares(effect):
        return
    shown = [*compared_ids(effect), *filter(None, [creation_of(effect)])]
    if shown:
        yield Found("EffectMadeAgain", f"polls by a name, and the poll shows {' and '.join(shown)}")


def weak_deletions() -> Iterator[tuple[str, str]]:
    """Yield service and operation of the deletions that wait for what has the same name, too."""
    seen = set()
    for effect in effects():
        is_default = effect.shape not in seen
        seen.add(effect.shape)
        if is_default and polls_by_name(effect) and not compares(effect):
            yield effect.mutation.service_model.service_name, effect.mutation.name


def compares(effect: EffectOf) -> bool:
    """Whether an effect tells another thing of the same name from the one that was deleted."""
    return "madeAgain" in effect.body or SAYS in effect.trait.says


def polls_by_name(effect: EffectOf) -> bool:
    """Whether a deletion polls by nothing that the service makes for one thing only."""
    mutation = effect.mutation
    is_deletion = verb_of(mutation.name) in DELETIONS or "AndDelete" in mutation.name
    if not is_deletion or effect.body["basis"] != "goal" or effect.shape in NEVER_AGAIN:
        return False
    names = {*_names(effect)}
    made = {each for each in names if _is_made(mutation, *each)}
    # Of an id and a name, neither of which is required, a call may have the name.
    required = {("input", each) for each in mutation.input_shape.required_members}
    is_sure = made == names or any(side == "output" for side, _ in made) or made & required
    return not (made and is_sure)


def _names(effect: EffectOf) -> Iterator[tuple[str, str]]:
    """Yield side and member of the call in what says which resource is polled."""
    texts = [*effect.body["parameters"].values()]
    texts += [
        each.matcher.matcher.path
        for each in effect.acceptors
        if isinstance(each.matcher, InputOutputMatcher)
    ]
    for text in texts:
        for side, path in re.findall(r"call\.(input|output)((?:\.\w+(?:\[\w*\])*)+)", text):
            yield side, re.sub(r"\[\w*\]", "", path).rpartition(".")[2]


def _is_made(mutation: OperationModel, side: str, member: str) -> bool:
    """Whether a member is an id that the service makes: in the answer of a Create alone."""
    name = _plain(member)
    if not name.endswith(("arn", "arns", "id", "ids")):
        return False
    makers = list(_makers(mutation))
    given = {_plain(each) for maker in makers for each in _members(maker.input_shape, depth=1)}
    names = {name, name.removesuffix("s"), name.removeprefix(_plain(_resource(mutation)))}
    if names & given or f"{name}suffix" in given:
        return False
    if name.endswith(("arn", "arns")):
        # It may be made of the name.
        return bool(makers) and not any(each.endswith(("name", "identifier")) for each in given)
    answered = {_plain(each) for maker in makers for each in _members(maker.output_shape)}
    return side == "output" or bool(names & answered)


def _makers(mutation: OperationModel) -> Iterator[OperationModel]:
    model, resource = mutation.service_model, _resource(mutation)
    of_it = [name for name in model.operation_names if resource_of(name) == resource]
    for verb in MAKERS:
        names = [name for name in of_it if verb_of(name) == verb]
        if names:
            yield from map(model.operation_model, names)
            return


def creation_of(effect: EffectOf) -> str | None:
    """Return where the poll shows when the resource was made: `output.Table.CreatedAt`."""
    resource, polled = _resource(effect.mutation), resource_of(effect.polled.name)
    is_same = resource in polled or resource.endswith(polled)
    if not is_same or not _is_narrowed(effect):
        return None
    found = [
        path
        for path, shape in _leaves(effect.polled.output_shape)
        if shape.type_name == "timestamp" and _is_creation(path, _resource(effect.mutation))
    ]
    shortest = min(found, key=lambda path: path.count("."), default=None)
    return shortest and f"output.{shortest}"


def _is_narrowed(effect: EffectOf) -> bool:
    """Whether the poll is about one resource: a list under a parent has to be searched."""
    texts = effect.body["parameters"].values()
    if any("[call." in text for text in texts):
        return True
    paths = (
        each.matcher.matcher.path
        for each in effect.acceptors
        if isinstance(each.matcher, InputOutputMatcher)
    )
    is_searched = any(each in path for path in paths for each in ("[?", "contains("))
    return any("call." in text for text in texts) and not is_searched


def _is_creation(path: str, resource: str) -> bool:
    *parents, member = path.split(".")
    name = _plain(member)
    words = words_of(resource)
    own = [_plain("".join(words[index:])) for index in range(len(words))]
    own += [ALIASES[resource]] if resource in ALIASES else []
    bare = next((name.replace(each, "", 1) for each in own if each in name), name)
    # What is deeper is of a part, unless it names the resource.
    is_near = len(parents) < 3 and path.count("[0]") < 2
    return bool(_CREATED.fullmatch(bare)) and (is_near or own[0] in name)


def compared_ids(effect: EffectOf) -> list[str]:
    """Return the ids of the resource that the answer of the call and the poll have alike."""
    resource = _resource(effect.mutation)
    own = {_plain(resource), _plain(words_of(resource)[-1]), ALIASES.get(resource, ""), ""}
    kinds = ("id", "resourceid", "resourceidentifier", "uid", "uuid")
    names = {each + kind for each in own for kind in kinds}
    makers = _makers(effect.mutation)
    given = {_plain(each) for maker in makers for each in _members(maker.input_shape, depth=1)}
    given |= {_plain(each) for each in effect.mutation.input_shape.required_members}
    shown = {
        _plain(path.rpartition(".")[2]): path
        for path, _ in _leaves(effect.polled.output_shape)
        if path.count(".") < 2
    }
    if not _is_narrowed(effect):
        return []
    return [
        f"output.{shown[name]} beside call.output.{path}"
        for path, _ in _leaves(effect.mutation.output_shape)
        if path.count(".") < 2 and "[" not in path
        for name in [_plain(path.rpartition(".")[2])]
        if name in names - given and name in shown
    ]


def _leaves(
    shape: Shape | None, path: str = "", seen: tuple[str, ...] = ()
) -> Iterator[tuple[str, Shape]]:
    """Yield paths of the first items of lists, with the shapes of what is no structure."""
    if isinstance(shape, ListShape):
        yield from _leaves(shape.member, f"{path}[0]", seen)
    elif isinstance(shape, StructureShape):
        if shape.name not in seen:
            for name, member in shape.members.items():
                yield from _leaves(member, f"{path}.{name}".lstrip("."), (*seen, shape.name))
    elif shape is not None:
        yield path, shape


def _members(shape: Shape | None, depth: int = 9) -> Iterable[str]:
    """Return the names of members, as deep as is asked for."""
    while isinstance(shape, ListShape):
        shape = shape.member
    if not isinstance(shape, StructureShape) or not depth:
        return ()
    deeper = (_members(each, depth - 1) for each in shape.members.values())
    return (*shape.members, *chain.from_iterable(deeper))


def _resource(mutation: OperationModel) -> str:
    return resource_of(mutation.name).removeprefix("AndDelete")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


RULES: Final = (made_again,)

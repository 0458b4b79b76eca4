"""Why `begin` waits for nothing after a mutation: `data/no-effect.json`, as far as rules tell.

    python tools/effect_reasons.py            count, by service
    python tools/effect_reasons.py --open     print the mutations that have neither
    python tools/effect_reasons.py --write    write what the rules find into the file

A mutation of one of `SERVICES` has an effect (`data/effects.json`), a reason, or is open: nothing
is known. The file has reasons with the operations of each, in the form of
`tools/pollable.py`. Those of `RULES` are written by this tool from the models; the others are
a person's, and are kept. No rule gives a reason where a read operation of the same noun, or
of one that begins like it, tells of something in progress (`Reads.tell_more`): a person has to
read whether the mutation sets it going.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from model_states import IN_PROGRESS
from observed_states import models

from boto_waiters_plus.definitions.changes import EFFECT
from boto_waiters_plus.definitions.shipped import from_groups
from boto_waiters_plus.definitions.state_words import documented_states, is_underway, state_words
from boto_waiters_plus.definitions.words import LEADS, listed, words_of
from boto_waiters_plus.service.on_the_spot import only_reads
from boto_waiters_plus.service.shapes import shape_id_of

ROOT: Final = Path(__file__).resolve().parents[1]
EFFECTS: Final = ROOT / "data/effects.json"
FILE: Final = ROOT / "data/no-effect.json"

SERVICES: Final = listed(
    "acm amplify apigatewayv2 apprunner appstream appsync athena auto-scaling backup batch bedrock "
    "bedrock-agent cloudcontrol cloudformation cloudfront cloudwatch-logs codebuild codedeploy "
    "codepipeline comprehend database-migration-service databrew datasync directory-service docdb "
    "dynamodb ec2 ecs efs eks elastic-beanstalk elastic-load-balancing-v2 elasticache emr "
    "emr-containers emr-serverless firehose fis fsx gamelift glue imagebuilder kafka kendra "
    "kinesis lambda mediaconvert memorydb mq neptune opensearch personalize rds redshift "
    "redshift-data rekognition route-53 route-53-domains sagemaker sfn ssm textract transcribe "
    "transfer translate workspaces"
)
"""The services whose mutations are judged one by one."""

TAGS: Final = "tags are changed when the call returns"
STOPS: Final = (
    "the operation that begin returned for what it stops ends when the stop is seen; its stop() "
    "makes this call"
)
NO_STATE: Final = (
    "the change is complete when the call returns, since neither the answer nor a read operation "
    "of what it changes has a state that passes"
)
POLICY: Final = "no state tells when a policy or a permission holds"
NO_READ: Final = "no read operation of the service tells of what it does"
RULES: Final = (TAGS, STOPS, NO_STATE, POLICY, NO_READ)

_STATE = re.compile(
    r"(?i)(status|state|stage|lifecycle|phase|progress)(es|s|code|name|value|msg|message|type)?$"
)
_TAGGING = re.compile(r"(Tag|Untag)\w*$|(Add|Remove|Create|Delete|Change)Tags(To|From|For)?\w*$")
_POLICY = re.compile(
    r"(Put|Delete|Set|Add|Remove|Attach|Detach|Create|Update|Modify|Associate|Disassociate)[A-Z]\w*"
    r"(Polic(y|ies)|Permissions?)$"
)
_ANSWERING = re.compile(
    r"(Put|Poll|Send|Record|Render|Generate|Translate|Analyze|Classify|Compare|Recognize|Infer|"
    r"Transact|Batch|Acknowledge|Receive|Push)[A-Z]\w*$"
)
_BEGINNING = re.compile(
    r"(Accept|Apply|Backtrack|Cancel|Clear|Copy|Deploy|Execute|Failover|Flush|Import|Invoke|Merge|"
    r"Migrate|Move|Prepare|Promote|Provision|Publish|Purchase|Reboot|Refresh|Reload|Request|Resend|"
    r"Restart|Restore|Resume|Retry|Rollback|Rotate|Run|Start|Stop|Submit|Swap|Switchover|Sync|"
    r"Terminate|Test|Upgrade)[A-Z]"
)
"""Verbs of calls that begin something else than they name."""
_AWAITED = listed("PENDING PROGRESS")
"""Words of values in progress, also where no name of a member says that it is a state."""
_CHANGED = ("CHANG", "MODIF", "UPDAT")
"""Beginnings of the words of a thing that something else changes."""
_COMMON = re.compile(
    r"(?i)(dryrun|maxresults|maxitems|maxrecords|limit|nexttoken|marker|filters?|tags|id|arn|name|"
    r"\w*token|description|status|type|region|catalogid|callas|accountid|include\w*)s?$"
)
"""Members that name no resource."""


class Mutation(NamedTuple):
    """A call that changes something."""

    service: str
    operation: OperationModel


class Reads:
    """The read operations of a service, by what they are about."""

    def __init__(self, operations: Sequence[OperationModel]) -> None:
        self._states = {each.name: set(_passing(each.output_shape)) for each in operations}
        self._named = {each.name: _named(each) for each in operations}
        self._going = {each.name: [*_going(each.output_shape)] for each in operations}

    @classmethod
    def of_service(cls, model: ServiceModel) -> Reads:
        """Return those of a service."""
        return cls(list(filter(only_reads, map(model.operation_model, model.operation_names))))

    def of(self, mutation: OperationModel) -> list[set[str]]:
        """Return the values in progress of each read of just what an operation is about."""
        noun = _noun(mutation.name)
        return [states for name, states in self._states.items() if _noun(name) == noun]

    def tells_nearby(self, mutation: OperationModel) -> bool:
        """Whether what an operation is a part of, or names, has a state that passes."""
        noun, named = _noun(mutation.name), _named(mutation)
        return any(
            states and (noun[: len(_noun(name))] == _noun(name) or named & self._named[name])
            for name, states in self._states.items()
        )

    def tell_more(self, mutation: OperationModel) -> bool:
        """Whether a read whose noun begins like that of an operation tells what is in progress.

        What the operation is a part of counts if it names that, and if that is being changed.
        """
        noun, named = _noun(mutation.name), _named(mutation)
        return any(
            of_read[: len(noun)] == noun
            or (noun[: len(of_read)] == of_read and named & self._named[name] and _is_change(words))
            for name, states in self._going.items()
            if noun and (of_read := _noun(name))
            for words in states
        )


def reason_of(mutation: OperationModel, reads: Reads, stops: set[str]) -> str | None:
    """Return the rule that a mutation without an effect falls under; None if none does."""
    name, own, answer = mutation.name, reads.of(mutation), set(_passing(mutation.output_shape))
    in_progress = set().union(answer, *own)
    if name in stops:
        return STOPS
    if _TAGGING.match(name) and not in_progress:
        return TAGS
    if in_progress or _BEGINNING.match(name) or reads.tell_more(mutation):
        return None
    if own:
        return NO_STATE
    if _POLICY.match(name):
        return POLICY
    if _ANSWERING.match(name) and not reads.tells_nearby(mutation):
        return NO_READ
    return None


def _passing(shape: Shape | None, seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the values in progress of states; "" for a state whose values are not known."""
    if shape is None or shape.name in seen:
        return
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            if _STATE.search(name):
                yield from _values(member)
            yield from _passing(member, (*seen, shape.name))
    elif isinstance(shape, ListShape):
        yield from _passing(shape.member, (*seen, shape.name))
    elif isinstance(shape, MapShape):
        yield from _passing(shape.value, (*seen, shape.name))


def _going(shape: Shape | None, seen: tuple[str, ...] = ()) -> Iterator[frozenset[str]]:
    """Yield the words of each member that tells of something in progress, with its value's."""
    if isinstance(shape, ListShape | MapShape):
        yield from _going(shape.member if isinstance(shape, ListShape) else shape.value, seen)
    elif isinstance(shape, StructureShape) and shape.name not in seen:
        for name, member in shape.members.items():
            values, is_named = _strings(member), _STATE.search(name)
            going = [
                words
                for words in map(state_words, values)
                if words & _AWAITED or (is_named and (is_underway(words) or words & IN_PROGRESS))
            ]
            if name.lower().startswith("pending"):
                yield frozenset(_CHANGED)
            elif len(going) < len(values):
                yield from (state_words(name) | words for words in going)
            yield from _going(member, (*seen, shape.name))


def _strings(shape: Shape) -> Sequence[str]:
    """Return the values of a string, or of those in a list, by the model or its documentation."""
    if isinstance(shape, ListShape):
        return _strings(shape.member)
    if shape.type_name != "string":
        return ()
    return shape.metadata.get("enum") or documented_states(shape.documentation)


def _is_change(words: frozenset[str]) -> bool:
    return any(word.startswith(_CHANGED) for word in words)


def _values(shape: Shape) -> Iterator[str]:
    if isinstance(shape, ListShape):
        yield from _values(shape.member)
    elif isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            if re.search("(?i)(code|name|value)$", name):
                yield from _values(member)
    elif shape.type_name == "string":
        for value in shape.metadata.get("enum", [""]):
            words = state_words(value)
            if not value or is_underway(words) or words & IN_PROGRESS:
                yield value


def _noun(operation: str) -> tuple[str, ...]:
    words = [word for word in words_of(operation) if word not in LEADS][1:]
    return tuple(re.sub("ie$", "y", word.lower().removesuffix("s")) for word in words)


def _named(operation: OperationModel) -> set[str]:
    shape = operation.input_shape
    names = () if shape is None else shape.members
    return {name.lower().removesuffix("s") for name in names if not _COMMON.match(name)}


def judged() -> tuple[Counter[str], dict[str, dict[str, list[str]]], list[Mutation]]:
    """Return the mutations with an effect, by service; by rule those with a reason; the rest."""
    effects = json.loads(EFFECTS.read_text(encoding="utf-8"))["shapes"]
    by_hand = {(s, name) for _, s, name in written() if _ not in RULES}
    known: Counter[str] = Counter()
    found: dict[str, dict[str, list[str]]] = {rule: defaultdict(list) for rule in RULES}
    rest = []
    for service, model in sorted(models().items()):
        if service not in SERVICES:
            continue
        operations = [model.operation_model(name) for name in model.operation_names]
        reads = Reads.of_service(model)
        shapes = {
            name: effects.get(shape_id_of(each), {})
            for name, each in zip(model.operation_names, operations, strict=True)
        }
        stops = {
            effect["stop"]["operation"]
            for each in shapes.values()
            for effect in each.get("traits", {}).get(EFFECT, {}).values()
            if "stop" in effect
        }
        for each in operations:
            if only_reads(each):
                continue
            rule = reason_of(each, reads, stops)
            if shapes[each.name]:
                known[service] += 1
            elif (service, each.name) in by_hand:
                continue
            elif rule is not None:
                found[rule][service].append(each.name)
            else:
                rest.append(Mutation(service, each))
    return known, found, rest


def written() -> Iterator[tuple[str, str, str]]:
    """Yield the reasons in the file: the reason, the service, the operation."""
    for reason, services in json.loads(FILE.read_text(encoding="utf-8")).items():
        for service, text in services.items():
            for name in from_groups(text):
                yield reason, service, name


def as_verbs(names: Sequence[str]) -> str:
    """Return names of operations, by their verbs: `Create Key User, Put Key`."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        verb = words_of(name)[0]
        groups[verb if len(name) > len(verb) else "="].append(
            name.removeprefix(verb) if len(name) > len(verb) else name
        )
    return ", ".join(" ".join([verb, *rest]) for verb, rest in sorted(groups.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, print or write."""
    parser = argparse.ArgumentParser(description="Why nothing follows a mutation.")
    parser.add_argument("--open", action="store_true", help="print what has neither")
    parser.add_argument("--write", action="store_true", help="write the file")
    options = parser.parse_args(arguments)
    known, found, rest = judged()
    body = json.loads(FILE.read_text(encoding="utf-8"))
    kept = {reason: services for reason, services in body.items() if reason not in RULES}
    if options.write:
        ruled = {
            rule: {service: as_verbs(names) for service, names in sorted(services.items())}
            for rule, services in found.items()
        }
        text = json.dumps({**ruled, **kept}, indent=1, ensure_ascii=False) + "\n"
        FILE.write_text(text, encoding="utf-8", newline="\n")
    for each in rest if options.open else ():
        print(each.service, each.operation.name)
    counts = {rule: sum(map(len, services.values())) for rule, services in found.items()}
    by_hand = sum(reason in kept for reason, _, _ in written())
    total = known.total() + sum(counts.values()) + by_hand + len(rest)
    for rule, count in counts.items():
        print(f"{count:5} {rule}")
    print(
        f"{total} mutations of {len(SERVICES)} services: {known.total()} have an effect, "
        f"{sum(counts.values())} a reason by rule, {by_hand} by hand, {len(rest)} are open"
    )


if __name__ == "__main__":
    main()

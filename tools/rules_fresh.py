"""Rules of effects: what was there before the call is no success of it.

A part of `tools/effect_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from botocore.model import ListShape, Shape, StructureShape
from effect_answers import (
    ASKED,
    OLD,
    answers_of_success,
    certain_successes,
    expressions,
    made,
    names_in,
)
from effect_of import EffectOf, Found, path_of
from model_documentation import plain_text

from boto_waiters_plus.check.model import enum_of
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.engine.acceptors import AcceptorState

OTHERWISE: Final = re.compile(
    r"""(?ix)
    \blatest\b | \bmost\ recent\b | \bdefault:?\ (is|describes|that)\b | \bby\ default\b | \bomit
    | (\bnot|n't)\ (be\ )?(specified|provided|specify|provide|include|supplied)\b | \bis\ null\b
    | \bto\ (retrieve|describe|return)\b.*\bdo\ not\ include\b
    """
)
"""In the documentation of a parameter: what the operation does without it."""

OF_CALL: Final = re.compile(r"\bcall\.(input|output)\.(\w+)")


def parameter_dropped(effect: EffectOf) -> Iterator[Found]:
    """A parameter that the call may not give is needed if the poll without it is of another.

    A list of one value cannot be dropped. What the call does not require and has a default of its
    own, in its documentation, means the same there and in the poll; a parent that is assumed, as
    the default cluster, has no item of this id. A refusal may name the case.
    """
    input_shape, given = effect.polled.input_shape, effect.mutation.input_shape
    for name, path in effect.trait.parameters.items():
        terms = OF_CALL.findall(path)
        if name in (*input_shape.required_members, *effect.trait.needed) or not terms:
            continue
        text = plain_text(input_shape.members[name])
        if path.startswith("[") or "is assumed" in text or not OTHERWISE.search(text):
            continue
        of_input = [member for side, member in terms if side == "input"]
        refused = "".join(each.path for each in effect.trait.refusals)
        if any(
            member in given.required_members
            or OTHERWISE.search(plain_text(given.members[member]))
            or f"call.input.{member} == `null`" in refused
            for member in of_input
        ):
            continue
        text = f"{effect.polled.name} means another without {name}: {path} may be null"
        yield Found("EffectParameterDropped", text)


PARTIAL: Final = re.compile(r"(?i)partial|with_?(errors?|failures?|issues?|warnings?|exceptions?)")
UNDONE: Final = re.compile(r"(?i)cancel|abort|expired|skipped|time_?d?_?out|stopped|interrupted")
"""Words of an end that is not all that was asked for; the second are states at rest, too."""

ENDING_VERBS: Final = ("Cancel", "Stop", "Abort", "Terminate", "Reject", "Delete")
LITERAL: Final = re.compile(r"""[`'"]([^`'"\[\], ]+)[`'"]""")


def partial_end(effect: EffectOf) -> Iterator[Found]:
    """An end in part is a success only where the effect says so.

    The documentation of the effect, or of its waiter, says "with errors" or "stopped"; or the
    words of the acceptor do; or the effect is named after that end.
    """
    if effect.mutation.name.startswith(ENDING_VERBS):
        return
    waiter = effect.trait.waiter
    if isinstance(waiter, str):
        service_id = effect.polled.service_model.service_id.hyphenize()
        [waiter] = [each for each in shipped_definitions(service_id) if each.name == waiter]
    told = f"{effect.name} {effect.trait.documentation} {waiter.documentation}".lower()
    says = {index for index, each in enumerate(effect.trait.says) if each}
    failures: set[str] = set()
    for index, each in enumerate(effect.acceptors):
        path = path_of(each)
        if not path:
            continue
        words = {*LITERAL.findall(path), each.matcher.matcher.expected}
        if each.state is AcceptorState.FAILURE:
            failures |= words
        if each.state is not AcceptorState.SUCCESS or index in says:
            continue
        for word in sorted(words - failures):
            stem = _partial(word, effect)
            if stem and stem not in told:
                yield Found("EffectPartialEnd", f"{word} is a success: {path}")


def _partial(word: str, effect: EffectOf) -> str | None:
    """Return the part of a state that says that not all was done, without its ending."""
    found = PARTIAL.search(word)
    # Many things are stopped when they are made.
    is_made = effect.mutation.name.startswith("Create") and "stopped" in word.lower()
    if found is None and effect.trait.basis == "identity" and not is_made:
        found = UNDONE.search(word)
    return None if found is None else re.sub(r"(?i)with_?|s$|(p?ed)$", "", found[0]).lower()


MAKING: Final = re.compile(
    r"(Batch)?(Create|Start|Run|Submit|Send|Import|Export|Copy|Restore|Request|Purchase|Register|Add"
    r"|Launch|Allocate|Generate|Invoke|Execute|Test|Publish|Open|Associate|Attach|Authorize|Connect"
    r"|Share|Provision|Issue|Bundle|Retry)"
)
"""Operations that make what is polled."""

NAMING: Final = re.compile(r"(?i)(arn|ids?|names?|identifiers?)$")
MOMENT: Final = re.compile(
    r"(?i)(time|date|At|timestamp|modified|version(number)?|token|orderingid)$"
)
"""Members that have another value after each change."""


def not_new(effect: EffectOf) -> Iterator[Found]:
    """The state from before is no certain success of an update, whose identity must be new.

    The answer of the call may be from before, too: an acceptor compares what the call asks for, or
    a member that the call has made or changed.
    """
    if not _has_a_state_before(effect):
        return
    for output in seen_from_before(effect):
        yield Found("EffectNotNew", f"what was there before is a certain success: {output}")
        return
    for index in certain_successes(effect):
        acceptor = effect.acceptors[index]
        path = path_of(acceptor)
        if path and "call.input." not in path and not is_made(effect, path):
            yield Found("EffectNotNew", f"the answer of the call may be from before: {acceptor}")


def seen_from_before(effect: EffectOf) -> Iterator[Any]:
    """Yield answers of the poll that were true before the call, and are a certain success of it.

    They have the states of a success, and other values than the answer of the call.
    """
    if not _has_a_state_before(effect):
        return
    names = names_in(*expressions(effect))
    # What was the current version is that of before.
    members = effect.mutation.input_shape.members
    before = {(n,): made(members[n], names, OLD) for n in members if n.startswith("Current")}
    asked = made(effect.mutation.input_shape, names, {**ASKED, **before})
    yield from answers_of_success(effect, asked)


def is_update(operation: str) -> bool:
    """Whether what an operation changes had a state before: what has ended does not begin again."""
    return not MAKING.match(operation) and not operation.startswith(ENDING_VERBS)


def _has_a_state_before(effect: EffectOf) -> bool:
    """Whether the poll may find what was there before the call.

    It does not where it polls by an id that the call has made.
    """
    return (
        is_update(effect.mutation.name)
        and effect.trait.basis in ("identity", "version")
        and not any(is_made(effect, path) for path in effect.trait.parameters.values())
    )


def is_made(effect: EffectOf, expression: str) -> bool:
    """Whether an expression has what the call has made or changed: an id, a version or a time.

    An id is not made if it is of the input, or of what the operation is named after, or in its
    description, which the poll shows, too. The documentation may call it new.
    """
    noun = re.sub(r"^[A-Z][a-z]+", "", effect.mutation.name).lower()
    input_members = effect.mutation.input_shape.members
    shown = shapes_in(effect.polled.output_shape)
    expression = re.sub(r"(?<=\w)\[[^\]]*\]", "", expression)
    for side, found in re.findall(r"\bcall\.(input|output)\.([\w.]+)", expression):
        shape, parts = getattr(effect.mutation, f"{side}_shape"), found.split(".")
        on_way = []
        for part in parts:
            shape = shape.member if isinstance(shape, ListShape) else shape
            shape = shape.members[part]
            on_way.append(shape.name)
        if MOMENT.search(parts[-1]):
            return True
        if side == "input":
            continue
        if re.search(r"(?i)\bnew\b|generates", plain_text(shape)):
            return True
        is_described = len(parts) > 1 and on_way[0] in shown and parts[0].lower() in noun
        own = NAMING.sub("", parts[-1]) or NAMING.sub("", parts[-2] if len(parts) > 1 else "")
        is_own = own and own.lower() in noun
        given = input_members.get(parts[-1])
        is_given = given is not None and "idempotencyToken" not in given.metadata
        if not (is_described or is_own or is_given):
            return True
    return False


def shapes_in(shape: Shape | None, *above: str) -> frozenset[str]:
    """Return the names of the shapes in a shape."""
    if shape is None or shape.name in above:
        return frozenset()
    inner = [*getattr(shape, "members", {}).values()]
    inner += [each for each in (getattr(shape, n, None) for n in ("member", "value")) if each]
    below = (shapes_in(each, *above, shape.name) for each in inner)
    return frozenset((shape.name,)).union(*below)


SETTING_VERBS: Final = ("Update", "Modify", "Set", "Put", "Enable", "Change", "Reset", "Adjust")


def input_not_compared(effect: EffectOf) -> Iterator[Found]:
    """What a call asks for and the poll shows is compared, by each goal that is certain.

    A member counts if the poll shows one of its name and type. A list of `keys(call.input)` tells
    which of them the goal compares; and what names the thing is a parameter of the poll.
    """
    name = effect.mutation.name
    starts = name.startswith("Start") and "update" in plain_text(effect.mutation)[:80]
    if effect.trait.basis != "goal" or not (starts or name.startswith(SETTING_VERBS)):
        return
    told = [*(each.path for each in effect.trait.refusals), *effect.trait.parameters.values()]
    named = names_in(*told, effect.trait.each or "item")
    given = getattr(effect.mutation.input_shape, "members", {})
    shown = {
        key: shape for each in polled_structures(effect) for key, shape in each.members.items()
    }
    for index in certain_successes(effect):
        path = path_of(effect.acceptors[index])
        if not path or re.search(r"keys\((not_null\()?(call\.)?input", path):
            continue
        others = named | names_in(path) | {*effect.polled.input_shape.members}
        missing = [
            member
            for member, shape in given.items()
            if member in shown and shown[member].type_name == shape.type_name
            if member not in others and len(enum_of(shape) or ()) != 1
        ]
        if missing:
            yield Found("EffectInputNotCompared", f"{', '.join(missing)} of the poll: {path}")


def polled_structures(effect: EffectOf) -> Iterator[StructureShape]:
    """Yield the answer of the poll, and what it describes."""
    if effect.polled.output_shape is not None:
        yield effect.polled.output_shape
        for member in effect.polled.output_shape.members.values():
            inner = member.member if isinstance(member, ListShape) else member
            if isinstance(inner, StructureShape):
                yield inner


def stop_of_resource(effect: EffectOf) -> Iterator[Found]:
    """A stop is of what the call has begun, where the answer has its id, and of nothing else.

    By the name of the resource it stops what somebody else has begun since.
    """
    if effect.trait.stop is None:
        return
    given = effect.trait.stop.parameters
    if any(re.search(r"\bcall\.output\b|\bitem\b", path) for path in given.values()):
        return
    terms = OF_CALL.findall(" ".join(expressions(effect)))
    made_ids = [name for side, name in terms if side == "output" and NAMING.search(name)]
    if made_ids:
        text = f"{effect.trait.stop.operation} takes {', '.join(given.values())}, not {made_ids[0]}"
        yield Found("EffectStopOfResource", text)


LINKING: Final = re.compile(r"Associate|Disassociate|Attach|Detach")
"""Operations on a link of two things: the item has the ids of both."""


def filter_on_nothing(effect: EffectOf) -> Iterator[Found]:
    """A list of a parent is read by an id of the item, which the call's answer or input tells.

    All or any of the items would be those of others, and of last month. A parameter of the poll
    may name the item; of a link it names one of the two.
    """
    paths = expressions(effect)
    words = {*re.findall(r"\w+", " ".join(paths))}
    if "item" in words or any("call." in path and "output." in path for path in paths):
        return
    mutation, given = effect.mutation, effect.mutation.input_shape
    required = given.required_members if LINKING.match(mutation.name) else ()
    answered = {*getattr(mutation.output_shape, "members", ())} - {*getattr(given, "members", ())}
    stems = {NAMING.sub("", each).lower() for each in effect.trait.parameters}
    for name, member in getattr(effect.polled.output_shape, "members", {}).items():
        if isinstance(member, ListShape) and name in words:
            nouns = f"{mutation.name} {member.member.name}".lower()
            is_named = not LINKING.match(mutation.name) and any(each in nouns for each in stems)
            ids = filter(NAMING.search, getattr(member.member, "members", ()))
            told = [
                each
                for each in ids
                if each in {*answered, *required} - words
                and NAMING.sub("", each).lower() not in stems
            ]
            if told and not is_named:
                yield Found("EffectFilterOnNothing", f"{name} may be of others: {told[0]} is told")


RULES: Final = (
    parameter_dropped,
    partial_end,
    not_new,
    input_not_compared,
    stop_of_resource,
    filter_on_nothing,
)

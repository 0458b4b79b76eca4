"""Waiters that mistake an answer without items or without the resource, or overlook a state.

| case | what goes wrong |
|---|---|
| an empty list | a wait for a state succeeds for a resource that does not exist |
| an empty page, with more to follow | a wait for an end succeeds although the resource is there |
| an empty list, with errors beside it | a wait for an end succeeds on the service's own failure |
| the resource is gone | a wait for the end fails on the error that says so, or on a sibling's |
| the resource is not visible yet | EC2 answers with an error right after a resource was created |
| an item without the state | it is left out of the list: the wait does not wait for it |
| a deletion that failed, where no state is compared | the wait polls until it times out |
| a second state beside the one compared | the wait polls a failed resource until it times out |
| a failure on another member, after a success | the wait succeeds for a resource that failed |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from botocore.model import ListShape, Shape

from ..definitions.state_words import (
    ENDED_WORDS,
    ENDINGS,
    FAILED_WORDS,
    GONE_WORDS,
    is_underway,
    means_absence,
    means_gone,
    state_words,
)
from ..definitions.words import listed
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    DocumentMatcher,
    ErrorTypeMatcher,
    OutputMatcher,
    PathComparator,
    SuccessMatcher,
)
from ..engine.matching import Matching
from ..engine.model import WaiterDefinition
from ..service.errors import says_absent
from ..service.shapes import element_of, failure_lists, item_names, members_of, page_tokens
from .events import Finding, Severity
from .expressions import Node, sample
from .list_rules import EC2
from .model import ModelledError, OperationShapes, enum_of
from .paths import EnumComparison, TracedWaiter, members_named

_ANY_RESOURCE = re.compile(r"(Resource|Entity|Object|Item)\w*NotFound|^NotFound")
"""Errors for what does not exist, whatever it is."""
_ID = re.compile(r"(id|name|arn)s?", re.IGNORECASE)
_STATE = re.compile(r"(?!desired|target).*(status|state)", re.IGNORECASE)


def check_absence(waiter: TracedWaiter) -> Iterator[Finding]:
    """Check what a waiter makes of resources that are absent."""
    name = waiter.definition.name
    yield from _empty_lists(waiter)
    yield from _errors(waiter)
    yield from _dropped_items(waiter)
    yield from _second_states(waiter)
    if not means_absence(name):
        yield from _late_failures(waiter)
    if not waiter.members and means_gone(name):
        yield from _failed_ends(waiter.operation)


def _empty_lists(waiter: TracedWaiter) -> Iterator[Finding]:
    operation, definition = waiter.operation, waiter.definition
    members = members_of(operation.output)
    empty: dict[str, Any] = {n: [] for n, s in members.items() if isinstance(s, ListShape)}
    for index, acceptor in enumerate(definition.acceptors):
        if isinstance(acceptor.matcher, DocumentMatcher) and index not in waiter.paths:
            return  # the expression does not parse
    matching = Matching([replace(acceptor, message=None) for acceptor in definition.acceptors])
    found = _success(definition, matching, empty)
    path = None if found is None else waiter.paths.get(found)
    if path is None or path.members.isdisjoint(members_named(operation.output, empty)):
        return
    if not means_absence(definition.name):
        text = "succeeds on an empty list, that is, for a resource that does not exist"
        yield Finding(Severity.WARNING, "WaiterEmptyList", text, found)
    tokens = page_tokens(operation.output)
    more = _success(definition, matching, {**empty, **dict.fromkeys(tokens, "token")})
    if tokens and more is not None:
        text = f"succeeds on an empty page although `{tokens[-1]}` says that more pages follow"
        yield Finding(Severity.WARNING, "WaiterEmptyPage", text, more)
    for name in failure_lists(operation.output):
        beside = _success(definition, matching, {**empty, name: sample(members[name])})
        # A list of names says by its own name that they were not found.
        if beside is not None and members_of(element_of(members[name])):
            text = f"succeeds on an empty list whatever error stands in `{name}`"
            yield Finding(Severity.WARNING, "WaiterGoneBesideErrors", text, beside)


def _success(waiter: WaiterDefinition, matching: Matching, output: Any) -> int | None:
    """Return the index of the acceptor by which a waiter succeeds on the content of a response."""
    index = matching.match_response(output, {}).index
    if index is None or waiter.states[index] is not AcceptorState.SUCCESS:
        return None
    return None if isinstance(waiter.acceptors[index].matcher, SuccessMatcher) else index


def _errors(waiter: TracedWaiter) -> Iterator[Finding]:
    operation, name = waiter.operation, waiter.definition.name
    matchers = [acceptor.matcher for acceptor in waiter.definition.acceptors]
    named = {matcher.name for matcher in matchers if isinstance(matcher, ErrorTypeMatcher)}
    if SuccessMatcher(success=False) in matchers:
        return
    if means_gone(name):
        text = _fails_when_gone(operation, named, waiter.members)
        if text is not None:
            yield Finding(Severity.WARNING, "WaiterFailsWhenGone", text)
    elif operation.shape.startswith(EC2) and not means_absence(name):
        takes_ids = any(map(_ID.search, members_of(operation.input)))
        if takes_ids and not any("NotFound" in n or "Unknown" in n for n in named):
            text = "EC2 may not know a new resource yet; add a retry on its `.NotFound` error"
            yield Finding(Severity.NOTE, "WaiterFailsWhenNew", text)


def _fails_when_gone(
    operation: OperationShapes, named: set[str], read: frozenset[str]
) -> str | None:
    """Return why a wait for a deletion fails once the resource is gone; None if it does not."""
    missing = _not_found(operation.errors)
    whose = f"the error of {operation.name} for what is gone"
    if not missing:
        # A request that names nothing is answered with a list, as is one with a list of failures.
        by_state = not named and not _reads_a_list(operation, read)
        is_named = by_state or bool(item_names(operation.input, operation.output))
        if not is_named or failure_lists(operation.output):
            return None
        missing = _not_found(operation.sibling_errors)
        whose = "the error of its siblings for what is gone"
        if by_state and not missing:
            missing = [*filter(_ANY_RESOURCE.search, operation.other_errors)]
            whose = "the error of the service for what is gone"
    if missing:
        # The answer to HEAD has no body to name an error.
        return None if {*missing, "NotFound"} & named else f"fails on {missing[0]}, {whose}"
    if operation.known and not operation.errors and not named:
        return f"{operation.name} models no errors; add a success on the one for what is gone"
    return None


def _not_found(errors: Iterable[ModelledError]) -> list[str]:
    """Return the names and codes of the errors for what does not exist."""
    found = (each for each in errors if says_absent(each.name))
    return [name for each in found for name in (each.name, each.code) if name]


def _reads_a_list(operation: OperationShapes, read: frozenset[str]) -> bool:
    members = members_of(operation.output)
    lists = [name for name, shape in members.items() if isinstance(shape, ListShape)]
    return not members_named(operation.output, lists).isdisjoint(read)


def _dropped_items(waiter: TracedWaiter) -> Iterator[Finding]:
    for index, path in waiter.paths.items():
        match path.acceptor:
            case Acceptor(state=AcceptorState.SUCCESS, matcher=OutputMatcher()):
                every = path.comparator is PathComparator.ALL_STRING_EQUALS
                if every and _passes_members(path.expression.root):
                    text = "leaves out items that lack a member on the way: they hold no wait up"
                    yield Finding(Severity.NOTE, "WaiterDroppedItems", text, index)


def _passes_members(node: Node) -> bool:
    """Whether an expression passes members of a list's items: `a[].b.c` or `a[].b[].c`."""
    if not node["type"].endswith("projection"):
        return False
    before, right, *_ = node["children"]
    inner = before["children"][0] if before["type"] == "flatten" else before
    return bool(right["type"] == "subexpression" or inner["type"].endswith("projection"))


def _second_states(waiter: TracedWaiter) -> Iterator[Finding]:
    read, to_end = waiter.members, means_absence(waiter.definition.name)
    for owner in _structures(waiter.operation.output, read):
        members = members_of(owner)
        states = [n for n in members if f"{owner.name}${n}" in read and enum_of(members[n])]
        for name, shape in members.items() if states else ():
            if f"{owner.name}${name}" in read or not _STATE.fullmatch(name):
                continue
            values = [value for value in enum_of(shape) if _ends(value, to_end=to_end)]
            if values:
                text = f"no acceptor reads `{name}` beside `{states[0]}`, which may be {values[0]}"
                yield Finding(Severity.NOTE, "WaiterSecondState", text)


def _late_failures(waiter: TracedWaiter) -> Iterator[Finding]:
    """Find the failures on members that an earlier success passes over."""
    operation = waiter.operation
    # Other rules are about these.
    told = [*page_tokens(operation.output), *failure_lists(operation.output)]
    ignored = members_named(operation.output, told)
    ignored |= members_named(operation.input, members_of(operation.input))
    successes: list[frozenset[str]] = []
    for index, path in waiter.paths.items():
        if path.acceptor.state is AcceptorState.SUCCESS:
            successes.append(path.members - ignored)
        if path.acceptor.state is not AcceptorState.FAILURE or path.members & ignored:
            continue
        # A failure that reads all that a success reads is one where that is no success.
        if any(path.members - each and each - path.members for each in successes):
            text = "a success on another member stands before it: the wait never sees this failure"
            yield Finding(Severity.NOTE, "WaiterLateFailure", text, index)


def _failed_ends(operation: OperationShapes) -> Iterator[Finding]:
    """Find the states in which a resource stays that could not be deleted."""
    for name, shape in members_of(operation.output).items():
        owner = element_of(shape) or shape
        for state in (shape, *members_of(owner).values()):
            failed = [value for value in enum_of(state) if _ends(value, to_end=True)]
            if failed:
                text = f"no acceptor mentions {', '.join(failed)} in `{name}`: the wait times out"
                yield Finding(Severity.WARNING, "WaiterUnhandledState.Failed", text)


def _ends(value: str, *, to_end: bool) -> bool:
    """Whether a state is final; for a wait for an end, whether the end failed."""
    words = state_words(value)
    if to_end:
        ending = any(word.startswith(tuple(ENDINGS)) for word in words)
        return ending and bool(words & FAILED_WORDS)
    return bool(words & (FAILED_WORDS | ENDED_WORDS))


def _structures(shape: Shape | None, read: frozenset[str]) -> Iterator[Shape]:
    """Yield the structures that expressions pass through."""
    if shape is None:
        return
    element = element_of(shape)
    if element is not None:
        yield from _structures(element, read)
    elif members_of(shape):
        yield shape
        # A shape that contains itself is read to some depth only.
        for name, target in members_of(shape).items():
            member = f"{shape.name}${name}"
            if member in read:
                yield from _structures(target, read - {member})


# --- final states of a resource that no acceptor of a waiter mentions ----------------------------
# A resource in such a state does not reach the desired one by itself, and the wait times out. The
# meaning of a value is guessed from its words. A value is therefore reported only as a NOTE if it
#
# - means an end but not failure;
# - means failure of another process than the waiter's (`UPDATE_FAILED` of a waiter for creation);
# - means failure of something other than the end that the waiter waits for (a wait until a resource
#   is gone passes over it: what failed is deleted too);
# - or if the waiter recognises failure by another member.

# Beginnings of words, as in `ENDINGS`.
_PROCESSES = listed(
    "ACTIVAT ASSOCIAT ATTACH BACK CANCEL CLEAN CREAT DEACTIVAT DELET DEPLOY DEREGIST DETACH DISABL "
    "DISASSOCIAT ENABL EXPORT IMPORT MODIF PAUS PURG REBOOT REGIST REMOV RESET RESIZ RESTOR RESUM "
    "ROLL SCAL START STOP SUSPEND TERMINAT UPDAT UPGRAD UPLOAD VALIDAT"
)


def check_unhandled_states(waiter: TracedWaiter) -> Iterator[Finding]:
    """Check that the final states of a resource are mentioned."""
    by_state: dict[AcceptorState, list[EnumComparison]] = {state: [] for state in AcceptorState}
    for path in waiter.paths.values():
        by_state[path.acceptor.state] += path.comparisons
    successes, failures = by_state[AcceptorState.SUCCESS], by_state[AcceptorState.FAILURE]
    # A waiter for the end of a resource often succeeds by an error: then all acceptors count.
    deciding = successes or [*failures, *by_state[AcceptorState.RETRY]]
    for name, shape in {each.shape.name: each.shape for each in deciding}.items():
        failed, ended = _unhandled(waiter.definition.name, shape, by_state)
        for values, severity, rule in (
            (failed, Severity.WARNING, "Failed"),
            (ended, Severity.NOTE, "Ended"),
        ):
            if values:
                text = (
                    f"no acceptor mentions {', '.join(values)} of {name.rpartition('#')[2]}; "
                    "with a resource in that state the wait times out"
                )
                yield Finding(severity, f"WaiterUnhandledState.{rule}", text)


def _unhandled(
    waiter: str, shape: Shape, by_state: Mapping[AcceptorState, list[EnumComparison]]
) -> tuple[list[str], list[str]]:
    """Return the unmentioned final values of an enumeration: those of failure, and the others.

    Args:
        waiter: the name of the waiter.
        shape: the enumeration.
        by_state: the comparisons that acceptors make, by the state that they lead to.
    """
    own_name = shape.name
    mentioned = {e.value for group in by_state.values() for e in group if e.shape.name == own_name}
    processes = processes_of(waiter, *mentioned)
    successes, failures = by_state[AcceptorState.SUCCESS], by_state[AcceptorState.FAILURE]
    # Whether the waiter waits for an end, and whether it knows failure by another enumeration.
    to_end = all(processes_of(e.value) & ENDINGS for e in successes if e.shape.name == own_name)
    fails_elsewhere = any(each.shape.name != own_name for each in failures)
    failed: list[str] = []
    ended: list[str] = []
    for value in enum_of(shape):
        if value in mentioned or not _is_final(value, to_end=to_end):
            continue
        own = processes_of(value)
        if to_end and means_gone(waiter) and not own & ENDINGS:
            continue
        is_own = own <= processes and (not to_end or bool(own & ENDINGS))
        means_failure = is_own and not fails_elsewhere and bool(state_words(value) & FAILED_WORDS)
        (failed if means_failure else ended).append(value)
    return failed, ended


def _is_final(value: str, *, to_end: bool) -> bool:
    """Whether no state follows; the end that a waiter waits for does not count."""
    words = state_words(value)
    if is_underway(words):
        return False
    return bool(
        words & FAILED_WORDS or (words & ENDED_WORDS and not (to_end and words & GONE_WORDS))
    )


def processes_of(*names: str) -> frozenset[str]:
    """Return the processes that names mention."""
    words = {word for name in names for word in state_words(name)}
    return frozenset(p for p in _PROCESSES if any(word.startswith(p) for word in words))

"""The specification's best practices for waiters (section "Waiter best-practices").

They are not binding, and some waiters are right to break them: every finding is a NOTE. The meaning
of names and values is guessed from their words. The docstring of the package lists these rules.

Beside them stands the note that a waiter replaces a shipped one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from botocore.model import ServiceModel

from ..definitions.shipped import unread_shipped
from ..definitions.smithy import REPORTS
from ..definitions.state_words import ENDINGS, FAILED_WORDS, is_underway, state_words
from ..definitions.words import CHANGES, words_of
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    DocumentMatcher,
    ErrorTypeMatcher,
    InputOutputMatcher,
    PathComparator,
    SuccessMatcher,
)
from ..engine.model import WaiterDefinition
from ..engine.state_seen import compared_members
from .absence_rules import processes_of
from .events import Finding, Severity
from .model import enum_of
from .paths import EnumComparison, TracedWaiter

_ENDS = ("COMPLET", "DONE", "FINISH")
"""Beginnings of words that say that something has ended."""


def check_practices(waiter: TracedWaiter) -> Iterator[Finding]:
    """Check the name, and each acceptor."""
    yield from _name(waiter.definition)
    acceptors = waiter.definition.acceptors
    for index, acceptor in enumerate(acceptors):
        text = _implied(acceptor, acceptors[index + 1 :])
        if text is not None:
            yield Finding(Severity.NOTE, "WaiterImplicitAcceptor", text, index)
        path = waiter.paths.get(index)
        if path and path.expected and acceptor.state is AcceptorState.FAILURE:
            yield from _intermediate(path.expected, index)


def check_replaced(waiter: WaiterDefinition, service: ServiceModel | None) -> Iterator[Finding]:
    """Tell of a waiter that takes the place of a shipped one of its service; a copy does not."""
    service_id = "" if service is None else service.service_id.hyphenize()
    for name, shipped in unread_shipped(service_id).items():
        is_same = name.lower() == waiter.name.lower()
        if is_same and shipped.read() != replace(waiter, service=shipped.service):
            text = f"it replaces {name}, which comes with boto_waiters_plus ({shipped.source})"
            yield Finding(Severity.NOTE, "WaiterReplacesShipped", text)


def _name(waiter: WaiterDefinition) -> Iterator[Finding]:
    first, *rest = words_of(waiter.name) or [""]
    if first not in CHANGES or not rest or not rest[-1].upper().startswith(_ENDS):
        return
    states = [
        words_of(acceptor.matcher.matcher.expected)
        for acceptor in waiter.acceptors
        if acceptor.state is AcceptorState.SUCCESS
        and isinstance(acceptor.matcher, DocumentMatcher)
        and acceptor.matcher.matcher.comparator is not PathComparator.BOOLEAN_EQUALS
    ]
    # Some resources do have the state that the name ends with.
    if any(words and words[-1].upper().startswith(_ENDS) for words in states):
        return
    named = "".join((*rest[:-1], *(word.capitalize() for word in states[0]))) if states else ""
    text = "it is named after the end of an operation; name it after the resource and its state"
    text += f", such as {named}" if len(rest) > 1 and states else ""
    yield Finding(Severity.NOTE, "WaiterNamedAfterOperation", text)


def _implied(acceptor: Acceptor, later: tuple[Acceptor, ...]) -> str | None:
    """Return why an acceptor can be left out; None if it makes a difference."""
    others = [each.matcher for each in later if each.state is not acceptor.state]
    match acceptor.state, acceptor.matcher:
        case AcceptorState.FAILURE, (ErrorTypeMatcher() | SuccessMatcher(success=False)) as matcher:
            # One of these decides on the error if this acceptor does not.
            if SuccessMatcher(success=False) in others or matcher in others:
                return None
            return "it can be left out: an error that no acceptor matches is a failure"
        case AcceptorState.RETRY, SuccessMatcher(success=True):
            return "it can be left out: a response that no acceptor matches is a retry"
    return None


def _intermediate(comparison: EnumComparison, index: int) -> Iterator[Finding]:
    """Find a failure in a state that another state of the enumeration follows."""
    value = comparison.value
    processes = processes_of(value)
    words = state_words(value)
    # From the end of a resource there is no way back.
    if not is_underway(words) or words & FAILED_WORDS or processes & ENDINGS:
        return
    following = [
        other
        for other in enum_of(comparison.shape)
        if not is_underway(state_words(other)) and processes & processes_of(other)
    ]
    if following:
        text = (
            f"'{value}' is an intermediate state; fail on the terminal state that follows "
            f"({', '.join(following)})"
        )
        yield Finding(Severity.NOTE, "WaiterIntermediateFailure", text, index)


# --- waiters whose acceptors compare several things have to name what they report ----------------

_WORD: Final = re.compile(r"\w+")


def check_reports(
    waiter: WaiterDefinition, reports: tuple[tuple[str, str], ...] = ()
) -> Iterator[Finding]:
    """Find a waiter that compares several members and does not report them.

    Args:
        waiter: the waiter.
        reports: the words that it reports, each with its path.
    """
    try:
        compared = _compared(waiter)
    except RecursionError:
        return  # That it is nested too deep is another finding.
    if not reports and len(compared) > 1:
        text = f"it compares {', '.join(compared)}: name what is told of them ({REPORTS})"
        yield Finding(Severity.NOTE, "WaiterWithoutReports", text)
    named = {name for _, path in reports for name in _WORD.findall(path)}
    states = [each for each, is_state in compared.items() if is_state]
    lacking = [each for each in states if each.rpartition(".")[2] not in named]
    if reports and lacking:
        text = f"its reports leave out {', '.join(lacking)}, which its acceptors compare"
        yield Finding(Severity.NOTE, "WaiterReportsLack", text)


def _compared(waiter: WaiterDefinition) -> Mapping[str, bool]:
    """Return the members that the acceptors compare, and whether each is a state."""
    found: dict[str, bool] = {}
    for acceptor in waiter.acceptors:
        matcher = acceptor.matcher
        if isinstance(matcher, DocumentMatcher):
            members = compared_members(
                matcher.matcher.path,
                is_boolean=matcher.matcher.comparator is PathComparator.BOOLEAN_EQUALS,
                of_both=isinstance(matcher, InputOutputMatcher),
            )
            found |= {
                each: is_state or found.get(each, False) for each, is_state in members.items()
            }
    # An item that is missing has no member.
    return {
        each: is_state
        for each, is_state in found.items()
        if is_state or not any(other.startswith(f"{each}.") for other in found)
    }

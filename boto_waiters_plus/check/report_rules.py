"""Waiters whose acceptors compare several things have to name what they report.

Where they compare one member, its value is the state seen. Of several, one alone would be told,
while the wait is about another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ..definitions.smithy import REPORTS
from ..engine.acceptors import DocumentMatcher, InputOutputMatcher, PathComparator
from ..engine.model import WaiterDefinition
from ..engine.state_seen import compared_members
from .events import Finding, Severity

_WORD: Final = re.compile(r"\w+")


def check_reports(
    waiter: WaiterDefinition, reports: tuple[tuple[str, str], ...] = ()
) -> Iterator[Finding]:
    """Find a waiter that compares several members and does not report them.

    Args:
        waiter: the waiter.
        reports: the words that it reports, each with its path.
    """
    compared = _compared(waiter)
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

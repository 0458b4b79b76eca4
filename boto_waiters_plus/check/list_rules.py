"""Waiters on lists: what the request can name, what a page leaves out, what else the answer says.

| case | what goes wrong |
|---|---|
| all of a first page, which the request cannot narrow | a resource on a later page is overlooked |
| any of such a page | the wait polls to its end for a resource on a later page |
| a failure on an ended item of such a list | what ended last week fails the wait for a new one |
| a list of failures that no acceptor reads | a mistyped identifier is polled to the end |
| a success on all items of an answer that leaves out unknown names | it counts the rest only |
| the same, with a list of what is missing that is only read after it | it counts the rest only |
| a success on any item of an answer to a request of several names | the others are not waited for |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from botocore.model import ListShape

from ..definitions.state_words import ENDED_WORDS, means_absence, means_gone, state_words
from ..definitions.words import listed
from ..engine.acceptors import Acceptor, AcceptorState, OutputMatcher, PathComparator
from ..service.errors import says_absent
from ..service.shapes import (
    failure_lists,
    filters_of,
    item_names,
    lists_names,
    members_of,
    page_tokens,
    required_of,
)
from .events import Finding, Severity
from .expressions import Node
from .model import OperationShapes
from .paths import TracedPath, TracedWaiter, members_named, members_read

EC2 = "com.amazonaws.ec2#"
_KEPT_ENDS = ENDED_WORDS | listed("DEPROVISIONED RELEASED")
_NO_NAMES = re.compile(r"\w*(tag|owner|user|include|filter|attribute|option)\w*", re.IGNORECASE)
_NEGATION = re.compile("Not(?!Exist)")
"""`InstancesNotProtected` is about instances that are there."""


def check_lists(waiter: TracedWaiter) -> Iterator[Finding]:
    """Check what a waiter makes of lists of resources."""
    operation, output = waiter.operation, waiter.operation.output
    if not item_names(operation.input, output):
        for page in operation.pages or _listed_pages(operation):
            yield from _of_page(waiter, page)
    names_several = any(map(lists_names, members_of(operation.input).values()))
    if names_several and not means_absence(waiter.definition.name):
        for name in failure_lists(output):
            if not members_named(output, [name]) <= waiter.members:
                text = f"no acceptor reads `{name}`: a mistyped identifier is polled to the end"
                yield Finding(Severity.WARNING, "WaiterUnreadFailures", text)
    yield from _not_returned(waiter)
    yield from _any_of_several(waiter)


def _not_returned(waiter: TracedWaiter) -> Iterator[Finding]:
    operation, name = waiter.operation, waiter.definition.name
    names = name_lists(operation)
    if not names or (means_gone(name) and not _NEGATION.search(name)):
        return
    failures = members_named(operation.output, failure_lists(operation.output))
    tells = [index for index, path in waiter.paths.items() if failures & path.members]
    # Where no acceptor reads them, another rule says so.
    if not tells if failures else _refuses_unknown(operation, names):
        return
    for index, path in waiter.paths.items():
        # What counts the items, or reads the failures, does so for those behind it.
        if "input." in path.expression.text or index in tells:
            return
        if path.acceptor.state is AcceptorState.SUCCESS and _compares_all(path):
            text = f"an item of `{names[0]}` that the answer leaves out holds no wait up; "
            text += "compare how many succeed with how many the request names"
            if failures:
                text += f", or read `{failure_lists(operation.output)[0]}` before"
            yield Finding(Severity.WARNING, "WaiterNamedNotReturned", text, index)


def _any_of_several(waiter: TracedWaiter) -> Iterator[Finding]:
    names = name_lists(waiter.operation)
    if not names or waiter.definition.name.startswith("Any"):
        return
    retried: list[frozenset[str]] = []
    for index, path in waiter.paths.items():
        is_any = path.comparator is PathComparator.ANY_STRING_EQUALS
        is_enough = path.acceptor.state is AcceptorState.SUCCESS and is_any
        if is_enough and not any(path.members <= each for each in retried):
            text = f"one item of `{names[0]}` is enough; retry while another is in another state"
            yield Finding(Severity.WARNING, "WaiterAnyOfSeveral", text, index)
        if path.acceptor.state is AcceptorState.RETRY:
            retried.append(path.members)


def _of_page(waiter: TracedWaiter, page: str) -> Iterator[Finding]:
    """Find what a waiter makes of the first page of a list that no request can narrow."""
    operation = waiter.operation
    members, filters = members_read(page, operation.output), filters_of(operation.input)
    tokens = members_named(operation.output, page_tokens(operation.output))
    # A filter that nothing documents may take names.
    is_known = all(shape.documentation for shape in filters.values())
    of_ended = bool(operation.pages) and not means_absence(waiter.definition.name)
    is_finished = False
    for index, path in waiter.paths.items():
        is_finished |= not tokens.isdisjoint(path.members)
        if not members or not members <= path.members:
            continue
        is_all = _compares_all(path)
        is_meant = is_known and (is_all or (operation.pages and not _only_counts(path)))
        match path.acceptor:
            case Acceptor(state=AcceptorState.SUCCESS) if is_meant and not is_finished:
                text = f"`{page}` is paginated, and the request cannot name an item: "
                text += "each attempt sees only the first page"
                severity = Severity.WARNING if is_all and not filters else Severity.NOTE
                yield Finding(severity, "WaiterPaginatedPath", text, index)
            case Acceptor(state=AcceptorState.FAILURE, matcher=OutputMatcher(each)) if of_ended:
                is_any = each.comparator is PathComparator.ANY_STRING_EQUALS
                if is_any and state_words(each.expected) & _KEPT_ENDS:
                    text = f"an item that is {each.expected!r} from before fails the wait, "
                    text += f"since a request of {operation.name} cannot name an item"
                    yield Finding(Severity.WARNING, "WaiterFailsOnEndedItem", text, index)


def name_lists(operation: OperationShapes) -> list[str]:
    """Return the members of a request that list the names of resources."""
    members = members_of(operation.input)
    return [n for n, s in members.items() if lists_names(s) and not _NO_NAMES.match(n)]


def _refuses_unknown(operation: OperationShapes, names: list[str]) -> bool:
    """Whether an operation answers with an error to the name of what does not exist."""
    # An error for what is not found may be about the parent that a request has to name.
    is_refused = any(says_absent(each.name) for each in operation.errors)
    is_own = {*required_of(operation.input)} <= {*names}
    return operation.shape.startswith(EC2) or (is_refused and is_own)


def _listed_pages(operation: OperationShapes) -> list[str]:
    """Return the lists of an answer that has pages, though the model does not say of what."""
    if not page_tokens(operation.output):
        return []
    failures = failure_lists(operation.output)
    members = members_of(operation.output)
    return [n for n, s in members.items() if isinstance(s, ListShape) and n not in failures]


def _compares_all(path: TracedPath) -> bool:
    is_all = path.comparator is PathComparator.ALL_STRING_EQUALS
    return is_all or _equates_length(path.expression.root)


def _only_counts(path: TracedPath) -> bool:
    """Whether an expression asks for the number of items, whichever they are."""
    text = path.expression.text
    return "length(" in text and "[?" not in text


def _equates_length(node: Node) -> bool:
    """Whether an expression compares the number of items: `length(a[?b != 'c']) == 0`."""
    children = [child for child in node["children"] if isinstance(child, dict)]
    if node["type"] == "comparator" and node.get("value") == "eq":
        return any(child.get("value") == "length" for child in children)
    return any(map(_equates_length, children))

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
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    OutputMatcher,
    PathComparator,
)
from ..engine.model import WaiterDefinition
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
from .paths import TracedPath, members_named, members_read

EC2 = "com.amazonaws.ec2#"
_KEPT_ENDS = ENDED_WORDS | listed("DEPROVISIONED RELEASED")
_NO_NAMES = re.compile(r"\w*(tag|owner|user|include|filter|attribute|option)\w*", re.IGNORECASE)
_NEGATION = re.compile("Not(?!Exist)")
"""`InstancesNotProtected` is about instances that are there."""


def check_lists(
    waiter: WaiterDefinition, operation: OperationShapes, paths: list[TracedPath | None]
) -> Iterator[Finding]:
    """Check what a waiter makes of lists of resources; see `check_acceptors`."""
    output = operation.output
    tokens = members_named(output, page_tokens(output))
    for page in operation.pages or _listed_pages(operation):
        members = members_read(page, operation.output)
        is_finished = False
        for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):
            is_finished |= path is not None and not tokens.isdisjoint(path.members)
            if path is not None and members and members <= path.members:
                findings = _of_page(waiter, operation, page, acceptor, path, is_finished)
                yield from (finding._replace(acceptor=index) for finding in findings)
    read = frozenset[str]().union(*(path.members for path in paths if path is not None))
    names_several = any(map(lists_names, members_of(operation.input).values()))
    if names_several and not means_absence(waiter.name):
        for name in failure_lists(output):
            if not members_named(output, [name]) <= read:
                text = f"no acceptor reads `{name}`: a mistyped identifier is polled to the end"
                yield Finding(Severity.WARNING, "WaiterUnreadFailures", text)
    yield from _not_returned(waiter, operation, paths)
    yield from _any_of_several(waiter, operation, paths)


def _not_returned(
    waiter: WaiterDefinition, operation: OperationShapes, paths: list[TracedPath | None]
) -> Iterator[Finding]:
    names = name_lists(operation)
    if not names or (means_gone(waiter.name) and not _NEGATION.search(waiter.name)):
        return
    failures = members_named(operation.output, failure_lists(operation.output))
    tells = [path is not None and not failures.isdisjoint(path.members) for path in paths]
    # Where no acceptor reads them, another rule says so.
    if not any(tells) if failures else _refuses_unknown(operation, names):
        return
    for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):
        if path is not None and "input." in path.expression.text:
            return  # it counts them before
        if path is None or acceptor.state is not AcceptorState.SUCCESS or any(tells[: index + 1]):
            continue
        if _compares_all(path):
            text = f"an item of `{names[0]}` that the answer leaves out holds no wait up; "
            text += "compare how many succeed with how many the request names"
            if failures:
                text += f", or read `{failure_lists(operation.output)[0]}` before"
            yield Finding(Severity.WARNING, "WaiterNamedNotReturned", text, index)


def _any_of_several(
    waiter: WaiterDefinition, operation: OperationShapes, paths: list[TracedPath | None]
) -> Iterator[Finding]:
    names = name_lists(operation)
    if not names or waiter.name.startswith("Any"):
        return
    retried: list[frozenset[str]] = []
    for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):
        if path is None:
            continue
        is_any = path.comparator is PathComparator.ANY_STRING_EQUALS
        is_enough = acceptor.state is AcceptorState.SUCCESS and is_any
        if is_enough and not any(path.members <= each for each in retried):
            text = f"one item of `{names[0]}` is enough; retry while another is in another state"
            yield Finding(Severity.WARNING, "WaiterAnyOfSeveral", text, index)
        if acceptor.state is AcceptorState.RETRY:
            retried.append(path.members)


def _of_page(
    waiter: WaiterDefinition,
    operation: OperationShapes,
    page: str,
    acceptor: Acceptor,
    path: TracedPath,
    is_finished: bool,  # noqa: FBT001 - of this module
) -> Iterator[Finding]:
    if item_names(operation.input, operation.output):
        return
    filters = filters_of(operation.input)
    if acceptor.state is AcceptorState.SUCCESS and not is_finished:
        is_all = _compares_all(path)
        text = f"`{page}` is paginated, and the request cannot name an item: "
        text += "each attempt sees only the first page"
        # A filter that nothing documents may take names.
        is_known = all(shape.documentation for shape in filters.values())
        if is_known and (is_all or (operation.pages and not _only_counts(path))):
            severity = Severity.WARNING if is_all and not filters else Severity.NOTE
            yield Finding(severity, "WaiterPaginatedPath", text)
    if means_absence(waiter.name) or not operation.pages:
        return
    match acceptor:
        case Acceptor(state=AcceptorState.FAILURE, matcher=OutputMatcher(matcher=matcher)):
            is_any = matcher.comparator is PathComparator.ANY_STRING_EQUALS
            if is_any and state_words(matcher.expected) & _KEPT_ENDS:
                text = f"an item that is {matcher.expected!r} from before fails the wait, "
                text += f"since a request of {operation.name} cannot name an item"
                yield Finding(Severity.WARNING, "WaiterFailsOnEndedItem", text)


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

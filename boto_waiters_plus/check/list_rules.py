"""Waiters on lists: what the request can name, what a page leaves out, what else the answer says.

| case | what goes wrong |
|---|---|
| all of a first page, which the request cannot narrow | a resource on a later page is overlooked |
| any of such a page | the wait polls to its end for a resource on a later page |
| a failure on an ended item of such a list | what ended last week fails the wait for a new one |
| a list of failures that no acceptor reads | a mistyped identifier is polled to the end |
| a success on all items of an answer that leaves out unknown names | it counts the rest only |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from botocore.model import ListShape, Shape, StructureShape

from ..definitions.operation_names import listed, words_of
from ..definitions.state_words import ENDED_WORDS, means_absence, state_words
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    InputOutputMatcher,
    OutputMatcher,
    PathComparator,
)
from ..engine.model import WaiterDefinition
from .absent_resources import EC2, NOT_FOUND, page_tokens
from .events import Finding, Severity
from .expressions import Node
from .paths import TracedPath, members_read
from .shapes import OperationShapes, element_of, enum_of, is_string, members_of

_ID_WORDS = listed("ARN ARNS ID IDENTIFIER IDENTIFIERS IDS KEYS NAME NAMES")
_KEPT_ENDS = ENDED_WORDS | listed("DEPROVISIONED RELEASED")
_NO_NAMES = re.compile(r"\w*(tag|owner|user|include|filter|attribute|option)\w*", re.IGNORECASE)
_FILTER = re.compile(r"(?!include )(.* )?(filter|quer|search)", re.IGNORECASE)
_NEGATION = re.compile("Not(?!Exist)")
"""`InstancesNotProtected` is about instances that are there."""
_FAILURES = re.compile(
    r"(\w*errors|\w*error_?details?|failed\w*|failures|invalid\w*|missing\w*|\w*not_?found\w*"
    r"|unprocessed\w*|unsuccessful\w*)",
    re.IGNORECASE,
)


def check_lists(
    waiter: WaiterDefinition, operation: OperationShapes, paths: list[TracedPath | None]
) -> Iterator[Finding]:
    """Check what a waiter makes of lists of resources; see `check_acceptors`."""
    for page in operation.pages:
        members = members_read(page, operation.output)
        for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):
            if path is not None and members and members <= path.members:
                findings = _of_page(waiter, operation, page, acceptor, path)
                yield from (finding._replace(acceptor=index) for finding in findings)
    read = frozenset[str]().union(*(path.members for path in paths if path is not None))
    output = operation.output
    if output is not None and names_several(operation) and not means_absence(waiter.name):
        for name in failure_lists(operation):
            if f"{output.name}${name}" not in read:
                text = f"no acceptor reads `{name}`: a mistyped identifier is polled to the end"
                yield Finding(Severity.WARNING, "WaiterUnreadFailures", text)
    yield from _not_returned(waiter, operation, paths)


def _not_returned(
    waiter: WaiterDefinition, operation: OperationShapes, paths: list[TracedPath | None]
) -> Iterator[Finding]:
    names = _names_left_out(operation)
    if not names or (means_absence(waiter.name) and not _NEGATION.search(waiter.name)):
        return
    for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):
        if path is not None and "input." in path.expression.text:
            return  # it counts them before
        if path is None or acceptor.state is not AcceptorState.SUCCESS:
            continue
        if _compares_all(acceptor, path):
            text = f"an item of `{names[0]}` that the answer leaves out holds no wait up; "
            text += "compare how many succeed with how many the request names"
            yield Finding(Severity.WARNING, "WaiterNamedNotReturned", text, index)


def _of_page(
    waiter: WaiterDefinition,
    operation: OperationShapes,
    page: str,
    acceptor: Acceptor,
    path: TracedPath,
) -> Iterator[Finding]:
    is_success = acceptor.state is AcceptorState.SUCCESS
    if is_success and not names_items(operation) and not _reads_token(operation, path):
        is_all = _compares_all(acceptor, path)
        text = f"`{page}` is paginated, and the request cannot name an item: "
        text += "each attempt sees only the first page"
        if is_all or not _only_counts(path):
            severity = Severity.WARNING if is_all else Severity.NOTE
            yield Finding(severity, "WaiterPaginatedPath", text)
    if names_items(operation, by_filters=False) or means_absence(waiter.name):
        return
    match acceptor:
        case Acceptor(state=AcceptorState.FAILURE, matcher=OutputMatcher(matcher=matcher)):
            is_any = matcher.comparator is PathComparator.ANY_STRING_EQUALS
            if is_any and state_words(matcher.expected) & _KEPT_ENDS:
                text = f"an item that is {matcher.expected!r} from before fails the wait, "
                text += f"since a request of {operation.name} cannot name an item"
                yield Finding(Severity.WARNING, "WaiterFailsOnEndedItem", text)


def names_items(operation: OperationShapes, *, by_filters: bool = True) -> bool:
    """Whether a request can name the items that the answer has.

    Args:
        operation: the operation.
        by_filters: whether filters count.
    """
    if by_filters and filters_of(operation):
        return True
    request = operation.input
    required = request.required_members if isinstance(request, StructureShape) else ()
    for name, shape in members_of(request).items():
        words = [word.upper() for word in words_of(name)]
        if words[:1] == ["INCLUDE"]:
            continue  # parts of the answer
        # A required identifier is the parent's, a list of them names the items.
        if _lists_names(shape) or (words[-1:] and words[-1] in _ID_WORDS and name not in required):
            return True
        if isinstance(shape, ListShape) and name in required:
            return True
    return False


def filters_of(operation: OperationShapes) -> dict[str, Shape]:
    """Return the filters of a request, by their names."""
    members = members_of(operation.input)
    return {n: s for n, s in members.items() if _FILTER.match(" ".join(words_of(n)))}


def names_several(operation: OperationShapes) -> bool:
    """Whether a request can name several resources by their identifiers."""
    return any(map(_lists_names, members_of(operation.input).values()))


def name_lists(operation: OperationShapes) -> list[str]:
    """Return the members of a request that list the names of resources."""
    members = members_of(operation.input)
    return [n for n, s in members.items() if _lists_names(s) and not _NO_NAMES.match(n)]


def _names_left_out(operation: OperationShapes) -> list[str]:
    """Return the members of a request whose unknown names the answer leaves out without a word."""
    names = name_lists(operation)
    required = operation.input.required_members if names and operation.input else ()
    # An error for what is not found may be about the parent that a request has to name.
    is_refused = any(NOT_FOUND.search(each.name) for each in operation.errors)
    if operation.shape.startswith(EC2) or failure_lists(operation):
        return []
    return [] if is_refused and set(required) <= set(names) else names


def failure_lists(operation: OperationShapes) -> list[str]:
    """Return the members of an answer that list what could not be found or read."""
    members = members_of(operation.output)
    return [n for n, s in members.items() if isinstance(s, ListShape) and _FAILURES.fullmatch(n)]


def _lists_names(shape: Shape) -> bool:
    member = element_of(shape)
    return member is not None and is_string(member) and not enum_of(member)


def _reads_token(operation: OperationShapes, path: TracedPath) -> bool:
    output = operation.output
    return output is not None and any(
        f"{output.name}${name}" in path.members for name in page_tokens(operation)
    )


def _compares_all(acceptor: Acceptor, path: TracedPath) -> bool:
    if not isinstance(acceptor.matcher, OutputMatcher | InputOutputMatcher):
        return False
    comparator = acceptor.matcher.matcher.comparator
    return comparator is PathComparator.ALL_STRING_EQUALS or _equates_length(path.expression.root)


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

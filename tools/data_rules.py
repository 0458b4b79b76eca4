"""Rules of shipped waiters: what the documentation of AWS's models says, and names.

| rule | severity | id |
|---|---|---|
| a page has all that a request may name, or `boto.waiters#coalescing` tells its size | WARNING | \
`WaiterNamedOnPages.W` |
| an acceptor asks for a parameter without which the answer leaves out some | WARNING | \
`WaiterFilteredByDefault.W` |
| no failure is a state that may recover | WARNING | `WaiterFailsOnRecoverable.W.i` |
| a waiter that may see the last run says so | WARNING | `WaiterLastRun.W` |
| no two waiters of an operation have the same acceptors | WARNING | `WaiterSameMeaning.W` |
| a wait until something is gone ends if nothing passes the filter | WARNING | `WaiterNeverGone.W` |
| a success that its documentation takes back reads another member beside it | WARNING | \
`WaiterDenied.W.i` |
| waiters of twins, and of one operation, have the same ends | WARNING | those of `twins` |
| a text says what ends the wait, and nothing else does | WARNING | `WaiterText.W` |

`check` applies them beside the rules of `boto_waiters_plus.validation`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import rules_texts
from botocore.model import ListShape, Shape
from twins import siblings_of, twins_of_waiter

from boto_waiters_plus.check.absence_rules import processes_of
from boto_waiters_plus.check.checker import Checkable, check_with
from boto_waiters_plus.check.events import Finding, Severity, ValidationEvent
from boto_waiters_plus.check.expressions import sample
from boto_waiters_plus.check.list_rules import EC2, name_lists
from boto_waiters_plus.check.model import OperationShapes
from boto_waiters_plus.check.paths import traced_path
from boto_waiters_plus.check.units import AppliedTrait
from boto_waiters_plus.definitions.smithy import WAITABLE
from boto_waiters_plus.definitions.state_words import is_underway, means_gone, state_words
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.engine.model import GENERATED, WaiterDefinition
from boto_waiters_plus.service.shapes import filters_of, members_of, page_tokens
from boto_waiters_plus.service.sharing import shipped_coalescing

_PAGE_SIZE = re.compile(r"max_?(results|records|items)|page_?size|limit", re.IGNORECASE)
_TAGS = re.compile(r"<[^>]+>")
_BLANKS = re.compile(r"\s+")
_LEFT_OUT = re.compile(r"[Dd]efault[^.]* (only|[Nn]ot?) |[Dd]o not include|instances only")
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)
_RECOVERS = re.compile(r"\brecoverable")
_WORD = re.compile(r"[\w-]+")
_DENIES = re.compile(
    r"\bregardless\b|\b(?:does not|doesn't) (?:mean|indicate|imply|guarantee)\b|\bonly possible\b"
    r"|\bcontribute to\b|\beven if\b"
)
_EARLIER = re.compile(r"\b(earlier|last|latest|since)\b")
_LAST_MEMBER = re.compile(r"\$([Ll]ast(?!Status$)|[Ll]atest|[Mm]ostRecent)")
_STATUS_OF_LAST = re.compile(
    r"(?<!it is the )\bstatus (?:of|for) the (?:last|latest|most recent)\b(?! running)",
    re.IGNORECASE,
)
_LAST_BY_DEFAULT = re.compile(
    r"(?=[^.]*(?:omitted|missing|not specified))[^.]*\b(?:latest|most recent)\b"
    r"[^.]*\b(?:change|deployment|run)\b",
    re.IGNORECASE,
)
_CHANGES = frozenset({"UPDAT", "UPGRAD", "MODIF", "SCAL"})
_LARGEST_PAGE = re.compile(r"(?:default value is|between 1 and|The default is) (\d+)")
_MOST_NAMES = re.compile(r"(?:up to|[Mm]aximum (?:number )?of|more than) (\d+|ten)")


def check(model: Checkable | Iterable[Checkable]) -> list[ValidationEvent]:
    """Check waiters by these rules too; see `boto_waiters_plus.validation.check`."""
    return check_with({WAITABLE: check_documentation}, model)


def check_documentation(trait: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check waiters against the documentation of the operation that they poll."""
    if trait.operation is None:
        return
    for waiter in trait.definitions:
        findings = itertools.chain(
            _named_on_pages(trait.operation),
            _filtered_by_default(waiter, trait.operation),
            _recoverable(waiter, trait.operation),
            _last_run(waiter, trait.operation),
            _same_meaning(waiter, trait.definitions),
            _never_gone(waiter, trait.operation),
            _denied(waiter, trait.operation),
            siblings_of(waiter, trait.definitions),
            twins_of_waiter(waiter, trait.model) if trait.model else (),
            _text_against_acceptors(waiter, trait.operation),
        )
        for finding in findings:
            yield trait.target.finding(waiter.name, finding)


def _named_on_pages(operation: OperationShapes) -> Iterator[Finding]:
    """Find an operation whose answer may have less than a request names, on more than one page."""
    coalescing = shipped_coalescing().get(operation.shape)
    # EC2 refuses the size of a page beside identifiers.
    if operation.shape.startswith(EC2) or (coalescing and coalescing.page):
        return
    members = members_of(operation.input)
    sizes = [s for n, s in members.items() if _PAGE_SIZE.fullmatch(n)]
    names = name_lists(operation)
    if not sizes or not names or not page_tokens(operation.output):
        return
    page, most = _number(sizes[0], _LARGEST_PAGE), _number(members[names[0]], _MOST_NAMES)
    if page is not None and (most is None or most > page):
        text = f"a page has at most {page} of what `{names[0]}` names, and a wait reads one"
        yield Finding(Severity.WARNING, "WaiterNamedOnPages", text)


def _filtered_by_default(waiter: WaiterDefinition, operation: OperationShapes) -> Iterator[Finding]:
    """Find a parameter that has to be given if the answer is to have every state."""
    for name, shape in members_of(operation.input).items():
        is_switch = shape.type_name == "boolean" and name.lower().startswith("include")
        if not is_switch or not _LEFT_OUT.search(_text(shape)):
            continue
        if not any(f"input.{name}" in acceptor.describe() for acceptor in waiter.acceptors):
            text = f"without `{name}` the answer leaves out some, and no acceptor asks for it"
            yield Finding(Severity.WARNING, "WaiterFilteredByDefault", text)


def _recoverable(waiter: WaiterDefinition, operation: OperationShapes) -> Iterator[Finding]:
    """Find a failure in a state that the documentation says may recover."""
    for index, acceptor in enumerate(waiter.acceptors):
        path = traced_path(acceptor, operation)
        if path is None or path.expected is None or acceptor.state is not AcceptorState.FAILURE:
            continue
        value = path.expected.value
        for item in _ITEM.findall(path.expected.shape.documentation):
            if _TAGS.sub("", item).strip().startswith(value) and _RECOVERS.search(item):
                text = f"{value!r} may be recoverable, says the documentation of the state"
                yield Finding(Severity.WARNING, "WaiterFailsOnRecoverable", text, index)


def _last_run(waiter: WaiterDefinition, operation: OperationShapes) -> Iterator[Finding]:
    """Find a success that outlasts the change that is waited for, and is not documented."""
    if GENERATED in waiter.tags or _EARLIER.search(waiter.documentation or ""):
        return
    changes = processes_of(waiter.name) & _CHANGES
    for acceptor in waiter.acceptors:
        path = traced_path(acceptor, operation)
        if path is None or acceptor.state is not AcceptorState.SUCCESS:
            continue
        values = {each.value for each in path.comparisons if processes_of(each.value) & changes}
        values -= {value for value in values if is_underway(state_words(value))}
        lasting = [*filter(_LAST_MEMBER.search, sorted(path.members)), *sorted(values)]
        lasting += [
            member
            for member, shape in sorted(_members_within(operation.output).items())
            if member in path.members and _STATUS_OF_LAST.search(_text(shape))
        ]
        lasting += [
            member
            for member, shape in members_of(operation.input).items()
            if _LAST_BY_DEFAULT.search(_text(shape))
        ]
        if lasting:
            text = f"`{lasting[0]}` may be of an earlier run, which the documentation leaves out"
            yield Finding(Severity.WARNING, "WaiterLastRun", text)
            return


def _same_meaning(
    waiter: WaiterDefinition, siblings: Iterable[WaiterDefinition]
) -> Iterator[Finding]:
    """Find an earlier waiter of the operation that ends as this one does."""
    own = {(each.state, each.matcher) for each in waiter.acceptors}
    for other in siblings:
        if other.name < waiter.name and {(e.state, e.matcher) for e in other.acceptors} == own:
            text = f"it has the acceptors of `{other.name}`: one name is enough"
            yield Finding(Severity.WARNING, "WaiterSameMeaning", text)


def _never_gone(waiter: WaiterDefinition, operation: OperationShapes) -> Iterator[Finding]:
    """Find a wait until something is gone that goes on although nothing passes the filter."""
    members = members_of(operation.output)
    empty: dict[str, Any] = {n: [] for n, s in members.items() if isinstance(s, ListShape)}
    if not means_gone(waiter.name) or not empty:
        return
    matching = Matching(waiter.acceptors)
    for name, shape in filters_of(operation.input).items():
        index = matching.match_response(empty, {name: sample(shape)}).index
        if index is None or waiter.states[index] is AcceptorState.RETRY:
            text = f"goes on although nothing passes `{name}`: what is gone is not listed"
            yield Finding(Severity.WARNING, "WaiterNeverGone", text)
            return


def _denied(waiter: WaiterDefinition, operation: OperationShapes) -> Iterator[Finding]:
    """Find a success by a member alone whose value may not mean it, says the documentation."""
    within = _members_within(operation.output)
    read: list[frozenset[str]] = []
    for index, acceptor in enumerate(waiter.acceptors):
        path = traced_path(acceptor, operation)
        if path is None:
            continue
        read.append(path.members)
        if acceptor.state is not AcceptorState.SUCCESS:
            continue
        values = {each.value for each in path.comparisons}
        for member in sorted(path.members & set(within)):
            siblings = {e for e in within if e.startswith(member[: member.index("$") + 1])}
            siblings.discard(member)
            if any(member in each and not siblings.isdisjoint(each) for each in read):
                continue  # it is told by both
            name = member[member.index("$") + 1 :]
            denied = [
                *(e for e in _sentences(within[member], _DENIES) if values & {*_WORD.findall(e)}),
                *(
                    e
                    for other in sorted(siblings)
                    for e in _sentences(within[other], _differs(name))
                ),
            ]
            if denied:
                text = f"`{name}` alone does not tell, says the documentation: {denied[0]}"
                yield Finding(Severity.WARNING, "WaiterDenied", text, index)
                return


def _text_against_acceptors(
    waiter: WaiterDefinition, operation: OperationShapes
) -> Iterator[Finding]:
    """Find where the documentation of a waiter and its failures differ."""
    if GENERATED in waiter.tags or not waiter.documentation:
        return
    errors = [each.name for each in operation.errors]
    for text in (
        *rules_texts.unsaid(waiter.documentation, waiter.acceptors),
        *rules_texts.undone(waiter.documentation, waiter.acceptors, errors),
    ):
        yield Finding(Severity.WARNING, "WaiterText", f"the documentation: {text}")


def _differs(name: str) -> re.Pattern[str]:
    """Return what the documentation of another member says of one that tells less."""
    return re.compile(rf"\bdifferent \w+ than {name}\b")


def _sentences(shape: Shape, wanted: re.Pattern[str]) -> list[str]:
    """Return the sentences of a shape's documentation that match."""
    return [each for each in re.split(r"(?<=\.) ", _text(shape)) if wanted.search(each)]


def _members_within(shape: Shape | None) -> dict[str, Shape]:
    """Return the members of a shape, however deep, as `Structure$member`."""
    found: dict[str, Shape] = {}
    rest = [shape]
    while rest:
        each = rest.pop()
        for name, member in members_of(each).items():
            if each is not None and f"{each.name}${name}" not in found:
                found[f"{each.name}${name}"] = member
                rest.append(member)
        element = getattr(each, "member", None)
        if element is not None:
            rest.append(element)
    return found


def _number(shape: Shape, documented: re.Pattern[str]) -> int | None:
    """Return the largest number that a model allows or its documentation tells."""
    found = documented.search(_text(shape))
    told = found and (10 if found[1] == "ten" else int(found[1]))
    return told or shape.metadata.get("max")


def _text(shape: Shape) -> str:
    """Return the documentation of a shape without its markup."""
    return _BLANKS.sub(" ", _TAGS.sub(" ", shape.documentation or ""))

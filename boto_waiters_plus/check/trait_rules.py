"""The form of a `waitable` trait, as Smithy checks any trait, and of a `waiters-2` document.

| rule | severity | id |
|---|---|---|
| the trait is on an operation without event streams | ERROR | `TraitTarget` |
| names and tags are well-formed, lists are not empty, delays are integers | ERROR | `TraitValue` |
| delays are at least 1 | ERROR | `TraitValue.Target.InvalidRange` |
| members are known | WARNING | `TraitValue.UnknownMember.<shape>.<member>` |
| a waiter's `description` is its `documentation` | NOTE | the same |
| matchers are known | ERROR | `TraitValue.UnknownMember.<shape>.<member>` |
| all else has the right type | ERROR | `Model` |

The loader's parser, in `definitions.smithy`, finds all ERRORs but the first.

botocore, and with it the loader, tolerates these problems of `waiters-2` documents:

| rule | severity | id |
|---|---|---|
| a state is success, failure or retry | DANGER | `WaiterUnknownState.W.i` |
| a waiter has acceptors | WARNING | `WaiterWithoutAcceptors.W` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.parsing import Place, RuleError, require_mapping
from ..definitions.smithy import WAITABLE, documentation_in, read_waiter
from ..definitions.waiters2 import STATE_OF_NO_EFFECT, is_template
from ..engine.model import WAITER_NAME_PROBLEM, WaiterDefinition
from .documents import Document, Target
from .events import Finding, Severity, ValidationEvent

_NAMESPACE = "smithy.waiters#"
_MEMBERS = {
    "Waiter": {"documentation", "acceptors", "minDelay", "maxDelay", "deprecated", "tags"},
    "Acceptor": {"state", "matcher", "message"},
    "PathMatcher": {"path", "expected", "comparator"},
}


def read_trait(
    target: Target, waitable: Any
) -> tuple[list[WaiterDefinition], list[ValidationEvent]]:
    """Read the value of a trait.

    Returns:
        The waiters and the events; the waiters are usable only if no event is an ERROR.
    """
    problems: list[RuleError] = []
    place = Place("trait", problems=problems)
    definitions = []
    waiters = place.attempt(require_mapping, waitable, WAITABLE) or {}
    if waitable == {}:
        problems.append(place.error("the trait has no waiter", "TraitValue"))
    for name, body in waiters.items():
        operation = str(target.shape).rpartition("#")[2]
        in_waiter = place.in_waiter(name)
        definitions.append(in_waiter.attempt(read_waiter, name, body, operation=operation))
    if problems:
        return [], [_event(target, problem) for problem in problems]
    return definitions, list(_unknown_members(target, waiters))


def _event(target: Target, error: RuleError) -> ValidationEvent:
    name, index = error.waiter, error.acceptor
    if index is not None:
        text = error.problem
    elif name is None:
        text = f"Trait `{WAITABLE}`: {error.problem}"
    elif error.problem != WAITER_NAME_PROBLEM:
        text = f"Waiter `{name}`: {error.problem}"
    else:
        text = (
            f"Error validating trait `{WAITABLE}`.{name} (map-key): String value provided for "
            f"`{_NAMESPACE}WaiterName` must match regular expression: ^[A-Z]+[A-Za-z0-9]*$"
        )
    return target.event(Severity.ERROR, error.rule, text, waiter=name, acceptor=index)


def _unknown_members(target: Target, waitable: Mapping[str, Any]) -> Iterator[ValidationEvent]:
    for name, waiter in waitable.items():
        parts: list[tuple[str, Any, int | None]] = [("Waiter", waiter, None)]
        for index, acceptor in enumerate(waiter["acceptors"]):
            [matcher] = acceptor["matcher"].values()
            parts.append(("Acceptor", acceptor, index))
            if isinstance(matcher, Mapping):
                parts.append(("PathMatcher", matcher, index))
        for kind, part, place in parts:
            for member in [each for each in part if each not in _MEMBERS[kind]]:
                event_id = f"TraitValue.UnknownMember.{_NAMESPACE}{kind}.{member}"
                text = f"`{_NAMESPACE}{kind}` has no member `{member}`; it is "
                is_read = kind == "Waiter" and member == documentation_in(part)
                severity = Severity.NOTE if is_read else Severity.WARNING
                text += "read as `documentation`" if is_read else "ignored"
                yield target.event(severity, event_id, text, waiter=name, acceptor=place)


def check_waiters2(document: Document) -> Iterator[ValidationEvent]:
    """Check a `waiters-2` document whose waiters could be loaded."""
    target = Target(None, document, ("waiters",))
    for name, body in document.data["waiters"].items():
        if is_template(body):
            text = "it has no acceptors and is ignored"
            yield target.finding(name, Finding(Severity.WARNING, "WaiterWithoutAcceptors", text))
            continue
        for index, acceptor in enumerate(body["acceptors"]):
            if acceptor["state"] == STATE_OF_NO_EFFECT:
                text = f"`{STATE_OF_NO_EFFECT}` is not a state; botocore treats it as `retry`"
                finding = Finding(Severity.DANGER, "WaiterUnknownState", text, index)
                yield target.finding(name, finding)

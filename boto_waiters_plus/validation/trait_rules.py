"""The form of a `waitable` trait: the checks that Smithy makes of any trait, for this one.

| rule | severity | id |
|---|---|---|
| the trait is on an operation without event streams | ERROR | `TraitTarget` |
| names and tags are well-formed, lists are not empty, delays are integers | ERROR | `TraitValue` |
| delays are at least 1 | ERROR | `TraitValue.Target.InvalidRange` |
| members are known | WARNING | `TraitValue.UnknownMember.<shape>.<member>` |
| matchers are known | ERROR | `TraitValue.UnknownMember.<shape>.<member>` |
| all else has the right type | ERROR | `Model` |

The loader's parser, in `definitions.smithy`, finds all ERRORs but the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.parsing import Place, RuleError, require_mapping
from ..definitions.smithy import WAITABLE, WAITER_NAME_PROBLEM, read_waiter
from ..engine.model import WaiterDefinition
from .documents import Target
from .events import Severity, ValidationEvent

_NAMESPACE = "smithy.waiters#"
_WAITER = ("documentation", "acceptors", "minDelay", "maxDelay", "deprecated", "tags")
_ACCEPTOR = ("state", "matcher", "message")
_PATH_MATCHER = ("path", "expected", "comparator")


def wrong_target(target: Target) -> ValidationEvent:
    """Return the event for a trait on a shape that it may not be on."""
    return target.event(
        Severity.ERROR,
        "TraitTarget",
        f"Trait `{WAITABLE}` cannot be applied to `{target.shape}`: it may only be applied to "
        "operations without event streams",
    )


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
        operation = target.shape.rpartition("#")[2]
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
        parts: list[tuple[str, Any, tuple[str, ...], int | None]] = [
            ("Waiter", waiter, _WAITER, None)
        ]
        for index, acceptor in enumerate(waiter["acceptors"]):
            [matcher] = acceptor["matcher"].values()
            parts.append(("Acceptor", acceptor, _ACCEPTOR, index))
            if isinstance(matcher, Mapping):
                parts.append(("PathMatcher", matcher, _PATH_MATCHER, index))
        for kind, part, known, place in parts:
            for member in part:
                if member not in known:
                    shape = f"{_NAMESPACE}{kind}"
                    event_id = f"TraitValue.UnknownMember.{shape}.{member}"
                    text = f"`{shape}` has no member `{member}`; it is ignored"
                    yield target.event(
                        Severity.WARNING, event_id, text, waiter=name, acceptor=place
                    )

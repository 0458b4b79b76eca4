"""The form of a `waitable` trait: the checks that Smithy makes of any trait, for this one.

| rule | severity | id |
|---|---|---|
| the trait is on an operation without event streams | ERROR | `TraitTarget` |
| names and tags are well-formed, lists are not empty, delays are integers | ERROR | `TraitValue` |
| delays are at least 1 | ERROR | `TraitValue.Target.InvalidRange` |
| members are known | WARNING | `TraitValue.UnknownMember.<shape>.<member>` |
| matchers are known | ERROR | `TraitValue.UnknownMember.<shape>.<member>` |
| all else has the right type | ERROR | `Model` |

All but the first and the third-last are rules of the loader as well, which has them in
`definitions.smithy`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.smithy import (
    WAITABLE,
    WAITER_NAME_PROBLEM,
    Place,
    RuleError,
    read_waiter,
    require_mapping,
)
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
    def unknown(body: Mapping[str, Any], known: tuple[str, ...], shape: str, **place: Any) -> Any:
        start = "" if "acceptor" in place else f"Waiter `{place['waiter']}`: "
        for member in body:
            if member not in known:
                yield target.event(
                    Severity.WARNING,
                    f"TraitValue.UnknownMember.{_NAMESPACE}{shape}.{member}",
                    f"{start}`{_NAMESPACE}{shape}` has no member `{member}`; it is ignored",
                    **place,
                )

    for name, waiter in waitable.items():
        yield from unknown(waiter, _WAITER, "Waiter", waiter=name)
        for index, acceptor in enumerate(waiter["acceptors"]):
            yield from unknown(acceptor, _ACCEPTOR, "Acceptor", waiter=name, acceptor=index)
            [value] = acceptor["matcher"].values()
            matcher = value if isinstance(value, Mapping) else {}
            yield from unknown(matcher, _PATH_MATCHER, "PathMatcher", waiter=name, acceptor=index)

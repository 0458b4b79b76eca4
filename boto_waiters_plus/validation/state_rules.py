"""States of a resource that end its course, and that no acceptor of a waiter mentions.

| rule | severity | id |
|---|---|---|
| every value that says failure is mentioned | WARNING | `WaiterUnhandledState.Failed.W` |
| every value that says another end is mentioned | NOTE | `WaiterUnhandledState.Ended.W` |

A resource in such a state will not come to the desired one by itself: the wait uses up its whole
budget to say so. Which values these are is told from their words, so that these are notes only:
ends that do not say failure; failures of another process than the one waited for (`UPDATE_FAILED`
of a waiter that speaks of creation only); of a waiter for the end of the resource, failures that
do not speak of that, as what failed before may well be what is being deleted; and all if the
waiter tells failure by another member.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions.operation_names import listed, words_of
from ..engine.model import AcceptorState, WaiterDefinition
from .events import Severity, Target, ValidationEvent
from .paths import TracedPath
from .shapes import Shape

_FAILED = listed(
    "FAIL FAILED FAILURE FAILURES FAULT FAULTED ERROR ERRORED ERRORS CRASHED REJECTED TIMED "
    "TIMEDOUT TIMEOUT UNSUCCESSFUL UNRECOVERABLE"
)
_GONE = listed("DELETED TERMINATED REMOVED DEREGISTERED DISASSOCIATED DETACHED")
_ENDED = _GONE | listed(
    "ABORTED CANCELED CANCELLED EXPIRED STOPPED REVOKED RETIRED SHUT SHUTDOWN DEACTIVATED"
)
_UNDERWAY = listed("PROGRESS PENDING RETRY REQUESTED PARTIALLY TEMPORARY")
# Beginnings of words, so that CREATE, CREATING, CREATED and CREATION are one.
_ENDINGS = listed("DELET DEREGIST DETACH DISASSOCIAT PURG REMOV TERMINAT")
_PROCESSES = listed(
    "ACTIVAT ASSOCIAT ATTACH BACK CANCEL CLEAN CREAT DEACTIVAT DELET DEPLOY DEREGIST DETACH DISABL "
    "DISASSOCIAT ENABL EXPORT IMPORT MODIF PAUS PURG REBOOT REGIST REMOV RESET RESIZ RESTOR RESUM "
    "ROLL SCAL START STOP SUSPEND TERMINAT UPDAT UPGRAD UPLOAD VALIDAT"
)


def check_states(
    target: Target, waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> Iterator[ValidationEvent]:
    """Check that the ends of a resource's course are mentioned.

    Args:
        target: what events are about.
        waiter: the waiter.
        paths: its acceptors' paths; None for an acceptor that has none, or none that parses.
    """
    mentioned, deciding = _states(waiter, paths)
    for name, shape in deciding.items():
        to_end = _waits_for_end(waiter, paths, name)
        elsewhere = _fails_elsewhere(waiter, paths, name)
        spoken_of = _processes(waiter.name, *mentioned[name])
        failed: list[str] = []
        ended: list[str] = []
        for value in shape.enum:
            if value in mentioned[name] or not _is_end(value, to_end=to_end):
                continue
            processes = _processes(value)
            ours = processes <= spoken_of and (not to_end or bool(processes & _ENDINGS))
            says_failure = ours and not elsewhere and bool(_words(value) & _FAILED)
            (failed if says_failure else ended).append(value)
        for values, severity, rule in (
            (failed, Severity.WARNING, "Failed"),
            (ended, Severity.NOTE, "Ended"),
        ):
            if values:
                yield target.event(
                    severity,
                    f"WaiterUnhandledState.{rule}.{waiter.name}",
                    f"Waiter `{waiter.name}`: no acceptor mentions {', '.join(values)} of "
                    f"{name.rpartition('#')[2]}; a resource in that state would use up the wait's "
                    "whole budget",
                    waiter=waiter.name,
                )


def _states(
    waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> tuple[dict[str, set[str]], dict[str, Shape]]:
    """The values that are mentioned, and the enumerations that decide about success.

    A waiter for the end of a resource often succeeds by an error: then those of its other
    acceptors.
    """
    mentioned: dict[str, set[str]] = {}
    deciding: dict[bool, dict[str, Shape]] = {True: {}, False: {}}
    for acceptor, path in zip(waiter.acceptors, paths, strict=True):
        for comparison in () if path is None else path.comparisons:
            shape = comparison.shape
            mentioned.setdefault(shape.name, set()).add(comparison.value)
            deciding[acceptor.state is AcceptorState.SUCCESS][shape.name] = shape
    return mentioned, deciding[True] or deciding[False]


def _waits_for_end(waiter: WaiterDefinition, paths: list[TracedPath | None], name: str) -> bool:
    """Whether the waiter waits for the resource to be gone."""
    values = [
        comparison.value
        for acceptor, path in zip(waiter.acceptors, paths, strict=True)
        if acceptor.state is AcceptorState.SUCCESS and path is not None
        for comparison in path.comparisons
        if comparison.shape.name == name
    ]
    return all(_processes(value) & _ENDINGS for value in values)


def _fails_elsewhere(waiter: WaiterDefinition, paths: list[TracedPath | None], name: str) -> bool:
    """Whether the waiter tells failure by another enumeration."""
    return any(
        comparison.shape.name != name
        for acceptor, path in zip(waiter.acceptors, paths, strict=True)
        if acceptor.state is AcceptorState.FAILURE and path is not None
        for comparison in path.comparisons
    )


def _is_end(value: str, *, to_end: bool) -> bool:
    """Whether nothing follows; what a waiter for the end waits for is not meant."""
    words = _words(value)
    if words & _UNDERWAY or any(word.endswith("ING") for word in words):
        return False
    return bool(words & _FAILED or (words & _ENDED and not (to_end and words & _GONE)))


def _processes(*names: str) -> frozenset[str]:
    """The processes that names speak of."""
    words = {word for name in names for word in _words(name)}
    return frozenset(p for p in _PROCESSES if any(word.startswith(p) for word in words))


def _words(value: str) -> frozenset[str]:
    return frozenset(word.upper() for word in words_of(value))

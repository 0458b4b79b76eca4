"""Final states of a resource that no acceptor of a waiter mentions.

A resource in such a state does not reach the desired one by itself, and the wait times out. The
meaning of a value is guessed from its words. A value is therefore reported only as a NOTE if it

- means an end but not failure;
- means failure of another process than the waiter's (`UPDATE_FAILED` of a waiter for creation);
- means failure of something other than the end that the waiter waits for (a wait until a resource
  is gone passes over it: what failed is deleted too);
- or if the waiter recognises failure by another member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from botocore.model import Shape

from ..definitions.words import (
    ENDED_WORDS,
    ENDINGS,
    FAILED_WORDS,
    GONE_WORDS,
    is_underway,
    listed,
    means_gone,
    state_words,
)
from ..engine.acceptors import AcceptorState
from ..engine.model import WaiterDefinition
from .events import Finding, Severity
from .paths import EnumComparison, TracedPath
from .shapes import enum_of

# Beginnings of words, as in `ENDINGS`.
_PROCESSES = listed(
    "ACTIVAT ASSOCIAT ATTACH BACK CANCEL CLEAN CREAT DEACTIVAT DELET DEPLOY DEREGIST DETACH DISABL "
    "DISASSOCIAT ENABL EXPORT IMPORT MODIF PAUS PURG REBOOT REGIST REMOV RESET RESIZ RESTOR RESUM "
    "ROLL SCAL START STOP SUSPEND TERMINAT UPDAT UPGRAD UPLOAD VALIDAT"
)


def check_unhandled_states(
    waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> Iterator[Finding]:
    """Check that the final states of a resource are mentioned; see `check_acceptors`."""
    by_state: dict[AcceptorState, list[EnumComparison]] = {state: [] for state in AcceptorState}
    for acceptor, path in zip(waiter.acceptors, paths, strict=True):
        by_state[acceptor.state] += path.comparisons if path else ()
    successes, failures = by_state[AcceptorState.SUCCESS], by_state[AcceptorState.FAILURE]
    # A waiter for the end of a resource often succeeds by an error: then all acceptors count.
    deciding = successes or [*failures, *by_state[AcceptorState.RETRY]]
    for name, shape in {each.shape.name: each.shape for each in deciding}.items():
        failed, ended = _unhandled(waiter, shape, by_state)
        for values, severity, rule in (
            (failed, Severity.WARNING, "Failed"),
            (ended, Severity.NOTE, "Ended"),
        ):
            if values:
                text = (
                    f"no acceptor mentions {', '.join(values)} of {name.rpartition('#')[2]}; "
                    "with a resource in that state the wait times out"
                )
                yield Finding(severity, f"WaiterUnhandledState.{rule}", text)


def _unhandled(
    waiter: WaiterDefinition, shape: Shape, by_state: Mapping[AcceptorState, list[EnumComparison]]
) -> tuple[list[str], list[str]]:
    """Return the unmentioned final values of an enumeration: those of failure, and the others.

    Args:
        waiter: the waiter.
        shape: the enumeration.
        by_state: the comparisons that acceptors make, by the state that they lead to.
    """
    own_name = shape.name
    mentioned = {e.value for group in by_state.values() for e in group if e.shape.name == own_name}
    processes = processes_of(waiter.name, *mentioned)
    successes, failures = by_state[AcceptorState.SUCCESS], by_state[AcceptorState.FAILURE]
    # Whether the waiter waits for an end, and whether it knows failure by another enumeration.
    to_end = all(processes_of(e.value) & ENDINGS for e in successes if e.shape.name == own_name)
    fails_elsewhere = any(each.shape.name != own_name for each in failures)
    failed: list[str] = []
    ended: list[str] = []
    for value in enum_of(shape):
        if value in mentioned or not _is_final(value, to_end=to_end):
            continue
        own = processes_of(value)
        if to_end and means_gone(waiter.name) and not own & ENDINGS:
            continue
        is_own = own <= processes and (not to_end or bool(own & ENDINGS))
        means_failure = is_own and not fails_elsewhere and bool(state_words(value) & FAILED_WORDS)
        (failed if means_failure else ended).append(value)
    return failed, ended


def _is_final(value: str, *, to_end: bool) -> bool:
    """Whether no state follows; the end that a waiter waits for does not count."""
    words = state_words(value)
    if is_underway(words):
        return False
    return bool(
        words & FAILED_WORDS or (words & ENDED_WORDS and not (to_end and words & GONE_WORDS))
    )


def processes_of(*names: str) -> frozenset[str]:
    """Return the processes that names mention."""
    words = {word for name in names for word in state_words(name)}
    return frozenset(p for p in _PROCESSES if any(word.startswith(p) for word in words))

"""A definition in words, for the terminal and for the reference pages."""

from __future__ import annotations

from ..engine.backoff import Random, is_last, jittered_delay, last_delay
from ..engine.model import AcceptorState, Matcher, SuccessMatcher, WaiterDefinition

ANSWER_TIME = 0.25
"""Seconds kept for the last request to be answered, where no slower answer has been seen."""

IMPLICIT = (
    (SuccessMatcher(success=False), AcceptorState.FAILURE, "any other error"),
    (SuccessMatcher(success=True), AcceptorState.RETRY, "any other response"),
)
"""Steps 4 and 5 of the section "Waiter workflow", and the matcher that leaves nothing to them."""


def verdicts(definition: WaiterDefinition) -> list[tuple[str, str, str]]:
    """Rows of number, state and condition: the acceptors in order, then what is implied."""
    rows = [
        (str(number), acceptor.state.value, acceptor.matcher.describe())
        for number, acceptor in enumerate(definition.acceptors, start=1)
    ]
    matchers: set[Matcher] = {acceptor.matcher for acceptor in definition.acceptors}
    rows += [
        ("-", state.value, text) for matcher, state, text in IMPLICIT if matcher not in matchers
    ]
    return rows


def reason_paths(definition: WaiterDefinition) -> list[str]:
    """The paths that the service's own reason for a failure is read from."""
    found = (acceptor.message for acceptor in definition.acceptors)
    return list(dict.fromkeys(path for path in found if path is not None))


def delays(definition: WaiterDefinition) -> str:
    """The bounds of the delays."""
    if definition.min_delay == definition.max_delay:
        return f"{definition.min_delay:g} s"
    return f"{definition.min_delay:g} to {definition.max_delay:g} s"


def looks(definition: WaiterDefinition, max_wait: float, random: Random) -> list[float]:
    """When a wait looks, in seconds from its start, if every request is answered at once.

    Args:
        definition: its delays count.
        max_wait: seconds the wait may take.
        random: the draws.
    """
    times: list[float] = [0]
    low, high = definition.min_delay, definition.max_delay
    while True:
        remaining = max_wait - times[-1]
        delay = jittered_delay(len(times), min_delay=low, max_delay=high, random=random)
        if is_last(delay, min_delay=low, remaining=remaining):
            return [*times, times[-1] + last_delay(remaining, min(ANSWER_TIME, low))]
        times.append(times[-1] + delay)

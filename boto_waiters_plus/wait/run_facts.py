"""What is known of a wait while it runs: what its log, its observers and its words tell of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from ..engine.machine import Machine, Policy
from ..engine.model import WaitDescription
from ..engine.path_interpreter import FailedExpression
from .attempt import Attempt, CauseSearch, UnfinishedIds
from .wait_log import WaitLog

NONE_UNFINISHED: Final = UnfinishedIds()


@dataclass(slots=True, eq=False, repr=False)
class RunFacts:
    """What is known of a wait while it runs."""

    description: WaitDescription
    """What the wait is for."""
    policy: Policy
    """Delays and limits."""
    _: KW_ONLY
    label: object = ""
    """The resource: a text, or what `str` makes the text of when it is needed."""
    show_parameters: bool = True
    """Whether messages may name identifiers of the request."""
    wait_id: int = field(init=False, default=0)
    """A number that no other wait of the process has; 0: nothing was told of the wait."""
    log: WaitLog | None = field(init=False, default=None)
    """The lines of the wait; None: none was written."""
    attempt: Attempt | None = field(init=False, default=None)
    """The last one."""
    answer: Attempt | None = field(init=False, default=None)
    """The last one that was no transient error."""
    last_transient_error: str = field(init=False, default="")
    """The last transient error in words; empty if this process has seen none."""
    failing: tuple[FailedExpression, ...] | None = field(init=False, default=None)
    """The expressions that failed on every response; None: there was no response."""
    unanswered_since: float | None = field(init=False, default=None)
    """Seconds from the start to the call that was ended without an answer."""
    unfinished: UnfinishedIds = field(init=False, default=NONE_UNFINISHED)
    """The identifiers that failed, or had not reached the state when the wait ended."""
    search: CauseSearch | None = field(init=False, default=None)
    """The search for the cause of a failure, in which the calls of the wait are reads."""
    _machine: Machine = field(init=False)

    @property
    def attempts(self) -> int:
        """Calls made."""
        return self._machine.state.attempts

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._machine.state.elapsed

    @property
    def transient_errors(self) -> int:
        """Attempts that ended in a transient error and did not end the wait."""
        return self._machine.state.transient_errors


def failing_on_both(
    before: tuple[FailedExpression, ...] | None, now: Sequence[FailedExpression]
) -> tuple[FailedExpression, ...]:
    """Return the expressions that failed before (None: there was no response) and now."""
    paths = {each.path for each in now}
    return tuple(each for each in (now if before is None else before) if each.path in paths)

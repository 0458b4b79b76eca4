"""What observers are told of a wait: plain facts that may be shown.

It stands alone: it is a public name, and importing it brings no machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .reports import Reported

EventKind = Literal["start", "attempt", "success", "failure", "timeout", "cancel", "exception"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEvent:
    """One step of a wait, as `on_attempt`, `on_event`, progress and logging get it.

    A wait that begins has exactly one `start`, an `attempt` for each call that ended in a response
    or an error, and exactly one of `success`, `failure`, `timeout`, `cancel` and `exception`,
    however it ends.

    Attributes:
        kind: the step. `timeout`: the time or the attempts are used up. `cancel`: the wait, its
            task or the batch around it was cancelled. `exception`: an error that is not a reply of
            the operation ended the wait, such as missing credentials, a bug in the caller's
            callable or hook, or Ctrl-C.
        wait_id: a number that all events of one wait have, and no other wait of the process.
        label: the resource: `s3 Bucket=my-bucket`.
        service: botocore's name of the service; None: the wait calls no client.
        waiter: the waiter's name.
        operation: the operation or the function that is called.
        attempt: the number of calls made so far.
        elapsed: seconds since the start of the wait.
        state: the state seen by the last attempt, as text, where it may be shown.
        reported: the values that the text is made of, each by its word, where the definition
            reports several (`boto.waiters#reports`); else empty.
        error: of an attempt, the code of its error or the name of its class, of another call with
            its name ("AssumeRole failed with AccessDenied"); of an end, the name of the class of
            the error that the wait raises. None: there is none.
        transient: of an attempt, whether that error is a transient one which is part of calling
            the operation: the wait goes on as if the attempt had seen nothing.
        message: of a transient error, its code with the service's message; of a success or failure
            that does not count yet, the state and why; for an end without success, the text of the
            error that the wait raises, if the wait composed that text.
        next_delay: seconds until the next attempt; None: there is none.
    """

    kind: EventKind
    wait_id: int
    waiter: str
    operation: str
    label: str = ""
    service: str | None = None
    attempt: int = 0
    elapsed: float = 0.0
    state: str | None = None
    reported: Reported = field(default_factory=dict, hash=False)
    error: str | None = None
    transient: bool = False
    message: str | None = None
    next_delay: float | None = None

"""What is known of a wait while it runs: attempts, log, observers, and what words tell of it."""

from __future__ import annotations

import itertools
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ..calls.budget import Reply
from ..common.errors import logger, warn
from ..engine.machine import Facts, HeldBack, Machine, Policy
from ..engine.model import WaitDescription
from ..engine.path_interpreter import FailedExpression
from ..engine.redaction import may_show, state_text
from ..engine.reports import Reported

if TYPE_CHECKING:
    from ..engine.wait_event import EventKind, WaitEvent


class Judge(Protocol):
    """Tells what a reply means for the wait; pure, outside the bounded part of the call."""

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        ...


class CauseSearch(Protocol):
    """Further reads about a failure, made one by one in place of the call of the wait."""

    cause: str | None
    """What they have told so far."""
    is_over_budget: bool
    """Whether a read was left out because other waits have made as many as there may be."""

    def has_more_after(self, reply: Reply | None) -> bool:
        """Take the reply to a read (None: there was none yet); return whether one follows."""
        ...

    def send(self) -> Any:
        """Make the bare call of the present read."""
        ...


class Searched(Protocol):
    """What a wait is about, as the search for the cause of a failure knows it."""

    def begin_search(self, response: Mapping[str, Any], elapsed: float) -> CauseSearch | None:
        """Begin the search; None: there is nothing to read.

        Args:
            response: the one in the failure state.
            elapsed: seconds since the start of the wait.
        """
        ...


IsMeant = Callable[[int | None], bool]
"""Is given the index of the acceptor that matches the items of one identifier; None: none does."""


class ItemsById(Mapping[str, Any]):
    """The items of a response by the identifiers of the request."""

    @abstractmethod
    def ids_where(self, is_meant: IsMeant) -> UnfinishedIds:
        """Return the identifiers whose own items are meant, and those without any."""


class UnfinishedIds(NamedTuple):
    """The identifiers that failed, or had not reached the state."""

    ids: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Those among them that the response does not mention."""
    asked: tuple[str, ...] = ()
    """All identifiers that the wait asked for."""
    pending: tuple[str, ...] = ()
    """Those that had neither failed nor reached the state when others failed."""


class FoundReason(NamedTuple):
    """The service's reason for a state, as a response has it."""

    text: str | None = None
    hidden: str | None = None
    """Where a reason is that may not be shown, in words: in the error."""
    hidden_elsewhere: str | None = None
    """The same, without the error at hand."""


NO_REASON: Final = FoundReason()

ReasonFinder = Callable[[Mapping[str, Any]], FoundReason]
"""Finds the service's reason in a response."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Attempt:
    """One call and its verdict; responses and exceptions stay on this side of the engine."""

    facts: Facts
    response: Any = None
    """What the call returned, or its error carries."""
    exception: Exception | None = None
    is_retried: bool = False
    """The caller has asked for another attempt after such an exception."""
    observed: Any = None
    """The value of the acceptor's path, or the state seen; None if the model calls it sensitive."""
    state: str | None = None
    """The state seen, in words that are safe to show, where `observed` does not tell it."""
    reported: Reported = field(default_factory=dict)
    """What the definition reports of the state, which `state` is the text of then."""
    error: str | None = None
    """The error in a few words that are safe to show: its code, or its class and what is behind
    it; of another call with its name."""
    error_code: str | None = None
    """The wire code of the error, or the name of its class; of another call with its name."""
    other_call: str | None = None
    """The operation whose call ended in the error, if it is not the one of the wait."""
    reason: FoundReason = NO_REASON
    """The service's reason: of an error its message, of a response what `message` gave."""
    find_reason: ReasonFinder | None = None
    """Finds the service's reason where there is no message; called if the wait ends here."""
    find_unmet: Callable[[], str | None] | None = None
    """Returns what was asked for and is not there, in words; called if the wait times out here."""
    problems: tuple[FailedExpression, ...] = ()
    """Expressions that could not be evaluated."""
    coalesced: bool = False
    """The call was shared with other waits."""
    by_id: ItemsById | None = None
    """The items of the response by the identifiers of the request, where it has some."""

    @property
    def last_response(self) -> Mapping[str, Any]:
        """The response, or error response; empty if there is none."""
        return self.response if isinstance(self.response, Mapping) else {}

    @property
    def seen(self) -> str | None:
        """The state seen, as one text; None: there is none, or it may not be shown."""
        return self.state if self.reported else state_text(self.observed, self.state)


def reason_in(message: Any) -> FoundReason:
    """Return the reason that a `message` expression gave; of a list its first item.

    There may be none, or none that may be shown.
    """
    if isinstance(message, list):
        message = message[0] if message else None
    is_shown = isinstance(message, str) and may_show(message)
    return FoundReason(message) if is_shown else NO_REASON


# --- what a wait writes to the log; it is fed by the same events as the caller's handlers --------

LONGEST_SILENCE: Final = 60
"""Seconds after which a line is written although the state has not changed."""


@dataclass(slots=True, eq=False, repr=False)
class WaitLog:
    """The lines of one wait.

    INFO has the start of a wait that needs a second attempt, each change of the state seen, a line
    a minute without a change, and the end; DEBUG has every attempt.
    """

    _state: str | None = None
    _transient_error: str | None = None
    """Of the attempts since the last answer."""
    _written_at: float | None = None
    """Seconds since the start of the wait; None: no line has been written."""

    def write(self, event: WaitEvent) -> None:
        """Write what is to be written about an event."""
        match event.kind:
            case "start":
                return
            case "attempt":
                self._attempted(event)
            case "success":
                seen = f": {_seen(event)}" if _seen(event) else ""
                logger.info("%s succeeded%s%s", _who(event), seen, _when(event))
            case _:
                ended = f"was ended by {event.error}" if event.error else "was cancelled"
                logger.info("%s", event.message or f"{_who(event)} {ended}{_when(event)}")

    def _attempted(self, event: WaitEvent) -> None:
        delay = "" if event.next_delay is None else f", next attempt in {event.next_delay:.1f} s"
        if event.transient:
            is_news = event.next_delay is not None and event.error != self._transient_error
            level = logging.INFO if is_news else logging.DEBUG
            text = "%s had a transient error: %s%s%s"
            logger.log(level, text, _who(event), event.error, _when(event), delay)
            self._transient_error = event.error
            return
        self._transient_error = None
        # The message of an answer that does not count yet begins with the state.
        state = event.message or _seen(event) or "no state"
        # The end of the wait says the same.
        if event.next_delay is not None and self._is_news(event, state):
            verb = "is waiting" if self._written_at is None else "is still waiting"
            if self._written_at is not None and state != self._state:
                verb = "has changed"
            logger.info("%s %s: %s%s", _who(event), verb, state, _when(event))
            self._state, self._written_at = state, event.elapsed
        logger.debug("%s saw: %s%s%s", _who(event), state, _when(event), delay)

    def _is_news(self, event: WaitEvent, state: str) -> bool:
        written_at = self._written_at
        if written_at is None or state != self._state:
            return True
        return event.elapsed - written_at >= LONGEST_SILENCE


def _who(event: WaitEvent) -> str:
    return f"Waiter {event.waiter} for {event.label}" if event.label else f"Waiter {event.waiter}"


def _seen(event: WaitEvent) -> str | None:
    return event.state or (event.error if event.kind == "attempt" else None)


def _when(event: WaitEvent) -> str:
    return f" (attempt {event.attempt}, {event.elapsed:.1f} s)"


# --- what is known of a wait while it runs: what its log, its observers and its words tell of it

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
    retried: Exception | None = field(init=False, default=None)
    """The last exception after which the caller has asked for another attempt."""
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

    @property
    def held_back(self) -> HeldBack | None:
        """Why the last answer does not count yet; see `Machine`."""
        return self._machine.held_back


def failing_on_both(
    before: tuple[FailedExpression, ...] | None, now: Sequence[FailedExpression]
) -> tuple[FailedExpression, ...]:
    """Return the expressions that failed before (None: there was no response) and now."""
    paths = {each.path for each in now}
    return tuple(each for each in (now if before is None else before) if each.path in paths)


# --- the observers of a wait, which are told its events ------------------------------------------

Observer = Callable[["WaitEvent"], object]

_WAIT_IDS: Final = itertools.count(1)


class Observers:
    """The observers of one wait. An error of one is reported once, and the wait goes on.

    Args:
        of_all: called with each event.
        of_attempts: called with the events of attempts only.
    """

    __slots__ = ("_failed", "_of_all", "_of_attempts")

    def __init__(
        self, of_all: Sequence[Observer] = (), of_attempts: Sequence[Observer] = ()
    ) -> None:
        self._of_all = tuple(of_all)
        self._of_attempts = tuple(of_attempts)
        self._failed: tuple[Observer, ...] = ()

    def and_of_attempts(self, observer: Observer) -> Observers:
        """Return these observers and another one of attempts."""
        return Observers(self._of_all, (*self._of_attempts, observer))

    def tell(
        self,
        kind: EventKind,
        run: RunFacts,
        *,
        next_delay: float | None = None,
        error: str | None = None,
        is_transient: bool = False,
        message: str | None = None,
    ) -> None:
        """Give an event to the log and to all that observe it."""
        observers = self._of_all
        if kind == "attempt" and self._of_attempts:
            observers += self._of_attempts
        is_logged = logger.isEnabledFor(logging.INFO)
        if not observers and not is_logged:
            return
        from ..engine.wait_event import WaitEvent  # noqa: PLC0415 - most waits have no observers

        description = run.description
        run.wait_id = run.wait_id or next(_WAIT_IDS)
        # An end tells of the last attempt that saw the resource.
        attempt = run.attempt if kind == "attempt" else run.answer
        event = WaitEvent(
            kind=kind,
            wait_id=run.wait_id,
            label=str(run.label),
            service=description.service,
            waiter=description.waiter,
            operation=description.operation,
            attempt=run.attempts,
            elapsed=run.elapsed,
            state=attempt.seen if attempt else None,
            reported=dict(attempt.reported) if attempt else {},
            error=error,
            transient=is_transient,
            message=message,
            next_delay=next_delay,
        )
        if is_logged:
            run.log = run.log or WaitLog()
            run.log.write(event)
        for observer in observers:
            self._call(observer, event)

    def _call(self, observer: Observer, event: WaitEvent) -> None:
        try:
            observer(event)
        # Whatever the caller's handler raises, the wait goes on.
        except Exception as error:
            if any(observer is each for each in self._failed):
                return
            self._failed += (observer,)
            is_of_all = any(observer is each for each in self._of_all)
            name = "on_event" if is_of_all else "on_attempt"
            logger.error("%s raised; the wait goes on", name, exc_info=error)
            text = f"{name} raised {type(error).__name__}: {error}; the wait goes on"
            warn(text, RuntimeWarning)

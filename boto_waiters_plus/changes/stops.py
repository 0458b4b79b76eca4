"""The calls that stop what a call has begun: when asked to, or after a wait that ended before it.

After a time-out or a cancellation they are made in `STOP_TIME`, and their errors are no error of
the wait: a `Stop` says what became of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from ..calls import flow
from ..calls.bounded_call import bounded_call
from ..calls.budget import CallEnded
from ..calls.client_events import only_call
from ..calls.clients import is_async
from ..calls.clock import current_time
from ..calls.flow import EitherWay, Flow
from ..calls.watch import monotonic
from ..common.errors import logger
from ..common.process import renew_in_forks, start_thread
from ..common.time_bounds import TimeBound
from ..definitions.changes import RefusedItems
from ..engine.redaction import message_text
from ..exceptions import (
    ErrorT,
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..options import WaitOptions
from ..outcome import WaiterOutcome
from ..service.data_model import converted
from ..service.errors import error_facts
from .answers import refused_and_accepted
from .effects import EffectOfCall

STOP_TIME: Final = 5.0
"""Seconds that the calls may take which stop something, and that they may wait for a place."""

MOST_STOPS: Final = 32
"""Operations that are stopped at once in one process, or in one event loop."""

_ONE_POLL_OPTIONS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("initial_delay", "success_for", "missing_ok_for", "settle_for"), 0),
    **dict.fromkeys(("retry_transient", "explain_failure", "delay_history"), False),
    "max_attempts": 1,
    "success_count": 1,
    "retry_errors_for": {},
    "call_in_thread": True,
}
_ONE_POLL: Final = WaitOptions(**_ONE_POLL_OPTIONS)

StopState = Literal["made", "refused", "owed", "not made", "unreadable"]


@dataclass(frozen=True, slots=True)
class Stop:
    """What became of the call that stops what was begun, after a time-out or a cancellation."""

    operation: str
    state: StopState
    """`"made"`; `"refused"`, by the service or for want of an answer; `"owed"`, which a worker of
    the store may still make; `"not made"`; `"unreadable"`, where the store was opened without the
    key: whether one was asked for is not known either."""
    reason: str | None = None
    """Why it was refused, not made or is unreadable."""

    @property
    def text(self) -> str:
        """What became of it, in words."""
        return {
            "made": f"{self.operation} was called",
            "refused": f"it could not be stopped: {self.reason}; it may still run",
            "owed": f"{self.operation} is left to a worker of the store",
            "not made": f"{self.operation} was not called: {self.reason}",
            "unreadable": "whether it was stopped cannot be read",
        }[self.state]

    def to_json(self) -> dict[str, Any]:
        """Return the members."""
        return asdict(self)


class StopsAfter(NamedTuple):
    """The ends of a wait after which what was begun is stopped."""

    timeout: bool = False
    """After a time-out; that the attempts are used up is one, too."""
    cancel: bool = False

    def includes(self, end: object) -> bool:
        """Whether this end is one of them."""
        is_timeout = isinstance(end, (WaiterTimeoutError, WaiterAttemptsError))
        is_cancel = isinstance(end, WaiterCancelledError)
        return (self.timeout and is_timeout) or (self.cancel and is_cancel)


def told(error: ErrorT, stop: Stop) -> ErrorT:
    """Return an error that tells what became of a stop, too."""
    with_stop = error.extended(f"; {stop.text}.", type(error))
    with_stop.stop = stop
    return with_stop


# --- the calls ---------------------------------------------------------------------------------


def requested(answered: EffectOfCall, end: Any) -> Flow[Any]:
    """Make the calls that stop what was begun, without a time bound, for a caller of `stop`.

    Args:
        answered: the call.
        end: how the wait ended; None: it has not ended.

    Returns:
        The response; a list of several, in the order of what they stop; None: it has ended.

    Raises:
        NotImplementedError: nothing is known that stops it.
        Exception: the first refusal, after all calls.
    """
    is_failure = isinstance(end, WaiterFailedError) and end.acceptor is not None
    if is_failure or isinstance(end, WaiterOutcome) or (yield from _has_ended(answered)):
        logger.info("%s: nothing is stopped: it has ended", answered.mutation.name)
        return None
    responses = yield from _called(answered, None)
    return responses[0] if len(responses) == 1 else responses


def _has_ended(answered: EffectOfCall) -> Flow[bool]:
    """Whether one more poll says that what a stop would be for has ended.

    A stop that names the change by its id can only stop that, and needs no poll.
    """
    _, stop = answered.stop_calls(), answered.trait.stop
    if stop is None or not stop.resource:
        return False
    try:
        yield from answered.wait(TimeBound(STOP_TIME), _ONE_POLL, is_observed=False)
    except WaiterAttemptsError:
        return False
    except WaiterFailedError as error:
        if error.acceptor is None:
            raise
    return True


def _called(answered: EffectOfCall, end: float | None) -> Flow[list[Any]]:
    """Make all calls, then raise the first refusal."""
    method, several = answered.stop_calls()
    client, responses = answered.client, []
    for parameters in several:
        left = None if end is None else end - monotonic()
        try:
            responses.append((yield _call(client, method, parameters, left)))
        # The other calls are made, too.
        except Exception as error:
            responses.append(error)
    refusals = (
        each if isinstance(each, Exception) else _refusal(answered, parameters, each)
        for parameters, each in zip(several, responses, strict=True)
    )
    first = next(filter(None, refusals), None)
    if first is not None:
        raise first
    return responses


def _call(client: Any, method: str, parameters: Mapping[str, Any], left: float | None) -> EitherWay:
    def call() -> Any:
        only_call()
        return getattr(client, method)(**parameters)

    # In a thread that is given up: a hook of the caller may block, too.
    is_bounded = left is not None
    blocking = partial(bounded_call, call, client=client, seconds=left, in_thread=is_bounded)
    return EitherWay(blocking, lambda: asyncio.wait_for(call(), left))


def _refusal(
    answered: EffectOfCall, parameters: Mapping[str, Any], response: Any
) -> ClientError | None:
    """Return what an answer refuses, though its status is 200, as boto3 raises a refusal."""
    mutation, stop = answered.mutation, answered.trait.stop
    if stop is None or stop.refused is None:
        return None
    operation = mutation.service_model.operation_model(stop.operation)
    call = {"input": parameters, "output": converted(operation.output_shape, response)}
    for refused in refused_and_accepted(RefusedItems(**stop.refused), call)["refused"]:
        words = {"Code": refused["code"] or "NotStopped", "Message": refused["message"] or ""}
        answer: Any = {"Error": words, "ResponseMetadata": response.get("ResponseMetadata", {})}
        return ClientError(answer, operation.name)
    return None


# --- in time -----------------------------------------------------------------------------------


def stop_in_time(answered: EffectOfCall) -> Stop:
    """Stop what was begun in at most `STOP_TIME`, and return what became of that."""
    return flow.run(_in_time(answered))


async def stop_in_time_async(answered: EffectOfCall) -> Stop:
    """As `stop_in_time`, as part of the calling task."""
    if not is_async(type(answered.client)):
        return await asyncio.to_thread(stop_in_time, answered)
    places = _places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_STOPS))
    try:
        await asyncio.wait_for(places.acquire(), STOP_TIME)
    except asyncio.TimeoutError:
        return _too_many(answered.effect.stop or "")
    try:
        return await flow.run_async(_in_time(answered))
    finally:
        places.release()


_places: Final = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()


def _too_many(operation: str) -> Stop:
    return Stop(operation, "not made", f"{MOST_STOPS} others took longer than {STOP_TIME:g} s")


def _in_time(answered: EffectOfCall) -> Flow[Stop]:
    end = monotonic() + STOP_TIME
    state: StopState = "not made"
    reason = None
    try:
        if (yield from _has_ended(answered)):
            reason = "it has ended"
        else:
            state = "refused"
            yield from _called(answered, end)
            state = "made"
    # The time-out or the cancellation is what the caller is told, whatever comes of this.
    except Exception as error:
        reason = _words(error)
    stop = Stop(answered.effect.stop or "", state, reason)
    logger.warning("%s: %s", answered.mutation.name, stop.text)
    return stop


def _words(error: Exception) -> str:
    """Return why a stop failed; of an error of other code, only its class."""
    if isinstance(error, WaiterError):
        error = error.last_exception or error
    if isinstance(error, (CallEnded, TimeoutError, asyncio.TimeoutError)):
        return f"there was no answer in {STOP_TIME:g} s"
    if not isinstance(error, (ClientError, BotoCoreError, HTTPClientError)):
        return type(error).__name__
    facts = error_facts(error)
    message = None if facts.sensitive else facts.message
    return f"{facts.code}: {message_text(message).rstrip('. ')}" if message else facts.text


class StopThreads:
    """Makes stops side by side, each in a thread, `MOST_STOPS` of them at once.

    A stop that gets no place within `STOP_TIME` is not made.
    """

    def __init__(self) -> None:
        renew_in_forks(self._renew)

    def _renew(self) -> None:
        self._places = threading.Semaphore(MOST_STOPS)

    def add(self, operation: str, make: Callable[[], Stop], then: Callable[[Stop], object]) -> None:
        """Make a stop as soon as there is a place.

        Args:
            operation: its name.
            make: makes it.
            then: takes what became of it, in another thread.
        """
        context, hold, places = contextvars.copy_context(), current_time().hold(), self._places
        # Virtual time stands still until it was made.
        context.run(hold.__enter__)

        def stop() -> None:
            with contextlib.ExitStack() as stack:
                stack.push(hold)
                if not places.acquire(timeout=STOP_TIME):
                    then(_too_many(operation))
                    return
                stack.callback(places.release)
                try:
                    made = make()
                # What ends this thread, such as `SystemExit` in a hook, ends the stop alone.
                except BaseException as error:
                    made = Stop(operation, "refused", type(error).__name__)
                then(made)

        if start_thread(lambda: context.run(stop), "stop") is None:
            context.run(hold.__exit__, None, None, None)
            then(Stop(operation, "not made", "no thread could be started"))


STOPS: Final = StopThreads()
"""The stops of this process."""

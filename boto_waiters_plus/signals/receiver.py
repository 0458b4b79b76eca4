"""Signals at the events from a queue of SQS, whose messages one thread receives for all waits."""

from __future__ import annotations

import contextvars
import itertools
import json
import math
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import jmespath
from jmespath.functions import Functions
from jmespath.lexer import Lexer

from ..calls.bounded_call import bounded_call
from ..calls.budget import CallEnded
from ..calls.clients import is_async
from ..calls.clock import SYSTEM_TIME, current_time
from ..calls.credentials import refresh_what_asks
from ..calls.threads import forget_caller_in
from ..common.arguments import flag
from ..common.errors import logger
from ..common.process import renew_in_forks, start_thread
from ..common.wrong_arguments import WrongTypeError, WrongValueError, wrong_type
from ..engine.delays import jittered_delay
from ..engine.redaction import parameter_text
from ..options import CancelEvent
from ..service.errors import error_facts
from ..wait.wait_run import RANDOM
from .signal import Signal, Subscription

if TYPE_CHECKING:
    from typing_extensions import Self

# --- the event in a message of a queue, and JMESPath expressions that match events ---------------


def event_of(body: str) -> Any:
    """Return the event in a message's body.

    The body is the event itself (EventBridge), or SNS's envelope around it.

    Returns:
        The parsed JSON; the text if it is not JSON, as CloudFormation's notifications.
    """
    value = _parsed(body)
    if isinstance(value, Mapping) and value.get("Type") == "Notification":
        inner = value.get("Message")
        if isinstance(inner, str):
            return _parsed(inner)
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    # RecursionError: nested deeper than Python's stack.
    except (ValueError, RecursionError):
        return text


class EventPattern:
    """A JMESPath expression on events.

    Args:
        expression: matches an event on which it is true: not null, false, or empty.

    Raises:
        TypeError: the expression is not a string.
        ValueError: it is not JMESPath, or calls a function that JMESPath does not have.
    """

    def __init__(self, expression: str) -> None:
        if not isinstance(expression, str):
            raise wrong_type("match", expression, "a JMESPath expression")
        try:
            self._compiled = jmespath.compile(expression)
        # jmespath raises RecursionError and builtin errors besides its own.
        except Exception as error:
            problem = f" is not a JMESPath expression: {error}"
            raise WrongValueError.of("match", expression, problem) from error
        for token, following in itertools.pairwise(Lexer().tokenize(expression)):
            # An unknown function would fail on every event, so that no event would ever match.
            is_call = token["type"] == "unquoted_identifier" and following["type"] == "lparen"
            if is_call and token["value"] not in Functions.FUNCTION_TABLE:
                problem = f": JMESPath has no function {token['value']!r}"
                raise WrongValueError.of("match", expression, problem)
        self.expression = expression
        self._has_logged = False

    def matches(self, event: Any) -> bool:
        """Return whether the event matches; not if the expression cannot be evaluated on it."""
        try:
            value = self._compiled.search(event)
        # jmespath raises builtin TypeError and RecursionError besides errors of its own.
        except Exception as error:
            if not self._has_logged:
                self._has_logged = True
                # The type only: the text of a jmespath error quotes the value.
                logger.debug(
                    "the match of a signal cannot be evaluated on an event (%s): no match",
                    type(error).__name__,
                )
            return False
        # In JMESPath 0 is true.
        return not (value is None or value is False or value in ("", [], {}))


# --- the thread ----------------------------------------------------------------------------------


IDLE_TIMEOUT: Final = 1.0
"""Seconds that a request goes on after the last subscription ended: another often follows."""

SHORTEST_ROUND: Final = 1.0
"""Seconds between two requests that deleted no message, where the queue does not block."""

FIRST_DELAY: Final = 1.0
"""The shortest delay in seconds after an error; the longest is twice that, then doubles."""

LONGEST_DELAY: Final = 60.0
"""The longest delay in seconds after any number of errors."""

RECEIVING: Final = "a signal cannot receive messages from its queue; its waits only poll"
DELETING: Final = "a signal cannot delete the messages that it received; they will come again"


class Receiver:
    """Receives messages in a daemon thread while there are subscriptions.

    It is also the event that ends the request in flight: set when it is closed or idle.

    Args:
        queue: where messages come from.
    """

    def __init__(self, queue: SqsQueue) -> None:
        self._queue = queue
        self.closed = False
        renew_in_forks(self.renew)

    def renew(self) -> None:
        """Start without the thread and the subscriptions of the parent process."""
        # Re-entrant: a subscription may be garbage-collected, and end, at any point.
        self.changed = threading.Condition(threading.RLock())
        self.subscribed: dict[object, EventSignal] = {}
        """The signal of each subscription."""
        self._thread: threading.Thread | None = None
        self._idle_since = 0.0
        self._errors = 0
        # The error of each kind of request since its last success.
        self._failing: dict[str, Exception] = {}

    @property
    def error(self) -> Exception | None:
        """The error of the last request; None if it succeeded."""
        return next(iter(self._failing.copy().values()), None)

    def add(self, key: object, signal: EventSignal) -> None:
        """Receive messages for a signal until `remove(key)`.

        Raises:
            RuntimeError: the receiver was closed.
        """
        with self.changed:
            if self.closed:
                raise RuntimeError("wake_signal was closed: no wait can begin on it")
            self.subscribed[key] = signal
            # Virtual time passes in no real time: there is nothing to wait for.
            if current_time() is SYSTEM_TIME and not (self._thread and self._thread.is_alive()):
                self._start_thread()

    def remove(self, key: object) -> None:
        """Stop receiving messages for a signal."""
        with self.changed:
            # Set first, because `is_set` reads both without the lock.
            self._idle_since = monotonic()
            self.subscribed.pop(key, None)
            self.changed.notify_all()

    def deliver(self, event: Any) -> None:
        """Notify the signals that an event matches; each expression is evaluated once."""
        with self.changed:
            signals = set(self.subscribed.values())
        matched: dict[str, bool] = {}
        for signal in signals:
            if signal.matches(event, matched):
                signal.notify()

    def close(self) -> None:
        """End the thread and the request in flight; running waits continue without messages."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def is_set(self) -> bool:
        """Return whether the request in flight is to be ended."""
        return self.closed or (
            not self.subscribed and monotonic() - self._idle_since > IDLE_TIMEOUT
        )

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until the request in flight is to be ended, at most `timeout` seconds."""
        return self._wait_for(self.is_set, timeout)

    def _wait_for(self, condition: Callable[[], bool], seconds: float | None) -> bool:
        with self.changed:
            return self.changed.wait_for(condition, seconds)

    def _start_thread(self) -> None:
        context = contextvars.copy_context()
        forget_caller_in(context)
        self._thread = start_thread(partial(context.run, self._run), "signal")
        if self._thread is None:
            # The waits poll, and the next subscription tries again.
            self._failed(RECEIVING, RuntimeError("no thread can be started"))

    def _run(self) -> None:
        while self._goes_on():
            began = monotonic()
            try:
                has_deleted = self._receive()
            # The waits poll as well: no error may end them, or the thread.
            except Exception as error:
                self._failed(RECEIVING, error)
                self._errors += 1
                self._wait_for(self._is_unused, retry_delay(self._errors))
            else:
                if not has_deleted:
                    left = began + SHORTEST_ROUND - monotonic()
                    self._wait_for(lambda: self.closed, max(0.0, left))

    def _goes_on(self) -> bool:
        """Return whether this thread makes another request; if not, it is no longer known."""
        with self.changed:
            is_current = self._thread is threading.current_thread()
            if is_current and self._is_unused():
                self._thread = None
            return is_current and not self._is_unused()

    def _is_unused(self) -> bool:
        return self.closed or not self.subscribed

    def _receive(self) -> bool:
        """Receive and deliver once; return whether the next request may follow at once."""
        messages = self._queue.receive(self)
        if messages is None:
            return True
        self._errors = 0
        self._failing.pop(RECEIVING, None)
        for message in messages:
            self.deliver(event_of(message.get("Body", "")))
        if not messages:
            return False
        try:
            has_deleted = self._queue.delete(messages)
        # The waits were woken; messages that stay come again and wake them once more.
        except Exception as error:
            self._failed(DELETING, error)
            return False
        self._failing.pop(DELETING, None)
        return has_deleted

    def _failed(self, what: str, error: Exception) -> None:
        known = self._failing.get(what)
        # Without its frames, which hold messages.
        self._failing[what] = error.with_traceback(None)
        code = error_facts(error).code
        is_known = known is not None and error_facts(known).code == code
        # During interpreter shutdown there may be no handler left to log to.
        if not is_known and not sys.is_finalizing():
            # The code only: messages of AWS name the caller.
            logger.warning("%s: %s (%s)", self._queue.label, what, code)


def retry_delay(errors: int) -> float:
    """Return the delay in seconds after this number of consecutive errors."""
    # Drawn, so that many processes do not return from one outage at the same moment.
    return jittered_delay(errors + 1, min_delay=FIRST_DELAY, max_delay=LONGEST_DELAY, random=RANDOM)


# --- the signals that it notifies ----------------------------------------------------------------


class EventSignal:
    """Wakes waits at each event from a queue that all its expressions match.

    `SqsSignal` is one, and `matching` returns one. Any number of waits may share it, from any
    thread and task.
    """

    def __init__(self, receiver: Receiver, *matches: EventPattern) -> None:
        self._receiver = receiver
        self._matches = matches
        self._signal = Signal()
        self.notify = self._signal.notify

    def matching(self, match: str) -> EventSignal:
        """Return a signal for some of these events; it shares the queue and the thread.

        Args:
            match: a JMESPath expression that must be true on an event, besides those of this
                signal.

        Raises:
            TypeError, ValueError: not a valid expression.
        """
        return EventSignal(self._receiver, *self._matches, EventPattern(match))

    def deliver(self, message: str | Mapping[str, Any]) -> bool:
        """Handle a message as if the queue had sent it, in a test or from another consumer.

        Args:
            message: the body of a message, or the event in it.

        Returns:
            Whether the event matches this signal. All signals of the queue get the event.
        """
        if not isinstance(message, (str, Mapping)):
            kind = type(message).__name__
            raise TypeError(f"message must be the text of a body or an event, not {kind}")
        event = event_of(message) if isinstance(message, str) else message
        self._receiver.deliver(event)
        return self.matches(event, {})

    def matches(self, event: Any, matched: dict[str, bool]) -> bool:
        """Return whether an event matches; `matched` keeps the answer of each expression."""
        for match in self._matches:
            if match.expression not in matched:
                matched[match.expression] = match.matches(event)
            if not matched[match.expression]:
                return False
        return True

    def subscribe(self) -> Subscription:
        """Return a subscription for one wait; messages are received while there is one.

        Raises:
            RuntimeError: the signal was closed.
        """
        key = object()
        # Made before anything is received, so that the first message counts.
        subscription = Subscription(self._signal, partial(self._receiver.remove, key))
        self._receiver.add(key, self)
        return subscription

    __reduce__ = Signal.__reduce__

    def __repr__(self) -> str:
        # Without the queue and the expressions: reprs end up in logs.
        receiver = self._receiver
        state = "closed" if receiver.closed else f"waits={len(receiver.subscribed)}"
        return f"{type(self).__name__}({state})"


# --- the signal of a queue of SQS ----------------------------------------------------------------

LONGEST_POLL: Final = 20
"""Seconds that SQS waits for a message at most."""

MOST_MESSAGES: Final = 10
"""Messages that SQS returns or deletes in one request at most."""

SECONDS_TO_REFRESH: Final = 60.0
"""Seconds that credentials may take which need an MFA code; the time at the prompt counts."""

SECONDS_TO_DELETE: Final = 10.0
"""Seconds that a deletion may take; no message is received meanwhile."""


class SqsSignal(EventSignal):
    """Wakes waits at events from a queue that EventBridge or SNS sends to.

    Example::

        changes = SqsSignal(queue_url, match="detail.state == 'running'", client=sqs)
        ec2.wait_until_instance_running(
            InstanceIds=[i], max_wait=600, min_delay=60, wake_signal=changes
        )

    A wait that is woken polls, and continues if it must; between two events it polls by its own
    delays. One daemon thread receives messages by long polling while any wait uses the signal or a
    signal that `matching` returned. Use one queue for each process: of several receivers, each
    message goes to one. Messages that are older than the wait wake it too, so let the queue keep
    them for a minute at most (`MessageRetentionPeriod`).

    An error of the queue ends no wait. It is logged by its code and kept in `error`; the request
    is made again after growing delays.

    Args:
        queue: the queue's URL, or a `sqs.Queue` resource of boto3.
        match: a JMESPath expression on the event (without SNS's envelope); events on which it is
            true wake the waits. None: every message does.
        client: the SQS client for a URL; it must stay open while waits use the signal.
        delete: whether received messages are deleted, also those that do not match. False: they
            come again after the queue's visibility timeout.

    Raises:
        TypeError, ValueError: a bad argument, before any request.
        Exception: an MFA code is needed for credentials, which are then fetched at once; what that
            raised.
    """

    def __init__(
        self, queue: Any, *, match: str | None = None, client: Any = None, delete: bool = True
    ) -> None:
        url, client = _url_and_client(queue, client)
        refresh_what_asks(client, SECONDS_TO_REFRESH)
        sqs_queue = SqsQueue(url, client, delete=flag("delete", delete))
        super().__init__(Receiver(sqs_queue), *(() if match is None else (EventPattern(match),)))

    @property
    def error(self) -> Exception | None:
        """The error of the last request to the queue; None if it succeeded."""
        return self._receiver.error

    def close(self) -> None:
        """Stop receiving; running waits continue by polling, and no wait can begin.

        The request in flight is ended; `close` does not wait for that.
        """
        self._receiver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SqsQueue:
    """The requests to one queue."""

    def __init__(self, url: str, client: Any, *, delete: bool) -> None:
        self._url = url
        self.label = f"sqs {parameter_text(url.rpartition('/')[2])}"
        """The queue by its name, for messages."""
        self._client = client
        self._delete = delete
        self._seconds = poll_seconds(client.meta.config.read_timeout)

    def receive(self, stop: CancelEvent) -> Sequence[Mapping[str, Any]] | None:
        """Make one long poll; return the messages, or None if the event was set."""
        receive = partial(
            self._client.receive_message,
            QueueUrl=self._url,
            MaxNumberOfMessages=MOST_MESSAGES,
            WaitTimeSeconds=self._seconds,
        )
        try:
            response = bounded_call(receive, client=self._client, seconds=None, cancel_event=stop)
        except CallEnded:
            return None
        messages: Sequence[Mapping[str, Any]] = response.get("Messages", ())
        return messages

    def delete(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        """Delete messages; return False if they are left to come again."""
        if self._delete:
            entries = [
                {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]}
                for number, message in enumerate(messages)
            ]
            delete = partial(self._client.delete_message_batch, QueueUrl=self._url, Entries=entries)
            try:
                bounded_call(delete, client=self._client, seconds=SECONDS_TO_DELETE)
            except CallEnded as ended:
                raise (ended.__cause__ or TimeoutError()) from None
        return self._delete


def poll_seconds(read_timeout: float | None) -> int:
    """Return the length of a long poll, which must be less than the client's read timeout."""
    if not read_timeout:
        return LONGEST_POLL
    return max(0, min(LONGEST_POLL, math.ceil(read_timeout) - 1))


def _url_and_client(queue: Any, client: Any) -> tuple[str, Any]:
    """Return the URL of a queue and a client for it, or raise for what is wrong with them."""
    if isinstance(queue, str):
        if not queue.startswith(("https://", "http://")):
            problem = " must be the URL of a queue, as sqs.get_queue_url returns it"
            raise WrongValueError.of("queue", queue, problem)
        if client is None:
            raise WrongTypeError.of(
                "client", None, ": a queue given by its URL needs an SQS client"
            )
        return queue, _checked_client(client, "client")
    url = getattr(queue, "url", None)
    if not isinstance(url, str) or not hasattr(getattr(queue, "meta", None), "client"):
        raise wrong_type("queue", queue, "the URL of a queue or a sqs.Queue")
    if client is not None:
        problem = " is only for a queue given by its URL: an sqs.Queue has its own"
        raise WrongTypeError.of("client", client, problem)
    return url, _checked_client(queue.meta.client, "queue")


def _checked_client(client: Any, name: str) -> Any:
    model = getattr(getattr(client, "meta", None), "service_model", None)
    service = getattr(model, "service_name", None)
    if service is None:
        raise wrong_type(name, client, "a botocore client")
    if service != "sqs":
        raise WrongValueError.of(name, client, f" must belong to sqs, not to {service}")
    if is_async(type(client)):
        problem = " must be a blocking client: a thread calls it, also for asyncio"
        raise WrongTypeError.of(name, client, problem)
    return client

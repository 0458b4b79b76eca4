"""The signal that events from a queue of SQS notify."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..calls.bounded_call import bounded_call
from ..calls.budget import CallEnded
from ..calls.clients import is_async
from ..calls.credentials import refresh_what_asks
from ..common.arguments import flag
from ..common.wrong_arguments import WrongTypeError, WrongValueError, wrong_type
from ..engine.redaction import parameter_text
from ..options import CancelEvent
from .receiver import EventPattern, EventSignal, Receiver

if TYPE_CHECKING:
    from typing_extensions import Self

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

"""A queue of SQS as a signal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ..aws.bounded_call import bounded_call
from ..aws.client_kind import is_async
from ..options import CancelEvent
from .event_signal import EventSignal, Exchange
from .events import Match

if TYPE_CHECKING:
    from typing_extensions import Self

LONGEST_POLL: Final = 20
"""Seconds that SQS waits for a message at most."""

MOST_MESSAGES: Final = 10
"""Messages that SQS gives, and deletes, by one request at most."""

SECONDS_TO_DELETE: Final = 10.0
"""What a deletion may take: no message is received meanwhile."""


class SqsSignal(EventSignal):
    """Wakes waits when an event comes by a queue that EventBridge or SNS feeds.

        changes = SqsSignal(queue_url, match="detail.state == 'running'", client=sqs)
        ec2.wait_until_instance_running(
            InstanceIds=[i], max_wait=600, min_delay=60, wake_signal=changes
        )

    A wait that is woken looks, and goes on waiting if need be; between two events it polls by its
    own delays. The queue is asked by long polling in one daemon thread, for as long as any wait
    waits on the signal or on what `matching` gave. It should be this signal's alone: of several
    who ask, each message goes to one. Messages older than the wait wake it too, so keep
    them for a minute at most (`MessageRetentionPeriod`).

    What goes wrong with the queue ends no wait: it is logged by its code, tried again after
    growing pauses, and stands in `error`.

    Args:
        queue: the queue's URL, or a `sqs.Queue` resource of boto3.
        match: a JMESPath expression on the event (SNS's envelope is taken off); it wakes if the
            expression is true. None: every message wakes.
        client: the SQS client for a URL; it has to be there for as long as waits use the signal.
        delete: whether messages are deleted once they are received, those that `match` does not
            take too. False leaves them to come again after the queue's visibility timeout.

    Raises:
        TypeError, ValueError: before any request, a bad argument.
    """

    def __init__(
        self,
        queue: Any,
        *,
        match: str | None = None,
        client: Any = None,
        delete: bool = True,
    ) -> None:
        url, client = _queue(queue, client)
        if not isinstance(delete, bool):
            raise TypeError(f"delete must be True or False, not {type(delete).__name__}")
        matches = () if match is None else (Match(match),)
        super().__init__(Exchange(_Queue(url, client, delete=delete)), matches)

    @property
    def error(self) -> Exception | None:
        """What the last request to the queue ended in; None: it was answered as it should be."""
        return self._exchange.source.error

    def close(self) -> None:
        """Receive no more; waits that run go on by polling, and none can begin.

        The request in flight is ended; does not wait for it.
        """
        self._exchange.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Queue:
    """The requests."""

    def __init__(self, url: str, client: Any, *, delete: bool) -> None:
        self._url = url
        self._client = client
        self._delete = delete
        self._seconds = _poll_seconds(client)

    def receive(self, stop: CancelEvent) -> Sequence[Any]:
        response = bounded_call(
            lambda: self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=MOST_MESSAGES,
                WaitTimeSeconds=self._seconds,
            ),
            client=self._client,
            seconds=None,
            cancel_event=stop,
        )
        messages: Sequence[Any] = response.get("Messages", ())
        return messages

    def body(self, message: Any) -> str:
        text: str = message.get("Body", "")
        return text

    def remove(self, messages: Sequence[Any]) -> bool:
        if self._delete:
            entries = [
                {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]}
                for number, message in enumerate(messages)
            ]
            bounded_call(
                lambda: self._client.delete_message_batch(QueueUrl=self._url, Entries=entries),
                client=self._client,
                seconds=SECONDS_TO_DELETE,
            )
        return self._delete


def _poll_seconds(client: Any) -> int:
    """How long a request may wait for a message: the client must still be listening then."""
    read_timeout: float | None = client.meta.config.read_timeout
    if not read_timeout:
        return LONGEST_POLL
    return max(0, min(LONGEST_POLL, math.ceil(read_timeout) - 1))


def _queue(queue: Any, client: Any) -> tuple[str, Any]:
    """The URL of a queue and the client to ask it by.

    Raises:
        TypeError, ValueError: not both of them.
    """
    if not isinstance(queue, str):
        url = getattr(queue, "url", None)
        if not isinstance(url, str) or not hasattr(getattr(queue, "meta", None), "client"):
            raise TypeError(
                f"queue must be the URL of a queue or a sqs.Queue, not {type(queue).__name__}"
            )
        if client is not None:
            raise TypeError("client is for a queue given by its URL, a sqs.Queue has its own")
        return url, _checked_client(queue.meta.client, "queue")
    if not queue.startswith(("https://", "http://")):
        raise ValueError("queue must be the URL of a queue, as sqs.get_queue_url gives it")
    if client is None:
        raise TypeError("client: a queue given by its URL needs an SQS client")
    return queue, _checked_client(client, "client")


def _checked_client(client: Any, name: str) -> Any:
    model = getattr(getattr(client, "meta", None), "service_model", None)
    service = getattr(model, "service_name", None)
    if service is None:
        raise TypeError(f"{name} must be a botocore client, not {type(client).__name__}")
    if service != "sqs":
        raise ValueError(f"{name} must be of sqs, not of {service}")
    if is_async(type(client)):
        raise TypeError(
            f"{name} must be a blocking client: a thread asks, also for asyncio's waits"
        )
    return client

"""The port of a botocore client: one call, and the facts of what it gave."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from botocore import xform_name
from botocore.model import OperationModel

from ..engine.machine import Facts
from ..engine.model import AcceptorState
from ..options import CancelEvent
from ..runtime.attempt import Attempt
from ..runtime.wait_run import WaitDescription
from .awaited_call import awaited_call
from .bounded_call import bounded_call
from .call_budget import CallEnded
from .errors import error_facts, is_of_the_call
from .response_split import ById
from .service_waiters import BoundWaiter


class ClientPort:
    """Polls one operation of a client under a definition.

    Args:
        client: a botocore client.
        waiter: the definition on its operation.
        parameters: the operation's parameters; never changed.
        cancel: ends a call that is under way.
        in_thread: make each call in a thread that can be given up.
    """

    def __init__(
        self,
        client: Any,
        waiter: BoundWaiter,
        parameters: Mapping[str, Any],
        *,
        cancel: CancelEvent | None = None,
        in_thread: bool = False,
    ) -> None:
        self.client = client
        self.cancel = cancel
        self._in_thread = in_thread
        self.parameters = parameters
        self._waiter = waiter
        self._call: Callable[..., Any] = getattr(client, xform_name(waiter.operation.name))
        self._endpoint: str | None = client.meta.endpoint_url
        self._input = waiter.data_model.input(parameters)
        # botocore would fill a fresh token into every poll and make each a request of its own.
        self._tokens = {
            member: str(uuid.uuid4())
            for member in waiter.operation.idempotent_members
            if member not in parameters
        }

    def poll(self, time_left: float | None) -> Attempt:
        """Make the call, which ends after `time_left` seconds."""
        try:
            response = bounded_call(
                self.call,
                client=self.client,
                seconds=time_left,
                cancel_event=self.cancel,
                in_thread=self._in_thread,
            )
        except CallEnded as ended:
            return ended_attempt(ended, self.raised)
        except Exception as error:
            if not is_of_the_call(error):
                raise
            return self.raised(error)
        return self.responded(response)

    def call(self, **instead: Any) -> Any:
        """Make the bare call; parameters given here stand instead of its own."""
        return self._call(**{**self.parameters, **instead}, **self._tokens)

    def responded(self, response: Any) -> Attempt:
        """The attempt that ended in a response."""
        waiter = self._waiter
        match = waiter.matching.match_response(
            waiter.data_model.output(response), self._input, status=_status(response)
        )
        if (
            match.index is None
            or waiter.definition.acceptors[match.index].state is not AcceptorState.SUCCESS
        ):
            _close_body(waiter.operation, response)
        may_tell = not waiter.data_model.sensitive
        return Attempt(
            facts=Facts(acceptor=match.index),
            response=response,
            observed=match.observed if may_tell else None,
            service_message=message_of(match.message) if may_tell else None,
            find_reason=partial(waiter.reason, match.index),
            last_response=response if isinstance(response, Mapping) else {},
            problems=match.problems,
            by_id=ById(waiter.operation, self.parameters, response),
        )

    def raised(self, error: Exception) -> Attempt:
        """The attempt that ended in an error of the call."""
        facts = error_facts(error, self._waiter.operation, endpoint=self._endpoint)
        match = self._waiter.matching.match_error(facts.names, status=facts.status)
        return Attempt(
            facts=Facts(
                acceptor=match.index,
                retryable=facts.retryable,
                throttled=facts.throttled,
                missing=facts.missing,
            ),
            exception=error,
            error=facts.text,
            error_code=facts.code,
            service_message=facts.message,
            last_response=facts.response,
        )


class AsyncClientPort:
    """Polls one operation of an aiobotocore client under a definition.

    Args:
        port: the port of the same client, whose calls are awaited here.
    """

    def __init__(self, port: ClientPort) -> None:
        self.port = port

    async def poll(self, time_left: float | None) -> Attempt:
        """Await the call, at most `time_left` seconds."""
        port = self.port
        try:
            response = await awaited_call(
                port.call, client=port.client, seconds=time_left, cancel_event=port.cancel
            )
        except CallEnded as ended:
            return ended_attempt(ended, port.raised)
        except Exception as error:
            if not is_of_the_call(error):
                raise
            return port.raised(error)
        return port.responded(response)


# TODO: goes when calls and judges are objects of their own.
def ended_attempt(ended: CallEnded, raised: Callable[[Exception], Attempt]) -> Attempt:
    """Return the attempt whose call was ended; one whose retry was refused is a retry."""
    if ended.reason == "retry refused":
        assert isinstance(ended.__cause__, Exception)
        attempt = raised(ended.__cause__)
        attempt.facts = Facts(acceptor=None, throttled=attempt.facts.throttled)
        attempt.exception = None
        return attempt
    cut_off: Literal["deadline", "cancel"] = "deadline" if ended.reason == "deadline" else "cancel"
    return Attempt(facts=Facts(acceptor=None), cut_off=cut_off)


def description_of(waiter: BoundWaiter) -> WaitDescription:
    """What is waited for, for messages and observers."""
    return WaitDescription.of(waiter.definition, waiter.operation.service_model.service_name)


def _close_body(operation: OperationModel, response: Any) -> None:
    """Close a streaming body that nobody will read, so that its connection is free again."""
    shape = operation.output_shape
    if shape is None or not operation.has_streaming_output or not isinstance(response, Mapping):
        return
    close = getattr(response.get(shape.serialization.get("payload")), "close", None)
    if close is not None:
        close()


def _status(response: Any) -> int | None:
    if not isinstance(response, Mapping):
        return None
    metadata = response.get("ResponseMetadata")
    return metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None


def message_of(value: Any) -> str | None:
    """The text that a `message` expression gave; of a list its first."""
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) else None

"""The ports of a call for several waits of one client; `parts` tells its answer apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from ..definitions.coalescing import Coalescing
from ..engine.machine import Facts
from ..options import CancelEvent
from ..runtime.attempt import Attempt, Shares
from .awaited_call import awaited_call
from .bounded_call import bounded_call
from .call_budget import CallEnded
from .errors import error_facts, is_of_the_call
from .port import AsyncClientPort, ClientPort, ended_attempt
from .response_split import asked_ids, is_silent, parts_of

OF_THE_CALLER = frozenset({
    "AuthFailure", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature",
    "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken",
    "MissingAuthenticationTokenException", "OptInRequired", "RequestExpired",
    "SignatureDoesNotMatch", "UnrecognizedClientException",
})  # fmt: skip
"""Codes that say who calls, whatever is asked for. A denied access is not among them: a policy may
deny one resource."""


def may_be_about_one(error: Exception) -> bool:
    """Whether an error may be about one of several identifiers that a call asked for.

    Decided by what kind of error it is; no text is parsed.
    """
    if not isinstance(error, ClientError):
        return False
    facts = error_facts(error)
    if facts.retryable or facts.throttled or facts.names & OF_THE_CALLER:
        return False
    return facts.status is None or 400 <= facts.status < 500


# --- the call -----------------------------------------------------------------------------------


class SharedClientPort:
    """Polls for several waits at once.

    Args:
        ports: of the same client and waiter, their parameters alike but for the identifiers.
        coalescing: how the answer is told apart.
        cancel: ends a call that is under way.
    """

    def __init__(
        self,
        ports: Sequence[ClientPort],
        coalescing: Coalescing,
        *,
        cancel: CancelEvent | None = None,
    ) -> None:
        self.client = ports[0].client
        self.cancel = cancel
        self._ports = ports
        self._coalescing = coalescing
        self._ids: list[list[str]] = []
        for port in ports:
            asked = asked_ids(coalescing, port.parameters)
            assert asked is not None, "its identifiers were read before"
            self._member, ids = asked
            self._ids.append(ids)

    def poll(self, time_left: float | None) -> Shares:
        """Make the call, which ends after `time_left` seconds."""
        try:
            response = bounded_call(
                self.call, client=self.client, seconds=time_left, cancel_event=self.cancel
            )
        except CallEnded as ended:
            return self.ended(ended)
        except Exception as error:
            if not is_of_the_call(error):
                raise
            return self.shares(_answer(exception=error))
        return self.shares(_answer(response=response))

    def ended(self, ended: CallEnded) -> Shares:
        """Return what each wait has of a call that was ended."""
        return Shares(attempts=tuple(ended_attempt(ended, port.raised) for port in self._ports))

    def call(self) -> Any:
        """Make the bare call; no identifier is asked for twice."""
        ids = dict.fromkeys(each for ids in self._ids for each in ids)
        return self._ports[0].call(**{self._member: list(ids)})

    def shares(self, answer: Attempt) -> Shares:
        """What each wait has of an answer."""
        error = answer.exception
        if error is not None:
            if may_be_about_one(error):
                return Shares(instead="halve")
            return Shares(attempts=tuple(port.raised(error) for port in self._ports))
        parts = parts_of(answer.response, self._ids, self._coalescing)
        if parts is None:
            return Shares(instead="part")
        attempts = tuple(
            port.responded(part) for port, part in zip(self._ports, parts, strict=True)
        )
        for attempt in attempts:
            attempt.coalesced = len(attempts) > 1
        silent = (index for index, part in enumerate(parts) if is_silent(part, self._coalescing))
        return Shares(attempts=attempts, silent=frozenset(silent))


class AsyncSharedClientPort:
    """The same for an aiobotocore client.

    Args:
        port: the port of the same client, whose calls are awaited here.
    """

    def __init__(self, port: SharedClientPort) -> None:
        self._port = port

    async def poll(self, time_left: float | None) -> Shares:
        """Await the call, at most `time_left` seconds."""
        port = self._port
        try:
            response = await awaited_call(
                port.call, client=port.client, seconds=time_left, cancel_event=port.cancel
            )
        except CallEnded as ended:
            return port.ended(ended)
        except Exception as error:
            if not is_of_the_call(error):
                raise
            return port.shares(_answer(exception=error))
        return port.shares(_answer(response=response))


def shared_port(
    ports: Sequence[ClientPort | AsyncClientPort],
    coalescing: Coalescing,
    cancel: CancelEvent | None,
) -> SharedClientPort | AsyncSharedClientPort:
    """A port that calls for all, of the ports of several."""
    blocking = [port.port if isinstance(port, AsyncClientPort) else port for port in ports]
    shared = SharedClientPort(blocking, coalescing, cancel=cancel)
    return AsyncSharedClientPort(shared) if isinstance(ports[0], AsyncClientPort) else shared


def _answer(**members: Any) -> Attempt:
    """An answer that nobody has judged."""
    return Attempt(facts=Facts(acceptor=None), **members)

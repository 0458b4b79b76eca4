"""The ports of a call for several waits of one client; `parts` tells its answer apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from ..definitions.coalescing import Coalescing
from ..engine.machine import Facts
from ..options import CancelEvent
from ..runtime.attempt import Attempt, Shares
from .bounded import awaited_attempt, bounded_attempt
from .errors import error_facts, is_of_the_call
from .port import AsyncClientPort, ClientPort
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
        return self.shares(
            bounded_attempt(
                self._attempt, client=self.client, seconds=time_left, cancel=self.cancel
            )
        )

    def _attempt(self) -> Attempt:
        try:
            return _answer(response=self.call())
        except Exception as error:
            if not is_of_the_call(error):
                raise
            return _answer(exception=error)

    def call(self) -> Any:
        """Make the bare call; no identifier is asked for twice."""
        ids = dict.fromkeys(each for ids in self._ids for each in ids)
        return self._ports[0].call(**{self._member: list(ids)})

    def shares(self, answer: Attempt) -> Shares:
        """What each wait has of an answer."""
        error = answer.exception
        if answer.cut_off is not None:
            return Shares(attempts=tuple(_answer(cut_off=answer.cut_off) for _ in self._ports))
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
        return port.shares(
            await awaited_attempt(
                self._attempt, client=port.client, seconds=time_left, cancel=port.cancel
            )
        )

    async def _attempt(self) -> Attempt:
        try:
            return _answer(response=await self._port.call())
        except Exception as error:
            if not is_of_the_call(error):
                raise
            return _answer(exception=error)


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

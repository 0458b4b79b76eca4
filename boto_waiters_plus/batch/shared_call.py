"""One call for several waits of one client; `service.sharing` splits the response."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from botocore.exceptions import (
    ClientError,
    EndpointProviderError,
    ParamValidationError,
    StubResponseError,
)
from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.client_call import Calls
from ..calls.errors import on_the_way
from ..options import CancelEvent
from ..service.client_waits import ClientRequest
from ..service.errors import error_facts
from ..service.sharing import Coalescing, has_no_items, shares_of
from ..wait.facts import Judge, SharedAttempts

OF_THE_CALLER = frozenset({
    "AuthFailure", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature",
    "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken",
    "MissingAuthenticationTokenException", "OptInRequired", "RequestExpired",
    "SignatureDoesNotMatch", "UnrecognizedClientException",
})  # fmt: skip
"""Codes of errors about the caller, whatever is asked for.

Denied access is not among them: a policy may deny one resource."""


OF_PARAMETERS = (EndpointProviderError, ParamValidationError, StubResponseError)
"""What is raised for parameters, of which those of one wait may be wrong."""


def may_be_about_one(error: BaseException, operation: OperationModel | None = None) -> bool:
    """Return whether an error may be about one of several identifiers of a call.

    That depends on the kind of error; no text is parsed.

    Args:
        error: an error response, or what was raised instead of a reply.
        operation: the operation that was called.
    """
    if not isinstance(error, ClientError):
        return isinstance(error, OF_PARAMETERS) and on_the_way(error) is None
    facts = error_facts(error, operation)
    if facts.transient or facts.throttled or facts.names & OF_THE_CALLER:
        return False
    if facts.on_the_way is not None:
        return False
    return facts.status is None or 400 <= facts.status < 500


class SharedCall:
    """One call for several waits, and the judge of its reply.

    Args:
        request: of any of the waits, whose parameters are alike but for the identifiers.
        member: the parameter that takes the identifiers.
        ids: the identifiers that each wait asks for.
        judges: those of the waits, in the same order.
        coalescing: how the response is split.
        cancel: ends a call in flight.
    """

    def __init__(
        self,
        request: ClientRequest,
        member: str,
        ids: Sequence[Sequence[str]],
        judges: Sequence[Judge],
        coalescing: Coalescing,
        *,
        cancel: CancelEvent | None = None,
    ) -> None:
        self._operation = request.operation
        self._ids = ids
        self._judges = judges
        self._coalescing = coalescing
        # Each identifier once, even if several waits ask for it.
        distinct = list(dict.fromkeys(each for asked in ids for each in asked))
        send = partial(request.send_for, member, distinct)
        self._is_for_several = len(distinct) > 1
        self._call = Calls(send=send, client=request.client, cancel=cancel).of_client()
        self.make = self._call.make

    @property
    def is_answered(self) -> bool:
        """Whether the call in flight has its answer, and only parses it."""
        return bool(self._call.is_answered)

    def split(self, reply: Reply) -> SharedAttempts:
        """Return the attempt of each wait."""
        if reply.error is not None:
            is_shared = self._is_for_several and reply.ended is None
            if is_shared and may_be_about_one(reply.error, self._operation):
                return SharedAttempts(instead="halve")
            return SharedAttempts(attempts=tuple(judge.judge(reply) for judge in self._judges))
        shares = shares_of(reply.response, self._ids, self._coalescing)
        if shares is None:
            return SharedAttempts(instead="disband")
        attempts = tuple(
            judge.judge(Reply(share)) for judge, share in zip(self._judges, shares, strict=True)
        )
        for attempt in attempts:
            attempt.coalesced = len(attempts) > 1
        omitted = (i for i, share in enumerate(shares) if has_no_items(share, self._coalescing))
        return SharedAttempts(attempts=attempts, omitted=frozenset(omitted))

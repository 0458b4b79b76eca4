"""What a successful wait returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .engine.model import MatchedAcceptor
from .engine.redaction import shown

ResponseT = TypeVar("ResponseT")


@dataclass(frozen=True, kw_only=True, repr=False)
class WaiterOutcome(Generic[ResponseT]):
    """The end of a wait that succeeded: a `ResponseOutcome` or an `ExceptionOutcome`."""

    waiter: str
    """The waiter's name."""
    attempts: int
    """Calls made."""
    elapsed: float
    """Seconds from the start to the end."""
    acceptor: MatchedAcceptor
    """Index and text of the acceptor that matched."""
    observed: Any = None
    """What the acceptor's path gave; None for matchers without one, and for sensitive members."""
    coalesced: bool = False
    """Whether the call that ended the wait asked for other waits of a batch too."""

    def _facts(self) -> str:
        facts = (
            f"waiter={self.waiter!r}, attempts={self.attempts}, elapsed={self.elapsed:.3f}, "
            f"acceptor={self.acceptor.text!r}"
        )
        text = shown(self.observed)
        return facts if text is None else f"{facts}, observed={text!r}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ResponseOutcome(WaiterOutcome[ResponseT]):
    """The wait succeeded with a response of the operation."""

    response: ResponseT
    """What the operation returned; of a coalesced wait the part that is its own."""
    by_id: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The items of the response by the identifiers that were asked for, such as the instance of
    each of `InstanceIds`; one that the service does not know is not in it. Empty where the
    operation takes no list of identifiers, or where it is not known which of its members is one.
    """

    def __repr__(self) -> str:
        # The response stays out: reprs end up in logs.
        return f"ResponseOutcome({self._facts()})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ExceptionOutcome(WaiterOutcome[Any]):
    """The wait succeeded with an expected error, such as the 404 of `bucket_not_exists`."""

    exception: Exception = field(compare=False)

    def __repr__(self) -> str:
        return f"ExceptionOutcome({self._facts()}, exception={type(self.exception).__name__})"

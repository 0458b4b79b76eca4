"""The outcomes that successful waits return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn, TypeVar

from .engine.model import MatchedAcceptor
from .engine.redaction import shown
from .fact_table import FactTable, Rows, wait_rows

ResponseT_co = TypeVar("ResponseT_co", covariant=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class WaiterOutcome(FactTable, Generic[ResponseT_co]):
    """The end of a wait that succeeded: a `ResponseOutcome` or an `ExceptionOutcome`."""

    waiter: str
    """The waiter's name."""
    label: str = ""
    """The resource: `s3 Bucket=my-bucket`."""
    attempts: int
    """The number of calls that were made."""
    elapsed: float
    """Seconds from the start to the end."""
    acceptor: MatchedAcceptor
    """Index and text of the acceptor that matched."""
    observed: Any = None
    """The value of the acceptor's path; None if it has no path, or the model calls it sensitive."""
    coalesced: bool = False
    """Whether the call that ended the wait was shared with other waits."""
    by_id: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The items of the response by the identifiers of the request, such as the instance of each of
    `InstanceIds`. Identifiers that the response does not mention are left out. Empty if there is no
    response, the operation takes no list of identifiers, or it is not known which of its members
    is one.
    """
    # Not `ResponseT_co | None`: an outcome that was not narrowed would type-check nowhere.
    response: Any = field(default=None, init=False)
    """The response of a `ResponseOutcome`; None for an `ExceptionOutcome`."""
    exception: Exception | None = field(default=None, init=False, compare=False)
    """The expected error of an `ExceptionOutcome`; None for a `ResponseOutcome`."""

    def _rows(self) -> Rows:
        return [*wait_rows(self), ("acceptor", self.acceptor.text)]

    def _facts(self) -> str:
        label = f"label={self.label!r}, " if self.label else ""
        facts = (
            f"waiter={self.waiter!r}, {label}attempts={self.attempts}, "
            f"elapsed={self.elapsed:.3f}, "
            f"acceptor={self.acceptor.text!r}"
        )
        text = shown(self.observed)
        return facts if text is None else f"{facts}, observed={text!r}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ResponseOutcome(WaiterOutcome[ResponseT_co]):
    """The wait succeeded with a response of the operation."""

    # `field()` takes the default of the base class away.
    response: ResponseT_co = field()
    """The response of the operation; of a shared call, the wait's own share."""

    def __repr__(self) -> str:
        # Without the response: reprs end up in logs.
        return f"ResponseOutcome({self._facts()})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ExceptionOutcome(WaiterOutcome[NoReturn]):
    """The wait succeeded with an expected error, such as the 404 of `bucket_not_exists`."""

    response: None = field(default=None, init=False)
    exception: Exception = field(compare=False)
    """The expected error."""

    def __repr__(self) -> str:
        return f"ExceptionOutcome({self._facts()}, exception={type(self.exception).__name__})"

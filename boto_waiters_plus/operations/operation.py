"""A background wait as a future with a path."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future, InvalidStateError
from typing import Any, Protocol

from ..outcome import WaiterOutcome
from .error_codes import problem

CANCELLED_DETAIL = "cancelled"


class OperationRecord(Protocol):
    """Where the facts of an operation are kept."""

    path: str

    def to_json(self, ended: dict[str, Any] | None) -> dict[str, Any]:
        """Return the JSON form; `ended` is the member that a future that is done adds to it."""
        ...

    def cancel(self) -> bool:
        """End the wait; return False if it has ended otherwise."""
        ...

    def has_callback(self, operation: Operation) -> None:
        """Keep the operation until it has ended: a callback was added to it."""
        ...

    def reduced(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        """Return what finds the operation again, for pickling."""
        ...


class Operation(Future[WaiterOutcome[Any]]):
    """A background wait: a `concurrent.futures.Future` with a path (AEP-151).

    `result(timeout)` returns the outcome or raises the error of the wait, `exception(timeout)`
    returns that error; both raise `TimeoutError` after `timeout` seconds, and `CancelledError`
    after `cancel`. `await` does the same in a task; cancelling that task does not cancel the wait.
    `concurrent.futures.wait`, `as_completed` and `add_done_callback` work as for any future. A
    pickled operation is looked up by its path when it is loaded.

    Attributes:
        path: the name of the operation, `operations/{id}`.
    """

    def __init__(self, record: OperationRecord) -> None:
        super().__init__()
        self.path = record.path
        self._record = record
        self._process = os.getpid()
        self._cancelling = threading.Lock()

    @property
    def metadata(self) -> dict[str, Any]:
        """How far the wait is; see `to_json`."""
        metadata: dict[str, Any] = self.to_json()["metadata"]
        return metadata

    def to_json(self) -> dict[str, Any]:
        """Return the operation as a JSON object in the schema of AEP-151.

        Its members are `path`, `done`, `metadata`, and, when it is done, `response` or `error`.
        """
        return self._record.to_json(self._ended())

    def result(self, timeout: float | None = None) -> WaiterOutcome[Any]:
        """Return the outcome, after at most `timeout` seconds (None: however long it takes).

        Raises:
            WaiterError: the wait did not succeed.
            OperationError: the wait could not be run.
            TimeoutError: it has not ended yet.
            CancelledError: it was cancelled.
        """
        self._check_process()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the error that the wait ended in; None if it succeeded. Raises as `result`."""
        self._check_process()
        return super().exception(timeout)

    def running(self) -> bool:
        """Return whether the wait has not ended."""
        return not self.done()

    def cancel(self) -> bool:
        """Cancel the wait; return False if it has ended already.

        The reply to a request in flight is dropped.
        """
        with self._cancelling:
            if self.cancelled():
                return True
            if self.done() or not self._record.cancel():
                return False
            self.end_cancelled()
        return self.cancelled()

    def add_done_callback(self, fn: Callable[[Future[WaiterOutcome[Any]]], object]) -> None:
        """Call a function with the operation when it is done, or at once if it is."""
        self._record.has_callback(self)
        super().add_done_callback(fn)

    def __await__(self) -> Generator[Any, None, WaiterOutcome[Any]]:
        import asyncio  # noqa: PLC0415 - a program that only blocks never imports it

        self._check_process()
        return asyncio.shield(asyncio.wrap_future(self)).__await__()

    def __reduce__(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        return self._record.reduced()

    def __repr__(self) -> str:
        return f"<Operation {self.path} {'done' if self.done() else 'open'}>"

    def end(self, result: WaiterOutcome[Any] | BaseException) -> None:
        """Set the outcome or the error, unless the operation was cancelled."""
        with contextlib.suppress(InvalidStateError):
            if isinstance(result, BaseException):
                self.set_exception(result)
            else:
                self.set_result(result)

    def end_cancelled(self) -> None:
        """Note that the wait was cancelled, unless it is done."""
        if super().cancel():
            # Without it, those who wait for several futures would not be told.
            with contextlib.suppress(RuntimeError):
                self.set_running_or_notify_cancel()

    def _ended(self) -> dict[str, Any] | None:
        from .representation import error_json, response_json  # noqa: PLC0415 - imports botocore

        if not self.done():
            return None
        try:
            error = super().exception(0)
        except CancelledError:
            return {"error": problem("cancelled", CANCELLED_DETAIL)}
        if error is not None:
            return {"error": error_json(error)}
        return {"response": response_json(super().result(0))}

    def _check_process(self) -> None:
        if not self.done() and os.getpid() != self._process:
            raise RuntimeError(
                f"{self.path} belongs to the process that this one was forked from; look it up by "
                "its path in a store"
            )


def json_text(body: Any) -> str:
    """Return compact JSON."""
    return json.dumps(body, separators=(",", ":"))

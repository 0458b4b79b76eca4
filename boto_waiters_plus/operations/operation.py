"""A background wait as a future with a path."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, InvalidStateError, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..changes.stops import STOP_TIME, Stop
from ..common.errors import warn
from ..outcome import WaiterOutcome

if TYPE_CHECKING:
    from ..conditions.condition import ConditionWait
    from ..signals import Signal


COLLECTION: Final = "operations"

UNDRIVEN_GRACE: Final = 5.0
"""Seconds that `result` waits before it says that no worker drives the wait."""

CANCELLED_DETAIL: Final = "cancelled"

LONGEST: Final = 1e8
"""Seconds for the wait on an operation among others: it ends with the operation, which is bounded.
"""


_PROMPT: Final = {asyncio.futures.__name__, __name__}
"""The modules whose done callbacks tell a loop or a batch of the end, and never block."""


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

    _stops_on_cancel = False
    """Whether what was begun is stopped when the wait is cancelled."""
    _is_being_cancelled = False
    """Whether it is cancelled as soon as what was begun is stopped."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self._cancelling = threading.RLock()
        self._has_ended_signal: Signal | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """How far the wait is; see `to_json`."""
        metadata: dict[str, Any] = self.to_json()["metadata"]
        return metadata

    def to_json(self) -> dict[str, Any]:
        """Return the operation as a JSON object in the schema of AEP-151.

        Its members are `path`, `done`, `metadata`, and, when it is done, `response` or `error`.
        """
        raise NotImplementedError

    def result(self, timeout: float | None = None) -> WaiterOutcome[Any]:
        """Return the outcome, after at most `timeout` seconds (None: however long it takes).

        Raises:
            WaiterError: the wait did not succeed.
            OperationError: the wait could not be run.
            TimeoutError: it has not ended yet; the message says if no worker drives it.
            CancelledError: it was cancelled.
        """
        self._wait_for_end(timeout)
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the error that the wait ended in; None if it succeeded. Raises as `result`."""
        self._wait_for_end(timeout)
        return super().exception(0)

    def running(self) -> bool:
        """Return whether the wait has not ended."""
        return not self.done()

    def as_wait(self) -> ConditionWait:
        """Return the wait for the end of this operation, as `wait_all` runs it beside others."""
        # Loaded by a batch that has an operation.
        from ..conditions.condition import ConditionWait  # noqa: PLC0415
        from ..signals import Signal  # noqa: PLC0415

        def end() -> WaiterOutcome[Any] | None:
            return self.result(0) if self.done() else None

        self._attend()
        if self._has_ended_signal is None:
            # One for all batches: it lives as long as the operation.
            self._has_ended_signal = has_ended = Signal()
            self.add_done_callback(lambda _: has_ended.notify())
        own = {"label": self.metadata["label"], "signal": self._has_ended_signal}
        return ConditionWait(end, WaiterOutcome, **own, polling=False, max_wait=LONGEST)

    def add_done_callback(self, fn: Callable[[Future[WaiterOutcome[Any]]], object]) -> None:
        """Call a function with the operation when it is done, or at once if it is.

        It sees the context variables of the present. It is called in the thread of callbacks, where
        one that blocks holds up other callbacks and no end, and what it raises is logged.
        """
        context = contextvars.copy_context()

        def call(operation: Future[WaiterOutcome[Any]]) -> None:
            context.run(fn, operation)

        if self.done() or getattr(fn, "__module__", None) in _PROMPT:
            super().add_done_callback(call)
        else:
            super().add_done_callback(lambda operation: self._call_back(partial(call, operation)))

    def cancel(self) -> bool:
        """Cancel the wait; return False if it has ended already.

        The reply to a request in flight is dropped. With `stop_on_cancel` the end follows the call
        that stops what was begun, at most 5 seconds later.
        """
        with self._cancelling:
            if self.done() or self._is_being_cancelled:
                return self.cancelled() or not self.done()
            if not self._cancel_wait():
                return False
            if not self._is_being_cancelled:
                self.end(None)
        return self.cancelled() or not self.done()

    def __await__(self) -> Generator[Any, None, WaiterOutcome[Any]]:
        if not self.done():
            self._attend()
        return self._awaited().__await__()

    async def _awaited(self) -> WaiterOutcome[Any]:
        try:
            return await asyncio.shield(asyncio.wrap_future(self))
        except asyncio.CancelledError:
            if self._stops_on_cancel and self.cancel() and not self.done():
                # Another cancellation of the task gives the stop up.
                await asyncio.wait([asyncio.wrap_future(self)], timeout=2 * STOP_TIME)
            raise

    def __repr__(self) -> str:
        return f"<Operation {self.path} {'done' if self.done() else 'open'}>"

    def end(self, result: WaiterOutcome[Any] | BaseException | None) -> None:
        """Set the outcome or the error, unless it is done; None: it was cancelled."""
        with contextlib.suppress(InvalidStateError, RuntimeError):
            if result is None:
                with self._cancelling:
                    if not self.done() and super().cancel():
                        # Without it, those who wait for several futures would not be told.
                        self.set_running_or_notify_cancel()
            elif isinstance(result, BaseException):
                self.set_exception(result)
            else:
                self.set_result(result)

    def _call_back(self, function: Callable[[], object]) -> None:
        """Call a function in the thread of callbacks."""
        raise NotImplementedError

    def _ended_as(self) -> WaiterOutcome[Any] | BaseException | None:
        """Return the outcome or the error; None: it has not ended, or was cancelled."""
        if not self.done() or self.cancelled():
            return None
        return super().exception(0) or super().result(0)

    def _cancel_wait(self) -> bool:
        """End the wait; return False if it has ended otherwise."""
        raise NotImplementedError

    def _attend(self) -> None:
        """Make sure that the wait ends in this process.

        Raises:
            RuntimeError: it cannot: it is of the process that this one was forked from.
            StoreError: its store is closed.
        """
        raise NotImplementedError

    def _hindrance(self) -> str:
        """Return why the wait has not ended, as the end of a message; "" if nothing is known."""
        return ""

    def _wait_for_end(self, timeout: float | None) -> None:
        if self.done():
            return
        self._attend()
        try:
            grace = UNDRIVEN_GRACE if timeout is None else min(timeout, UNDRIVEN_GRACE)
            wait([self], grace)
            if not self.done() and (timeout is None or timeout > grace):
                hindrance = self._hindrance()
                if hindrance:
                    warn(f"{self.path} has not ended{hindrance}", RuntimeWarning)
                wait([self], None if timeout is None else timeout - grace)
        except KeyboardInterrupt:
            if self._stops_on_cancel and self.cancel():
                # A second Ctrl-C gives the stop up.
                wait([self], 2 * STOP_TIME)
            raise
        if not self.done():
            raise FutureTimeoutError(f"{self.path} has not ended{self._hindrance()}")


class MissingOperation(Operation):
    """A pickled operation that is not found where it was loaded; its result is the reason.

    Loading raises nothing: a pool of processes would break, or wait for ever.
    """

    finder: tuple[Callable[..., Operation], tuple[Any, ...]]

    def to_json(self) -> dict[str, Any]:
        self.result()
        raise AssertionError  # It has ended in an error.

    def __reduce__(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        return load_operation, self.finder


def load_operation(find: Callable[..., Operation], arguments: tuple[Any, ...]) -> Operation:
    """Return a pickled operation; `find` looks it up, and takes its path last."""
    try:
        return find(*arguments)
    # Whatever it is, such as a store that does not answer.
    except Exception as error:
        missing = MissingOperation(arguments[-1])
        missing.finder = find, arguments
        missing.end(error)
        return missing


def id_of(path: str) -> str:
    """Return the id of the operation of a path."""
    return path.partition("/")[2]


def path_of(row: Mapping[str, Any]) -> str:
    """Return the path of the operation of a row."""
    return f"{COLLECTION}/{row['id']}"


# --- what can go wrong with operations and their stores, and the codes that stand for it ---------


class StoreError(Exception):
    """A store, named without its password, cannot be used: no access, no answer, or its schema."""


class UnusableError(StoreError):
    """This process can never use the store again.

    Another version of the package has made or migrated it, or it is in the memory of the process
    that this one was forked from.
    """


class OperationError(Exception):
    """A stored wait could not be run, or its error comes from another process.

    Attributes:
        code: one of `CODES`.
        path: the path of the background wait that is in the way; None if there is none.
    """

    stop: Stop | None = None
    """As `WaiterError.stop`."""

    def __init__(self, code: str, detail: str, path: str | None = None) -> None:
        super().__init__(code, detail)
        self.code = code
        self.path = path

    def __str__(self) -> str:
        return f"{self.args[1]} ({self.code})"


class UnableError(OperationError):
    """This worker cannot drive a wait; another one may."""


def unreadable(problem: str) -> OperationError:
    """Return the error of a stored wait that cannot be read."""
    return OperationError("unreadable", problem)


CODES: Final[dict[str, tuple[int, str]]] = {
    "failed": (424, "The wait reached a failure state, or its call failed"),
    "timed_out": (504, "The time of the wait is used up"),
    "attempts_used_up": (504, "The attempts of the wait are used up"),
    "outcome_unknown": (504, "The call got no answer, and may have been executed"),
    "cancelled": (409, "The wait was cancelled"),
    "invalid_parameters": (400, "botocore refused the parameters of the call"),
    "credentials": (403, "There are no credentials for the call, or they are incomplete"),
    "unsupported": (501, "The worker's botocore lacks the service or the operation of the wait"),
    "unreadable": (500, "What is stored of the wait cannot be read"),
    "internal": (500, "The wait ended in an unexpected error"),
    "attempt_failed": (502, "An attempt ended in a transient error, and the wait went on"),
    "invalid_argument": (400, "The request is wrong"),
    "unauthenticated": (401, "The request has no valid token"),
    "not_found": (404, "There is no such operation, or it has expired"),
    "method_not_allowed": (405, "The resource has no such method"),
    "conflict": (409, "An exclusive operation of this kind is open"),
    "request_mismatch": (409, "The request id was used for another request"),
    "too_large": (413, "The request is too large"),
    "unavailable": (503, "The store does not answer"),
}
"""The HTTP status and the title of each error code."""


def problem(code: str, detail: str, **members: Any) -> dict[str, Any]:
    """Return the canonical error object: a problem of RFC 9457 with a member `code`."""
    # A code of another version of this package is shown as it is.
    status, title = CODES.get(code, CODES["internal"])
    return {
        "type": f"urn:boto-waiters-plus:error:{code}",
        "code": code,
        "status": status,
        "title": title,
        "detail": detail,
        **members,
    }

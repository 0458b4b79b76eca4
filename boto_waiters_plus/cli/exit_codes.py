"""The exit codes of `boto-wait`, and the errors and signals that end a command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import boto_waiters_plus as bwp  # whose errors are imported when they are named: botocore is slow

from ..common.process import handling_signals

SUCCEEDED: Final = 0
PROBLEMS: Final = 1
USAGE_ERROR: Final = 2
TIMED_OUT: Final = 124
INTERRUPTED: Final = 130
CLOSED_PIPE: Final = 141
TERMINATED: Final = 143
NOT_CONFIGURED: Final = 253
ERROR_RESPONSE: Final = 254
FAILED: Final = 255

MEANINGS: Final = {
    SUCCEEDED: "success",
    PROBLEMS: "`check` found problems, or `scan --fail-on FOUND` loops",
    USAGE_ERROR: "wrong arguments or parameters",
    TIMED_OUT: "timed out, or attempts used up",
    INTERRUPTED: "Ctrl-C",
    CLOSED_PIPE: "the reader of stdout has gone",
    TERMINATED: "SIGTERM",
    NOT_CONFIGURED: "no credentials, profile or region",
    ERROR_RESPONSE: "an error response that no acceptor matched",
    FAILED: "a failure state, or anything else",
}
"""The meaning of each exit code. 124 is that of timeout(1), 253 to 255 are those of aws-cli; above
128 they are what shells report for a command that a signal ended."""

OF_A_WAIT: Final = "Exit codes: " + "; ".join(
    f"{code} {text}" for code, text in MEANINGS.items() if code not in (PROBLEMS, CLOSED_PIPE)
)
"""The codes of commands that wait, for their help."""


class UsageError(Exception):
    """The arguments name something that does not exist, or a file that cannot be read."""


class NotConfiguredError(Exception):
    """The arguments are right, but credentials, the profile or the region are missing."""


class CannotRunError(Exception):
    """The arguments are right, but something else that the command needs cannot be used."""


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived. It ends whatever Ctrl-C ends."""


def exit_code(error: BaseException) -> int:
    """Return the exit code of a command that an error ended."""
    if isinstance(error, bwp.WaitersError):
        return common_exit_code(map(exit_code, error.errors.values()))
    for kinds, code in _codes():
        if isinstance(error, kinds):
            return code
    if isinstance(error, bwp.WaiterFailedError) and error.acceptor is None:
        cause = error.last_exception
        return FAILED if cause is None or isinstance(cause, bwp.WaiterError) else exit_code(cause)
    return FAILED


def common_exit_code(codes: Iterable[int]) -> int:
    """Return the exit code of several waits: one that all failures share, else 255."""
    failures = {*codes} - {SUCCEEDED}
    return failures.pop() if len(failures) == 1 else FAILED if failures else SUCCEEDED


def refuse_missing(names: Iterable[str]) -> None:
    """Raise `UsageError` if a file or folder does not exist."""
    missing = [name for name in names if not Path(name).exists()]
    if missing:
        raise UsageError(f"no such file: {', '.join(missing)}")


def ended_by_sigterm() -> AbstractContextManager[object]:
    """Raise `Terminated` at SIGTERM inside, unless somebody else handles the signal."""
    received: list[int] = []

    def end(number: int, _: object) -> None:
        received.append(number)
        # A second one must not interrupt what the first one ends.
        if len(received) == 1:
            raise Terminated

    return _handled("SIGTERM", end)


def sighup_as_sigterm() -> AbstractContextManager[object]:
    """Let SIGHUP do inside what SIGTERM does, unless somebody else handles or ignores it."""
    return _handled("SIGHUP", lambda *_: signal.raise_signal(signal.SIGTERM))


def _handled(name: str, handler: Callable[..., object]) -> AbstractContextManager[object]:
    """Handle a signal inside, in the main thread and unless somebody else handles or ignores it."""
    # Windows has no SIGHUP.
    number: Any = getattr(signal, name, None)
    is_free = number is not None and signal.getsignal(number) is signal.SIG_DFL
    return handling_signals([number] if is_free else (), handler)


def _codes() -> Iterator[tuple[Any, int]]:
    """Yield the kinds of errors with their exit codes; the first that fits counts."""
    yield Terminated, TERMINATED
    yield KeyboardInterrupt, INTERRUPTED
    yield BrokenPipeError, CLOSED_PIPE
    yield UsageError, USAGE_ERROR
    yield NotConfiguredError, NOT_CONFIGURED
    yield (bwp.WaiterTimeoutError, bwp.WaiterAttemptsError), TIMED_OUT

    from botocore import exceptions as botocore  # noqa: PLC0415 - slow

    from ..calls.credentials import CREDENTIAL_ERRORS  # noqa: PLC0415 - the same

    yield botocore.ParamValidationError, USAGE_ERROR
    yield (*CREDENTIAL_ERRORS, botocore.ProfileNotFound, botocore.NoRegionError), NOT_CONFIGURED
    yield botocore.ClientError, ERROR_RESPONSE

"""The docstring of `wait` of botocore's waiter objects: what is new, then botocore's own."""

from __future__ import annotations

from typing import Any, Final

from botocore.docs.docstring import LazyLoadedDocstring

_NEW: Final = """\
{summary}

::

    {call}

:param max_wait: Seconds (or a timedelta) that the wait may take, calls included; also
  ``WaiterConfig={{'MaxWait': 300}}``. Without it, the limit is the sum of the delays below.
:param min_delay, max_attempts, ...: the options; see ``help(boto_waiters_plus.WaitOptions)``.
:returns: {returns}
:raises: WaiterFailedError, WaiterTimeoutError, WaiterAttemptsError or WaiterCancelledError, each a
  ``botocore.exceptions.WaiterError``.

What follows is botocore's. Its delay and its number of checks hold if ``WaiterConfig`` or
``waiter.config`` sets them; otherwise the delays have jitter, and add up to the same time.
"""

_OUTCOME: Final = (
    "``ResponseOutcome``, whose ``response`` is the last one, or\n"
    "  ``ExceptionOutcome``, whose ``exception`` is the expected error"
)


class StockWaitDocstring(LazyLoadedDocstring):
    """The docstring of a waiter object's `wait`, written when it is read.

    Args:
        stock: botocore's own.
        awaited: whether the waiter is aiobotocore's.
    """

    def _write_docstring(self, section: Any, stock: str | None, *, awaited: bool) -> None:
        if awaited:
            new = _NEW.format(
                summary="Wait on boto_waiters_plus; ``waiter.outcome`` is the outcome.",
                call="response = await waiter.wait(..., max_wait=300)",
                returns=f"the last response. ``waiter.outcome`` is a {_OUTCOME}.",
            )
        else:
            new = _NEW.format(
                summary="Wait on boto_waiters_plus, and return the outcome.",
                call="outcome = waiter.wait(..., max_wait=300)",
                returns=f"the outcome: {_OUTCOME}. It is ``waiter.outcome`` too.",
            )
        # One that is not written yet is an empty string.
        own = "" if stock is None else str(stock)
        own = own.rstrip().removesuffix(":returns: None")
        for line in f"{new}\n{own.strip()}".splitlines():
            section.writeln(line)

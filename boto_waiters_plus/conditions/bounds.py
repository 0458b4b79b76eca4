"""The time that a wait on any callable has: 0 is one attempt."""

from __future__ import annotations

import math
from dataclasses import replace

from ..deadlines import wait_bounds
from ..engine.machine import Policy


class WaitBounds:
    """`max_wait` and the deadline around the caller, when the wait is made.

    Args:
        form: the name of the wait in messages.
        max_wait: as the caller gave it.

    Attributes:
        max_wait: seconds; 0 for one attempt, not positive where a deadline has passed.

    Raises:
        TypeError: no bound is given, or it is not a number.
        ValueError: out of range.
    """

    def __init__(self, form: str, max_wait: object) -> None:
        self.max_wait, self._left = wait_bounds(form, max_wait, zero=True)

    def applied_to(self, policy: Policy, *, covers_end: bool = False) -> Policy:
        """Return a policy with this `max_wait` under these bounds.

        Args:
            policy: the delays.
            covers_end: whether the last attempt begins at the end of `max_wait`.
        """
        is_once = self.max_wait == 0 and (self._left is None or self._left > 0)
        if not (is_once or covers_end):
            return policy
        patience = math.inf if is_once else max(0.0, self.max_wait)
        return replace(policy, covers_end=True, deadline=self._left, patience=patience)

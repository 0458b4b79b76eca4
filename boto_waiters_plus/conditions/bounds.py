"""The time that a wait on any callable has."""

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
        max_wait: seconds; not positive where the time is over already.

    Raises:
        TypeError: no time bound is given, or it is not a number.
        ValueError: not finite.
    """

    def __init__(self, form: str, max_wait: object) -> None:
        self.max_wait, self._left = wait_bounds(form, max_wait)

    def applied_to(self, policy: Policy, *, covers_end: bool = False) -> Policy:
        """Return a policy that is held to this time.

        Args:
            policy: the delays.
            covers_end: whether the last attempt begins at the end of `max_wait`; so 0 is one
                attempt, of any length.
        """
        if not covers_end or self.max_wait < 0:
            return policy
        patience = self.max_wait or math.inf
        return replace(policy, covers_end=True, deadline=self._left, patience=patience)

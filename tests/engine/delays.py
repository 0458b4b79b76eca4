"""A delay of the specification, as the machine puts it together."""

from boto_waiters_plus.engine.delays import is_last, jittered_delay, last_delay


def next_delay(attempt, *, min_delay, max_delay, remaining, random, reserve=None):
    """Return the delay after an attempt; `reserve` is min_delay if not given."""
    delay = jittered_delay(attempt, min_delay=min_delay, max_delay=max_delay, random=random)
    if is_last(delay, min_delay=min_delay, remaining=remaining):
        return last_delay(remaining, min_delay if reserve is None else reserve)
    return delay

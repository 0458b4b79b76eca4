"""A delay of the specification, as the machine puts it together; and the run of a machine."""

from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.delays import is_last, jittered_delay, last_delay


def next_delay(attempt, *, min_delay, max_delay, remaining, random, reserve=None):
    """Return the delay after an attempt; `reserve` is min_delay if not given."""
    delay = jittered_delay(attempt, min_delay=min_delay, max_delay=max_delay, random=random)
    if is_last(delay, min_delay=min_delay, remaining=remaining):
        return last_delay(remaining, min_delay if reserve is None else reserve)
    return delay


def run(machine, facts_at, random, call_seconds=0):
    """Return the end of a wait, its polls and its pauses, on a clock that only they move.

    Args:
        machine: that has not begun.
        facts_at: returns the facts of the response at the end of a poll, given that time.
        random: draws the delays.
        call_seconds: what each poll takes.
    """
    now, polls, pauses = 0, [], []
    decision = machine.step(m.Begin(), now, random)
    while isinstance(decision, (m.Poll, m.Pause)):
        if isinstance(decision, m.Poll):
            now += call_seconds
            polls.append(now)
            event = m.Responded(facts_at(now))
        else:
            now += decision.seconds
            pauses.append(decision.seconds)
            event = m.Woken()
        decision = machine.step(event, now, random)
    return decision, polls, pauses

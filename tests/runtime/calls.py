"""A call and a judge that give the attempts of a script, and the waits that use them."""

from boto_waiters_plus.engine.machine import Policy
from boto_waiters_plus.runtime.attempt import Reply
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun


class ScriptedCall:
    """Gives one reply of the script after the other; an attempt stands for the reply it is in."""

    def __init__(self, replies):
        self._replies = iter(replies)

    def make(self, time_left):
        reply = next(self._replies)
        return reply if isinstance(reply, Reply) else Reply(reply)


class AttemptJudge:
    """Returns the attempt that is the response of the reply."""

    @staticmethod
    def judge(reply):
        return reply.response


def scripted_wait(definition, *, service=None, observers=(), **policy):
    """Return a wait of 12 seconds that polls every 5 seconds, unless the policy changes that."""
    members = {"min_delay": 5, "max_delay": 5, "max_wait": 12, "pace": "fixed", **policy}
    description = described(definition, service)
    label = f"{service} thing" if service else ""
    return WaitRun(description, Policy(**members), AttemptJudge(), label=label, observers=observers)


def described(definition, service=None):
    """Return what messages and observers name of a definition."""
    return WaitDescription(
        waiter=definition.name,
        operation=definition.operation,
        service=service,
        goal=definition.goal,
        acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
        states=definition.states,
    )

"""Waits whose identifiers one call can ask for, and that call.

`service.sharing` splits the response. If the call ends in an error that may be about one of the
waits, they are halved until that wait is alone, and the wait stays alone for as long as its
attempts end in such an error. Waits whose identifiers an answer omits are asked for once more
without the others: on their own, they may be an error.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from botocore.exceptions import (
    ClientError,
    EndpointProviderError,
    ParamValidationError,
    StubResponseError,
)
from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.client_call import AwaitedCall, BlockingCall, Calls
from ..calls.errors import on_the_way
from ..options import CancelEvent
from ..service.errors import error_facts
from ..service.sharing import Coalescing, has_no_items, shares_of
from ..service.waits import ClientRequest
from ..wait.facts import Attempt
from .tasks import Group, OwnCall, PlannedCall, Share, Split, Task, is_answer, is_throttle, judged

OF_THE_CALLER = frozenset({
    "AuthFailure", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature",
    "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken",
    "MissingAuthenticationTokenException", "OptInRequired", "RequestExpired",
    "SignatureDoesNotMatch", "UnrecognizedClientException",
})  # fmt: skip
"""Codes of errors about the caller, whatever is asked for.

Denied access is not among them: a policy may deny one resource."""


OF_PARAMETERS = (EndpointProviderError, ParamValidationError, StubResponseError)
"""What is raised for parameters, of which those of one wait may be wrong."""


def may_be_about_one(error: BaseException, operation: OperationModel | None = None) -> bool:
    """Return whether an error may be about one of several identifiers of a call.

    That depends on the kind of error; no text is parsed.

    Args:
        error: an error response, or what was raised instead of a reply.
        operation: the operation that was called.
    """
    if not isinstance(error, ClientError):
        return isinstance(error, OF_PARAMETERS) and on_the_way(error) is None
    facts = error_facts(error, operation)
    if facts.transient or facts.throttled or facts.names & OF_THE_CALLER:
        return False
    if facts.on_the_way is not None:
        return False
    return facts.status is None or 400 <= facts.status < 500


class SharingGroup(Group):
    """Waits whose identifiers one call can ask for.

    Args:
        coalescing: how the response is split.
        member: the parameter that takes the identifiers.
        cancel: ends a call in flight.

    Attributes:
        omits_missing: the service is known to omit what it does not know, instead of answering an
            error.
    """

    def __init__(self, coalescing: Coalescing, member: str, cancel: CancelEvent) -> None:
        super().__init__()
        self.coalescing, self.member, self.cancel = coalescing, member, cancel
        self.omits_missing = False

    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:
        return OwnCall(tasks) if len(tasks) == 1 else SharedCall(self, tasks)

    def take(self) -> Sequence[Task]:
        taken: list[Task] = []
        ids: set[str] = set()
        while self.is_due and not (taken and self.is_disbanded):
            ids.update(self.queued[0].ids)
            if taken and len(ids) > self.coalescing.limit:
                break
            taken.append(self.queued.popleft())
        return taken


class SharedCall(PlannedCall):
    """One call for several waits.

    Args:
        group: that of the waits.
        tasks: the waits.
    """

    __slots__ = ("_group", "_ids", "_request")

    def __init__(self, group: SharingGroup, tasks: Sequence[Task]) -> None:
        # It goes on for the last of its waits.
        super().__init__(tasks, max(task.until for task in tasks))
        self._group = group
        # That of any of them: their parameters are alike but for the identifiers.
        request = tasks[0].send
        assert isinstance(request, ClientRequest), "only calls of clients are shared"
        self._request = request
        # Each identifier once, even if several waits ask for it.
        self._ids = list(dict.fromkeys(each for task in tasks for each in task.ids))

    def made(self) -> BlockingCall | AwaitedCall:
        send = partial(self._request.send_for, self._group.member, self._ids)
        return Calls(client=self._request.client, cancel=self._group.cancel).of_client(send)

    def split(self, result: Reply | Exception, live: Collection[Task], now: float) -> Split:
        if isinstance(result, Exception) and may_be_about_one(result):
            # Bad parameters of one wait are not the others' error.
            return Split(calls=self._halves(live))
        if isinstance(result, Exception) or not is_answer(result):
            return Split([(task, result) for task in self.tasks])
        if result.error is None:
            return self._split_response(result, live, now)
        is_shared = len(self._ids) > 1 and result.ended is None
        if is_shared and may_be_about_one(result.error, self._request.operation):
            late = [(task, _inconclusive(task, result)) for task in self.tasks if task.until <= now]
            halves = self._halves({task for task in live if now < task.until})
            return Split(late, halves, throttled=False)
        shares: list[tuple[Task, Share]] = [(task, judged(task, result)) for task in self.tasks]
        return Split(shares, throttled=is_throttle([share for _, share in shares]))

    def _split_response(self, reply: Reply, live: Collection[Task], now: float) -> Split:
        coalescing, group = self._group.coalescing, self._group
        try:
            responses = shares_of(reply.response, [task.ids for task in self.tasks], coalescing)
        # A hook of the caller's may return anything.
        except Exception:
            return Split(calls=self._halves(live))
        if responses is None:
            group.is_disbanded = True
            calls = [OwnCall([task]) for task in self.tasks if task in live]
            return Split(calls=calls, throttled=False)
        parts = [*zip(self.tasks, responses, strict=True)]
        omitted = [task for task, part in parts if has_no_items(part, coalescing)]
        # The service is known to omit what it does not know.
        group.omits_missing = group.omits_missing or len(omitted) == len(parts)
        again: list[Task] = []
        if not group.omits_missing:
            again = [task for task in omitted if task in live and now < task.until]
        shares = [(task, judged(task, Reply(part))) for task, part in parts if task not in again]
        for _, share in shares:
            if isinstance(share, Attempt):
                share.coalesced = len(parts) > 1
        more = [SharedCall(group, again)] if again else []
        return Split(shares, more, throttled=is_throttle([share for _, share in shares]))

    def _halves(self, live: Collection[Task]) -> Sequence[PlannedCall]:
        tasks = [task for task in self.tasks if task in live]
        middle = (len(tasks) + 1) // 2
        return [self._group.call_for(part) for part in (tasks[:middle], tasks[middle:]) if part]

    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:
        return SharedCall(self._group, tasks)


def _inconclusive(task: Task, reply: Reply) -> Share:
    """Return what an error means to one of the waits that it may be about, at its deadline.

    It arrived in time, and was parsed until the time was over: nothing can tell whose it is, if
    acceptors know it or it says not found.
    """
    attempt = judged(task, reply)
    if isinstance(attempt, Attempt):
        facts = attempt.facts
        is_open = facts.acceptor is not None or facts.missing
        attempt.facts = replace(facts, inconclusive=is_open)
    return attempt

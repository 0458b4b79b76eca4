"""Judges replies of a client by the acceptors of a definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..calls.bounded_call import discard_response
from ..calls.budget import Reply
from ..engine.acceptors import AcceptorState
from ..engine.path_interpreter import SpecEvaluation
from ..engine.reports import reported_text
from ..wait.facts import NO_REASON, Attempt, IsMeant, ItemsById, UnfinishedIds, reason_in
from .errors import ErrorFacts, error_facts
from .sharing import AcceptorOf, ById

if TYPE_CHECKING:
    from ..engine.matching import Match
    from .polling_waiter import PollingWaiter


_METADATA: Final = "ResponseMetadata"
_MUTABLE: Final = (dict, list)


class ItemsOfCall(ItemsById):
    """What the acceptors see of each of the things that a call is about."""

    def __init__(self, items: Iterable[str], matches: Iterable[Match]) -> None:
        self._matches = dict(zip(items, matches, strict=True))

    def ids_where(self, is_meant: IsMeant) -> UnfinishedIds:
        meant = [item for item, match in self._matches.items() if is_meant(match.index)]
        return UnfinishedIds(tuple(meant), (), tuple(self._matches))

    def __getitem__(self, key: str) -> Any:
        return self._matches[key].observed

    def __iter__(self) -> Iterator[str]:
        return iter(self._matches)

    def __len__(self) -> int:
        return len(self._matches)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class DefinitionJudge:
    """The judge of one wait under a definition.

    Args:
        waiter: what it needs of the definition on its operation.
        parameters: the operation's parameters.
        endpoint: the endpoint of the client, for errors that are not of the service.
        call: the `input` and `output` of the call whose effect is waited for.
    """

    __slots__ = ("_call", "_endpoint", "_last", "_last_error", "_parameters", "_waiter")

    def __init__(
        self,
        waiter: PollingWaiter,
        parameters: Mapping[str, Any],
        endpoint: str | None,
        call: Mapping[str, Any] | None = None,
    ) -> None:
        self._waiter = waiter
        self._call = call
        self._parameters = parameters
        self._endpoint = endpoint
        self._last: Attempt | None = None
        self._last_error: tuple[ErrorFacts, int | None] | None = None

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        if reply.error is not None:
            return self._failed(reply, reply.error)
        self._last_error, last = None, self._last
        # A wait of one attempt need not know it.
        if last is not None and self._waiter.data_model.has_booleans:
            last = None
        self._last = again(last, reply.response) or self._responded(reply.response)
        return self._last

    def _responded(self, response: Any) -> Attempt:
        waiter = self._waiter
        status = _status(response) if isinstance(response, Mapping) else None
        found = waiter.data_model.output(response)
        given = waiter.data_model.input(self._parameters)
        items = None if self._call is None else waiter.items_of(self._call)
        if items is None:
            match = waiter.matching.match_response(found, given, status=status, call=self._call)
            by_item = None
        else:
            match, by_item = self._match_items(items, found, given)
        index = match.index
        if waiter.operation.has_streaming_output and (
            index is None or waiter.definition.acceptors[index].state is not AcceptorState.SUCCESS
        ):
            # A body that will not be read is closed, so that its connection is free again.
            discard_response(response)
        facts, find_reason = waiter.of_response[index]
        safe_to_show = not waiter.data_model.sensitive
        reported = waiter.reports.read(response)
        return Attempt(
            facts=facts,
            response=response,
            observed=match.observed if safe_to_show else None,
            state=reported_text(reported) or (match.state if safe_to_show else None),
            reported=reported,
            reason=reason_in(match.message) if safe_to_show else NO_REASON,
            find_reason=find_reason,
            find_unmet=None
            if self._call is None or not safe_to_show
            else partial(waiter.unmet, found, self._call),
            problems=match.problems,
            by_id=by_item
            if waiter.coalescing is None
            else ById(waiter.coalescing, self._parameters, response, self._judge_of_shares),
        )

    def _match_items(
        self, items: Sequence[Any], output: Any, given: Any
    ) -> tuple[Match, ItemsOfCall]:
        """Match a response for each item of the call: all have to succeed, one failure is one."""
        waiter, states = self._waiter, self._waiter.definition.states
        matches = [
            waiter.matching.match_response(output, given, call=self._call, item=item)
            for item in items
        ]

        def rank(match: Match) -> int:
            # The first of these decides.
            if match.index is None or states[match.index] is AcceptorState.RETRY:
                return 1
            if states[match.index] is AcceptorState.FAILURE:
                return 0
            return 3 if match.index in waiter.certain else 2

        return min(matches, key=rank), ItemsOfCall(map(str, items), matches)

    def _judge_of_shares(self) -> AcceptorOf:
        """Return what judges the response for one identifier; all have the steps of one."""
        matching, model = self._waiter.matching, self._waiter.data_model
        evaluation = SpecEvaluation()
        return lambda share, parameters: (
            matching.match_response(
                model.output(share), model.input(parameters), evaluation=evaluation
            ).index
        )

    def _failed(self, reply: Reply, error: Exception) -> Attempt:
        waiter = self._waiter
        last, index = self._last_error or (None, None)
        facts = error_facts(error, waiter.operation, endpoint=self._endpoint, last=last)
        if facts is not last:
            index = waiter.matching.match_error(facts.names, status=facts.status).index
            self._last_error = facts, index
        return facts.attempt(error, index, inconclusive=reply.ended is not None)


def again(last: Attempt | None, response: Any) -> Attempt | None:
    """Return the last attempt, now on a response that says the same; None if it does not.

    Most polls of a long wait are such: to compare two responses is less work than to judge one.
    """
    before = None if last is None else last.response
    if last is None or not (type(response) is type(before) is dict):
        return None
    metadata = response.get(_METADATA)
    if not isinstance(metadata, dict) or not metadata.get("HTTPHeaders"):
        return None
    # A test double may give an object again that it has changed.
    if any(
        before.get(name) is each and isinstance(each, _MUTABLE) for name, each in response.items()
    ):
        return None
    same = {**before, _METADATA: metadata}
    if _status(before) != metadata.get("HTTPStatusCode") or same != response:
        return None
    last.response = same
    last.coalesced = False
    return last


def _status(response: Mapping[str, Any]) -> Any:
    metadata = response.get(_METADATA)
    return metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None

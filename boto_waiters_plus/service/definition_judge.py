"""Judges replies of a client by the acceptors of a definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..calls.bounded_call import discard_response
from ..calls.reply import Reply
from ..engine.acceptors import AcceptorState
from ..engine.path_interpreter import SpecEvaluation
from ..wait.attempt import Attempt, message_of
from .bound_waiter import BoundWaiter
from .errors import error_facts
from .response_split import AcceptorOf, ById


class DefinitionJudge:
    """The judge of one wait under a definition.

    Args:
        waiter: the definition on its operation.
        parameters: the operation's parameters.
        endpoint: the endpoint of the client, for errors that are not of the service.
        call: the `input` and `output` of the call whose effect is waited for.
    """

    __slots__ = ("_call", "_endpoint", "_input", "_parameters", "_waiter")

    def __init__(
        self,
        waiter: BoundWaiter,
        parameters: Mapping[str, Any],
        endpoint: str | None,
        call: Mapping[str, Any] | None = None,
    ) -> None:
        self._waiter = waiter
        self._call = call
        self._parameters = parameters
        self._endpoint = endpoint
        self._input = waiter.data_model.input(parameters)

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        if reply.error is not None:
            return self._failed(reply, reply.error)
        return self._responded(reply.response)

    def _responded(self, response: Any) -> Attempt:
        waiter = self._waiter
        metadata = response.get("ResponseMetadata") if isinstance(response, Mapping) else None
        status = metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None
        match = waiter.matching.match_response(
            waiter.data_model.output(response), self._input, status=status, call=self._call
        )
        index = match.index
        if waiter.operation.has_streaming_output and (
            index is None or waiter.definition.acceptors[index].state is not AcceptorState.SUCCESS
        ):
            # A body that will not be read is closed, so that its connection is free again.
            discard_response(response)
        facts, find_reason = waiter.of_response[index]
        safe_to_show = not waiter.data_model.sensitive
        return Attempt(
            facts=facts,
            response=response,
            observed=match.observed if safe_to_show else None,
            state=match.state if safe_to_show else None,
            service_message=None
            if match.message is None or not safe_to_show
            else message_of(match.message),
            find_reason=find_reason,
            last_response=response if isinstance(response, Mapping) else {},
            problems=match.problems,
            by_id=None
            if waiter.coalescing is None
            else ById(waiter.coalescing, self._parameters, response, self._judge_of_shares),
        )

    def _judge_of_shares(self) -> AcceptorOf:
        """Return what judges the response for one identifier; all have the steps of one."""
        matching, model, evaluation = (
            self._waiter.matching,
            self._waiter.data_model,
            SpecEvaluation(),
        )
        return lambda share, parameters: (
            matching.match_response(
                model.output(share), model.input(parameters), evaluation=evaluation
            ).index
        )

    def _failed(self, reply: Reply, error: Exception) -> Attempt:
        facts = error_facts(error, self._waiter.operation, endpoint=self._endpoint)
        match = self._waiter.matching.match_error(facts.names, status=facts.status)
        return facts.attempt(error, match.index, inconclusive=reply.ended is not None)

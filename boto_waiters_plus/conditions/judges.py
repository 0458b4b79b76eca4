"""Judges of what a callable returned or raised: by a waiter definition, or by cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any, NamedTuple

from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.errors import RAW
from ..engine.acceptors import AcceptorState
from ..engine.machine import Facts, RetryTransient
from ..engine.matching import Matching
from ..engine.model import WaiterDefinition
from ..engine.redaction import may_show
from ..service.data_model import DataModel, plain
from ..service.errors import error_facts
from ..wait.facts import Attempt, message_of
from .cases import Case
from .patterns import in_words


class ValueJudge:
    """Judges values and errors by the acceptors of a waiter definition.

    Args:
        definition: the waiter.
        input: the parameters that `inputOutput` matchers see.
        operation: the operation, if the callable is a method of a client.
    """

    def __init__(
        self,
        definition: WaiterDefinition,
        input: Mapping[str, Any] | None,
        operation: OperationModel | None = None,
    ) -> None:
        self._matching = Matching(definition.acceptors)
        self._operation = operation
        self._model = None if operation is None else DataModel(operation, self._matching.paths)
        self._input = plain(input) if self._model is None else self._model.input(input or {})

    @staticmethod
    def is_reply(error: Exception) -> bool:
        """Return whether acceptors may match an error; others are for the caller to correct."""
        return not isinstance(error, RAW)

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this value or error."""
        if reply.error is not None:
            facts = error_facts(reply.error, self._operation)
            bases = {each.__name__ for each in type(reply.error).__mro__}
            facts = replace(facts, names=facts.names | bases)
            match = self._matching.match_error(facts.names, status=facts.status)
            return facts.attempt(reply.error, match.index, inconclusive=reply.ended is not None)
        value, model = reply.response, self._model
        document = plain(value) if model is None else model.output(value)
        match = self._matching.match_response(document, self._input)
        is_sensitive = model is not None and model.sensitive
        return Attempt(
            facts=Facts(acceptor=match.index),
            response=value,
            observed=None if is_sensitive else match.observed,
            # Of a model, the path leads to a state; a callable may return anything.
            state=None if is_sensitive or model is None else match.state,
            service_message=None if is_sensitive else message_of(match.message),
            last_response=value if isinstance(value, Mapping) else {},
            problems=match.problems,
        )


class Evaluation(NamedTuple):
    """A value, and the index of the case that it matched; None: it matched none."""

    value: Any
    case: int | None


class CasesJudge:
    """Judges values by cases, the first that matches; an error is a retry.

    Args:
        cases: in order.
        is_retried: tells of an error whether it is retried.
        retry_transient: which transient errors are retried.
        observed: returns the part of a value that observers get.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        is_retried: Callable[[Exception], bool],
        *,
        retry_transient: RetryTransient,
        observed: Callable[[Any], Any] | None = None,
    ) -> None:
        self._cases = cases
        self._is_retried = is_retried
        self._retry_transient = retry_transient
        self._observed = observed
        self.last: Evaluation | None = None
        """The last evaluation of a value."""

    @property
    def last_value(self) -> Any:
        """The last value that the callable returned; None if it returned none."""
        return None if self.last is None else self.last.value

    def is_reply(self, error: Exception) -> bool:
        """Return whether an error may be retried; others are raised."""
        if self._is_retried(error):
            return True
        return self._retry_transient is not False and error_facts(error).transient

    def evaluate(self, value: Any) -> Reply:
        """Match a value against the cases; an error of a predicate counts as the callable's."""
        try:
            matching = (i for i, case in enumerate(self._cases) if case.pattern.matches(value))
            evaluation = Evaluation(value, next(matching, None))
        except Exception as error:
            if not self.is_reply(error):
                raise
            return Reply(error=error)
        self.last = evaluation
        return Reply(evaluation)

    def handle_retry(self, reply: Reply) -> Any:
        """Call the handler of the `retry` case that the value matched; return what it returns."""
        if reply.error is not None or reply.response.case is None:
            return None
        case = self._cases[reply.response.case]
        if case.state is not AcceptorState.RETRY or case.handler is None:
            return None
        return case.handler(reply.response.value)

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this evaluation or error."""
        if reply.error is not None:
            # The acceptor of retried errors follows those of the cases.
            facts = error_facts(reply.error)
            attempt = facts.attempt(reply.error, None, inconclusive=reply.ended is not None)
            if self._is_retried(reply.error):
                attempt.facts = replace(attempt.facts, acceptor=len(self._cases))
            return attempt
        value, index = reply.response
        observed = value if self._observed is None else self._observed(value)
        return Attempt(
            facts=Facts(acceptor=index),
            response=value,
            observed=observed if may_show(observed) else None,
            state=_state_of(observed),
            last_response=value if isinstance(value, Mapping) else {},
        )


def _state_of(value: Any) -> str:
    """Return a value in words that are safe to show."""
    size = f" of length {len(value)}" if isinstance(value, Sized) else ""
    return in_words(value) or f"a value of type {type(value).__name__}{size}"

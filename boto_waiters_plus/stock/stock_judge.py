"""Judges replies by the acceptors of a botocore waiter, in botocore's own comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import botocore.waiter
from botocore.exceptions import ClientError
from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.private_names import model_of_config
from ..definitions.shipped import unread_shipped
from ..engine.acceptors import AcceptorState, MatchedAcceptor
from ..engine.computed_once import computed_once
from ..engine.machine import Facts
from ..engine.model import WaitDescription
from ..engine.path_interpreter import EVALUATION_ERRORS, FailedExpression, Path, StockEvaluation
from ..engine.redaction import counted, state_text
from ..engine.reports import reported_text
from ..engine.state_seen import Seen, StateReader
from ..service.data_model import DataModel
from ..service.errors import ErrorFacts, error_facts
from ..service.judge import again
from ..service.labels import ResourceLabel
from ..service.new_states import failures_to_warn_of
from ..service.reasons import Compared, find_reason, indexes_of_missing
from ..service.reports import StateReports, shipped_reports
from ..service.shapes import state_path
from ..service.sharing import AcceptorOf, ById, Coalescing, coalescing_of
from ..wait.facts import Attempt, FoundReason

# Any other state is a retry, as in botocore's loop.
_STATES = {state.value: state for state in AcceptorState}

_COMPILED = "_boto_waiters_plus_acceptors"
"""The attribute of a waiter object that keeps compiled acceptors, by the name of the waiter."""

_Test = Callable[["_Evaluated"], bool]


class StockAcceptors:
    """The acceptors of a botocore waiter, compiled; shared by all waits of the waiter.

    Args:
        waiter: the waiter object. Acceptors of another class than botocore's are evaluated by
            their `matcher_func`.
        client: the client that it calls, if it can be told.
        model: the model of the operation, if it can be told.
    """

    def __init__(self, waiter: Any, client: Any, model: OperationModel | None) -> None:
        acceptors = list(waiter.config.acceptors)
        self.model = model
        self.expressions: dict[str, Path] = {}
        self.tests = [self._test(acceptor) for acceptor in acceptors]
        self.compared = [_compared(acceptor) for acceptor in acceptors]
        self.of_missing = indexes_of_missing(self.compared)
        paths = [("output", path) for path in self.expressions]
        self.is_sensitive = model is not None and DataModel(model, paths).sensitive
        self.description = WaitDescription(
            waiter=waiter.name,
            operation=getattr(waiter.config, "operation", waiter.name),
            service=client.meta.service_model.service_name if client is not None else None,
            goal="",
            acceptors=tuple(
                MatchedAcceptor(index, str(getattr(acceptor, "explanation", acceptor.state)))
                for index, acceptor in enumerate(acceptors)
            ),
            states=tuple(
                _STATES.get(acceptor.state, AcceptorState.RETRY) for acceptor in acceptors
            ),
            new_failures=frozenset()
            if model is None
            else failures_to_warn_of(waiter.name, [*filter(None, self.compared)], model),
        )

    @computed_once
    def resource_label(self) -> ResourceLabel | None:
        """Makes the labels of waits; None if the operation is not known."""
        return None if self.model is None else ResourceLabel(self.model)

    @computed_once
    def state(self) -> StateReader:
        """Reads the state seen."""
        paths = [
            ("output", each.path, isinstance(each.expected, bool)) for each in self.compared if each
        ]
        model = self.model
        return StateReader(paths, lambda names: None if model is None else state_path(model, names))

    @computed_once
    def reports(self) -> StateReports | None:
        """Reads what is reported of the state seen; None: nothing is."""
        model, waiter = self.model, self.description.waiter
        paths = () if model is None else shipped_reports(model, waiter)
        if model is None or not paths:
            return None
        # Another waiter on the operation may be about another state.
        is_known = waiter in unread_shipped(model.service_model.service_id.hyphenize())
        return StateReports(model, paths) if is_known else None

    @computed_once
    def coalescing(self) -> Coalescing | None:
        """How a response is split by the identifiers of the request; None: it has none."""
        return None if self.model is None else coalescing_of(self.model)

    def reason(self, matched: int | None, response: Any) -> FoundReason:
        """Return the service's reason for the state that a response shows; see `find_reason`."""
        if self.model is None:
            return FoundReason()
        return find_reason(self.model, response, self.compared, matched)

    def _test(self, acceptor: Any) -> _Test:
        if type(acceptor) is not botocore.waiter.AcceptorConfig:
            return lambda reply: bool(acceptor.matcher_func(reply.response))
        expected, path = acceptor.expected, _path_of(acceptor)
        if path is not None:
            self.expressions.setdefault(path, Path(path))
        # Comparisons are Python's here, as botocore's are: 1 == True.
        match acceptor.matcher:
            case "path":
                return lambda r: r.error is None and r.value(str(path)) == expected
            case "pathAll":
                return lambda r: _is_list_of(r.items(path), expected, all)
            case "pathAny":
                return lambda r: _is_list_of(r.items(path), expected, any)
            case "status":
                return lambda r: r.status == expected
            case _ if isinstance(expected, bool):
                # The installed botocore decides what a boolean means: 1.34 knows names only.
                return lambda r: bool(acceptor.matcher_func(r.response))
            case _:
                return lambda r: r.error is not None and expected in r.error.names


def acceptors_of(waiter: Any, client: Any, model: OperationModel | None) -> StockAcceptors:
    """Return the compiled acceptors of a waiter object, compiled at its first wait."""
    source = model_of_config(waiter.config)
    key = waiter.config if source is None else source
    kept: dict[str, tuple[Any, StockAcceptors]] = vars(waiter).setdefault(_COMPILED, {})
    known = kept.get(waiter.name)
    if known is not None and known[0] is key:
        return known[1]
    compiled = StockAcceptors(waiter, client, model)
    kept[waiter.name] = key, compiled
    return compiled


def share_acceptors(waiter: Any, kept: dict[str, Any]) -> None:
    """Let waiter objects of one client share compiled acceptors through `kept`, by name."""
    setattr(waiter, _COMPILED, kept)


class StockJudge:
    """The judge of one wait on a waiter object.

    Args:
        acceptors: those of the waiter.
        parameters: the operation's parameters.
        endpoint: the endpoint of the client, for errors that are not of the service.
    """

    __slots__ = "_acceptors", "_endpoint", "_error_index", "_last", "_last_error", "_parameters"

    def __init__(
        self, acceptors: StockAcceptors, parameters: Mapping[str, Any], endpoint: str | None
    ) -> None:
        self._acceptors = acceptors
        self._endpoint = endpoint
        self._parameters = parameters
        self._last: Attempt | None = None
        self._last_error: ErrorFacts | None = None

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this reply; an error response is an error."""
        acceptors, error, response = self._acceptors, reply.error, reply.response
        # A replaced operation returns the error response, as botocore's wrapper does.
        if error is None and botocore.waiter.is_valid_waiter_error(response):
            error = ClientError(response, acceptors.description.operation)
        if error is not None:
            last = self._last_error
            facts = error_facts(error, acceptors.model, endpoint=self._endpoint, last=last)
            if facts is not last:
                # botocore's acceptors see responses and error responses, nothing else.
                is_seen, seen = isinstance(error, ClientError), facts.response
                self._error_index = _Evaluated(acceptors, seen, facts).first() if is_seen else None
                self._last_error = facts
            return facts.attempt(error, self._error_index, inconclusive=reply.ended is not None)
        self._last_error = None
        self._last = again(self._last, response) or self._responded(response)
        return self._last

    def _responded(self, response: Any) -> Attempt:
        acceptors = self._acceptors
        evaluated = _Evaluated(acceptors, response, None)
        index = evaluated.first()
        seen = Seen() if acceptors.is_sensitive else evaluated.seen(index)
        reported = {} if acceptors.reports is None else acceptors.reports.read(response)
        return Attempt(
            facts=Facts(acceptor=index, missing=index in acceptors.of_missing),
            response=response,
            observed=seen.value,
            state=reported_text(reported) or seen.text,
            reported=reported,
            find_reason=partial(acceptors.reason, index),
            problems=tuple(evaluated.problems),
            by_id=None
            if acceptors.coalescing is None
            else ById(acceptors.coalescing, self._parameters, response, self._judge_of_shares),
        )

    def _judge_of_shares(self) -> AcceptorOf:
        """Return what judges the response for one identifier; all have the steps of one."""
        acceptors, evaluation = self._acceptors, StockEvaluation()
        return lambda share, _: _Evaluated(acceptors, share, None, evaluation).first()


class _Evaluated:
    """One response or error response, and the values of paths on it."""

    __slots__ = (*("_acceptors", "_evaluation", "_values", "error", "problems", "response"),)

    def __init__(
        self,
        acceptors: StockAcceptors,
        response: Any,
        error: ErrorFacts | None,
        evaluation: StockEvaluation | None = None,
    ) -> None:
        self._acceptors = acceptors
        self._evaluation = evaluation
        self._values: dict[str, Any] = {}
        self.response = response
        self.error = error
        self.problems: list[FailedExpression] = []

    def first(self) -> int | None:
        """Return the index of the first acceptor that matches."""
        for index, test in enumerate(self._acceptors.tests):
            if test(self):
                return index
        return None

    def seen(self, index: int | None) -> Seen:
        """Return the value of the matched acceptor's path, or the state seen."""
        compared = None if index is None else self._acceptors.compared[index]
        value = None if compared is None else self.value(compared.path)
        if index is not None and not isinstance(value, bool):
            return Seen(value, counted(value))
        seen = self._acceptors.state.read(
            self.response,
            {},
            lambda _, path: self.value(path),
            self._steps().evaluated,
        )
        return seen if index is None else Seen(value, state_text(seen.value, seen.text))

    def value(self, path: str) -> Any:
        """Return the value of a path; None where it cannot be evaluated."""
        if path not in self._values:
            try:
                expression = self._acceptors.expressions[path]
                self._values[path] = expression.value(self.response, self._steps())
            # A path that cannot be evaluated is no match; stock raises the error.
            except EVALUATION_ERRORS as error:
                self.problems.append(FailedExpression.of(path, error))
                self._values[path] = None
        return self._values[path]

    def _steps(self) -> StockEvaluation:
        """Return what counts the steps on this response; many waiters have no path."""
        if self._evaluation is None:
            self._evaluation = StockEvaluation()
        return self._evaluation

    def items(self, path: str | None) -> Any:
        """Return the value of a path on a response; None on an error."""
        return None if self.error else self.value(str(path))

    @property
    def status(self) -> Any:
        """The HTTP status; None if there is none."""
        if self.error is not None:
            return self.error.status
        if not isinstance(self.response, Mapping):
            return None
        return self.response.get("ResponseMetadata", {}).get("HTTPStatusCode")


def _is_list_of(items: Any, expected: Any, quantifier: Callable[[Sequence[bool]], bool]) -> bool:
    if not isinstance(items, list) or not items:
        return False
    return quantifier([item == expected for item in items])


def _path_of(acceptor: Any) -> str | None:
    if str(getattr(acceptor, "matcher", "")).startswith("path"):
        return getattr(acceptor, "argument", None)
    return None


def _compared(acceptor: Any) -> Compared | None:
    path = _path_of(acceptor)
    if path is None:
        return None
    state = _STATES.get(acceptor.state, AcceptorState.RETRY)
    return Compared(path, getattr(acceptor, "expected", None), state)

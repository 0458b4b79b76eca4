"""Matching of acceptors against one attempt (steps 3 and 4 of section "Waiter workflow").

A waiter's distinct expressions are compiled once. Each is evaluated at most once per attempt, and
only if an acceptor needs it before another one has matched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .acceptors import (
    Acceptor,
    DocumentMatcher,
    ErrorTypeMatcher,
    PathComparator,
    PathMatcher,
    SuccessMatcher,
    WordsMatcher,
)
from .computed_once import computed_once
from .path_interpreter import EVALUATION_ERRORS, FailedExpression, Path, SpecEvaluation
from .redaction import counted, state_text
from .state_seen import Seen, StateReader


class _Unusable:
    """The value of an expression that cannot be evaluated on the response."""

    def __repr__(self) -> str:
        return "<not evaluable>"


UNUSABLE: Final = _Unusable()


def _string_equals(value: Any, expected: str) -> bool:
    return isinstance(value, str) and value == expected


def _boolean_equals(value: Any, expected: str) -> bool:
    return value is (expected == "true")


def _all_string_equals(value: Any, expected: str) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        # Nothing but a string is equal to one.
        and value.count(expected) == len(value)
    )


def _any_string_equals(value: Any, expected: str) -> bool:
    return isinstance(value, list) and expected in value


_COMPARE: dict[PathComparator, Callable[[Any, str], bool]] = {
    PathComparator.STRING_EQUALS: _string_equals,
    PathComparator.BOOLEAN_EQUALS: _boolean_equals,
    PathComparator.ALL_STRING_EQUALS: _all_string_equals,
    PathComparator.ANY_STRING_EQUALS: _any_string_equals,
}


@dataclass(slots=True)
class Match:
    """The acceptor that matched, if any, and the values of its expressions."""

    index: int | None
    observed: Any = None
    """The value of its path; without a match the state seen."""
    state: str | None = None
    """The state seen in words, where `observed` does not tell it."""
    message: Any = None
    """The value of its `message` expression."""
    problems: tuple[FailedExpression, ...] = ()
    """The expressions that could not be evaluated."""


NO_MATCH: Final = Match(None)


class _Response:
    """One response and the values already computed on it."""

    __slots__ = ("documents", "evaluation", "problems", "status", "values")

    def __init__(
        self, documents: dict[str, Any], status: int | None, evaluation: SpecEvaluation | None
    ) -> None:
        self.documents = documents
        self.status = status
        self.values: dict[_Expression, Any] = {}
        self.problems: list[FailedExpression] = []
        self.evaluation = evaluation or SpecEvaluation()
        """Evaluates expressions on the response, and counts their steps together."""


class _Expression:
    """A compiled JMESPath expression on the output, or on input and output."""

    __slots__ = ("_path", "key")

    def __init__(self, kind: str, path: str) -> None:
        self.key = (kind, path)
        self._path = Path(path)

    def value(self, response: _Response) -> Any:
        values = response.values
        if self not in values:
            values[self] = self._evaluate(response)
        return values[self]

    def _evaluate(self, response: _Response) -> Any:
        kind, path = self.key
        try:
            return self._path.value(response.documents[kind], response.evaluation)
        except EVALUATION_ERRORS as error:
            problem = FailedExpression.of(path, error)
            # `[abs(State)][]` of `from_states` fails where `abs(State)` has failed.
            if not any(each.is_inside(problem) for each in response.problems):
                response.problems.append(problem)
            return UNUSABLE


_Test = Callable[[_Response], bool]


class _ErrorSeen(NamedTuple):
    """The names and the status of an error."""

    names: Collection[str]
    status: int | None


_ErrorTest = Callable[[_ErrorSeen], bool]


class Matching:
    """The compiled acceptors of a waiter. Threads may share it.

    Args:
        acceptors: in order.
        state_by_model: is given the members that lead from the root of a response to something, and
            returns the path of its state; used where the acceptors compare no state.
    """

    def __init__(
        self,
        acceptors: Sequence[Acceptor],
        *,
        state_by_model: Callable[[Sequence[str]], str | None] = lambda _: None,
    ) -> None:
        self._acceptors = tuple(acceptors)
        self._state_by_model = state_by_model
        self._expressions: dict[tuple[str, str], _Expression] = {}
        self._tests: list[_Test | None] = []
        self._error_tests: list[_ErrorTest | None] = []
        self._paths: list[_Expression | None] = []
        self._messages: list[_Expression | None] = []
        for acceptor in acceptors:
            self._add(acceptor)
        # A match of an error has no values.
        self._of_errors = tuple(Match(index) for index in range(len(self._tests)))

    @property
    def paths(self) -> tuple[tuple[str, str], ...]:
        """The distinct expressions, as pairs of matcher kind and text."""
        return tuple(self._expressions)

    def match_response(
        self,
        output: Any,
        input: Mapping[str, Any] | None = None,
        *,
        status: int | None = None,
        call: Mapping[str, Any] | None = None,
        item: Any = None,
        evaluation: SpecEvaluation | None = None,
    ) -> Match:
        """Match a response.

        Args:
            output, input: those of the attempt, in the JMESPath data model.
            status: the HTTP status.
            call: the `input` and `output` of the call whose effect is waited for.
            item: the one of several things that the call is about.
            evaluation: counts the steps; None: those of this response alone.
        """
        both = {"input": input, "output": output, "call": call, "item": item}
        response = _Response({"output": output, "inputOutput": both}, status, evaluation)
        for index, test in enumerate(self._tests):
            if test is not None and test(response):
                return self._matched(index, response)
        seen = self._seen(response)
        return Match(None, seen.value, seen.text, problems=tuple(response.problems))

    def match_error(self, names: Collection[str], *, status: int | None = None) -> Match:
        """Match an error with any of these names."""
        seen = _ErrorSeen(names, status)
        for index, test in enumerate(self._error_tests):
            if test is not None and test(seen):
                return self._of_errors[index]
        return NO_MATCH

    def _add(self, acceptor: Acceptor) -> None:
        expression: _Expression | None = None
        test: _Test | None = None
        error_test: _ErrorTest | None = None
        match acceptor.matcher:
            case DocumentMatcher(matcher=path_matcher, kind=kind):
                expression = self._expression(kind, path_matcher.path)
                test = _path_test(expression, path_matcher)
            case SuccessMatcher(success=success):
                test, error_test = (_any, None) if success else (None, _any)
            case ErrorTypeMatcher(name=name):
                error_test = _named(name)
            case _:
                test = error_test = _status_test(acceptor.matcher.status)
        self._tests.append(test)
        self._error_tests.append(error_test)
        self._paths.append(expression)
        message = acceptor.message
        self._messages.append(None if message is None else self._expression("output", message))

    def _expression(self, kind: str, path: str) -> _Expression:
        key = (kind, path)
        if key not in self._expressions:
            self._expressions[key] = _Expression(kind, path)
        return self._expressions[key]

    @computed_once
    def _state(self) -> StateReader:
        """Reads the state seen."""
        matchers = [each.matcher for each in self._acceptors]
        paths = [
            (each.kind, each.matcher.path, each.matcher.comparator is PathComparator.BOOLEAN_EQUALS)
            for each in matchers
            if isinstance(each, DocumentMatcher)
        ]
        return StateReader(paths, self._state_by_model)

    def _seen(self, response: _Response) -> Seen:
        def value_of(kind: str, path: str) -> Any:
            return _known(self._expressions[kind, path].value(response))

        evaluated = response.evaluation.evaluated
        documents = response.documents
        given = documents["inputOutput"]["input"]
        return self._state.read(documents["output"], given, value_of, evaluated)

    def _matched(self, index: int, response: _Response) -> Match:
        path, message = self._paths[index], self._messages[index]
        value = None if path is None else path.value(response)
        state = counted(value)
        # Neither true nor false is a state.
        if value is True or value is False:
            seen = self._seen(response)
            state = state_text(seen.value, seen.text)
        return Match(
            index,
            value,
            state,
            None if message is None else _known(message.value(response)),
            tuple(response.problems),
        )


def _path_test(expression: _Expression, matcher: PathMatcher) -> _Test:
    of_words = matcher.compare if isinstance(matcher, WordsMatcher) else None
    compare, expected = of_words or _COMPARE[matcher.comparator], matcher.expected
    return lambda response: compare(expression.value(response), expected)


def _status_test(status: int) -> Callable[[_Response | _ErrorSeen], bool]:
    return lambda seen: seen.status == status


def _named(name: str) -> _ErrorTest:
    return lambda seen: name in seen.names


def _any(_: _Response | _ErrorSeen) -> bool:
    return True


def _known(value: Any) -> Any:
    return None if value is UNUSABLE else value

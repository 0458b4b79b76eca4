"""Smithy's rules for waiters: what an operation's shapes and an expression's types forbid.

| rule | severity | id |
|---|---|---|
| minDelay is not above maxDelay; there is a success acceptor | ERROR | `WaitableTrait` |
| a name is one operation's alone in a service, whatever its case | ERROR | `UniqueWaiterNames` |
| an `errorType` is an error of the operation | WARNING | `WaitableTraitInvalidErrorType.W.i` |
| a path parses; `booleanEquals` expects true or false | ERROR | `WaitableTrait` |
| a path gives what its comparator compares | DANGER | `…Problem.ReturnTypeMismatch.W.i` |
| a path does nothing impossible | as found | `WaitableTrait`, `…Problem.JmespathEvent….W.i` |
| `message` is a failure's; it parses and gives text or a list of it | ERROR | `WaitableTrait` |
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..definitions.smithy import WAITABLE
from ..engine.model import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    WaiterDefinition,
)
from .events import Severity, Target, ValidationEvent
from .expressions import ExpressionSyntaxError, parse
from .samples import sample
from .shapes import Operation
from .type_checker import Verdict, lint

_RULE = "WaitableTrait"
_PROBLEM = f"{_RULE}JmespathProblem"
_TYPES = {PathComparator.BOOLEAN_EQUALS: "boolean", PathComparator.STRING_EQUALS: "string"}

Say = Callable[[Severity, str, str], ValidationEvent]


def check_waiters(
    target: Target, operation: Operation, waiters: Iterable[WaiterDefinition]
) -> Iterator[ValidationEvent]:
    """Check the waiters of an operation; the traits they are from must be well-formed."""
    checker = _OperationChecker(target, operation)
    for waiter in waiters:
        yield from checker.check(waiter)


def check_names(
    service: str, waiters: Mapping[str, tuple[Target, Iterable[str]]]
) -> Iterator[ValidationEvent]:
    """Check that no two operations of a service have a waiter of one name.

    Args:
        service: the id of the service.
        waiters: the names of each operation's waiters.
    """
    operations: dict[str, set[str]] = {}
    for shape, (_, names) in waiters.items():
        for name in names:
            operations.setdefault(name.lower(), set()).add(shape)
    for name, shapes in sorted(operations.items()):
        for shape in sorted(shapes) if len(shapes) > 1 else ():
            others = ", ".join(sorted(shapes - {shape}))
            target, names = waiters[shape]
            yield target.event(
                Severity.ERROR,
                "UniqueWaiterNames",
                f"`{WAITABLE}` trait waiter name `{name}` case-insensitively conflicts with "
                f"waiters on other operations in the closure of service, `{service}`: [{others}]",
                waiter=next(own for own in names if own.lower() == name),
            )


class _OperationChecker:
    """Checks waiters of one operation."""

    def __init__(self, target: Target, operation: Operation) -> None:
        self._target = target
        self._operation = operation
        self._output = sample(operation.output)
        self._both = {"input": sample(operation.input), "output": self._output}

    def check(self, waiter: WaiterDefinition) -> Iterator[ValidationEvent]:
        def error(message: str) -> ValidationEvent:
            return self._target.event(Severity.ERROR, _RULE, message, waiter=waiter.name)

        named = f"`{WAITABLE}` trait waiter named `{waiter.name}`"
        if waiter.min_delay > waiter.max_delay:
            yield error(
                f"{named} has a `minDelay` value of {waiter.min_delay} that is greater than its "
                f"`maxDelay` value of {waiter.max_delay}"
            )
        for index, acceptor in enumerate(waiter.acceptors):
            yield from self._acceptor(acceptor, waiter.name, index)
        if AcceptorState.SUCCESS not in waiter.states:
            yield error(f"No success state matcher found for {named}")

    def _acceptor(self, acceptor: Acceptor, waiter: str, index: int) -> Iterator[ValidationEvent]:
        def say(severity: Severity, event_id: str, message: str) -> ValidationEvent:
            if event_id != _RULE:
                event_id = f"{event_id}.{waiter}.{index}"
            return self._target.of_acceptor(
                severity, event_id, message, waiter=waiter, acceptor=index
            )

        match acceptor.matcher:
            case OutputMatcher(matcher=matcher):
                yield from self._path_matcher(say, matcher, self._output)
            case InputOutputMatcher(matcher=matcher):
                yield from self._path_matcher(say, matcher, self._both)
            case ErrorTypeMatcher(error_type=error_type):
                yield from self._error_type(say, error_type)
        if acceptor.message is not None:
            yield from self._message(say, acceptor.state, acceptor.message)

    def _path_matcher(
        self, say: Say, matcher: PathMatcher, document: Any
    ) -> Iterator[ValidationEvent]:
        comparator, found = matcher.comparator, "any"
        try:
            verdict = _verdict(matcher.path, document)
        except ExpressionSyntaxError as error:
            text = f"Invalid JMESPath expression ({matcher.path}): {error}"
            yield say(Severity.ERROR, _RULE, text)
        else:
            yield from _problems(say, matcher.path, verdict)
            found = verdict.return_type
        if comparator is PathComparator.BOOLEAN_EQUALS and matcher.expected not in (
            "true",
            "false",
        ):
            yield say(
                Severity.ERROR,
                _RULE,
                f"Waiter acceptors with a {comparator.value} comparator must set their `expected` "
                f"value to 'true' or 'false', but found '{matcher.expected}'.",
            )
        wanted = _TYPES.get(comparator, "array")
        if self._operation.known and found not in ("any", wanted):
            yield say(
                Severity.DANGER,
                f"{_PROBLEM}.ReturnTypeMismatch",
                f"Waiter acceptors with a {comparator.value} comparator must return a `{wanted}` "
                f"type, but this acceptor was statically determined to return a `{found}` type.",
            )

    def _error_type(self, say: Say, error_type: str) -> Iterator[ValidationEvent]:
        errors = self._operation.errors
        known = {name for error in errors for name in (error.shape, error.name)}
        if self._operation.codes_count:
            known |= {error.code for error in errors if error.code is not None}
        if error_type in known:
            return
        shapes = ", ".join(error.shape for error in errors)
        message = (
            f"errorType '{error_type}' not found on operation. "
            f"This operation defines the following errors: [{shapes}]"
        )
        names = {name.rpartition("#")[2] for name in known} | {*self._operation.other_errors}
        if error_type in names:
            message += ". Another operation of the service has it"
        elif near := nearest(error_type.rpartition("#")[2], names):
            message += f". Did you mean '{near}'?"
        yield say(Severity.WARNING, f"{_RULE}InvalidErrorType", message)

    def _message(
        self, say: Say, state: AcceptorState, expression: str
    ) -> Iterator[ValidationEvent]:
        if state is not AcceptorState.FAILURE:
            yield say(
                Severity.ERROR,
                _RULE,
                "The `message` property is only valid on acceptors with a `failure` state, "
                f"but found state `{state.value}`.",
            )
            return
        wanted = "The `message` JMESPath expression must resolve to a string or an array of strings"
        try:
            verdict = _verdict(expression, self._output)
            yield from _problems(say, expression, verdict)
            kind = verdict.return_type
            if kind == "array":
                element = _verdict(f"{expression}[0]", self._output).return_type
                found = f"resolves to an array of `{element}`" if element != "string" else ""
            else:
                static = f"was statically determined to return a `{kind}` type"
                found = static if kind != "string" else ""
        except ExpressionSyntaxError as error:
            text = f"Invalid JMESPath expression in `message` ({expression}): {error}"
            yield say(Severity.ERROR, _RULE, text)
        else:
            if found and self._operation.known:
                yield say(Severity.ERROR, _RULE, f"{wanted}, but this expression {found}.")


def nearest(name: str, names: Iterable[str], *, likeness: float = 0.8) -> str | None:
    """The name most like this one, if any is like enough (1 is the same) to have been meant."""
    by_folded = {other.casefold(): other for other in sorted(names)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=likeness)
    return by_folded[found[0]] if found else None


def _verdict(expression: str, document: Any) -> Verdict:
    return lint(parse(expression), document)


def _problems(say: Say, expression: str, verdict: Verdict) -> Iterator[ValidationEvent]:
    ids = {
        Severity.ERROR: _RULE,
        Severity.DANGER: f"{_PROBLEM}.JmespathEventDanger",
        Severity.WARNING: f"{_PROBLEM}.JmespathEventWarning",
    }
    for problem in verdict.problems:
        yield say(
            problem.severity,
            ids[problem.severity],
            f"Problem found in JMESPath expression ({expression}): {problem.message} "
            f"({problem.line}:{problem.column})",
        )

"""Smithy's rules for waiters: what an operation's shapes and an expression's types forbid.

| rule | severity | id |
|---|---|---|
| minDelay is at most maxDelay; there is a success acceptor | ERROR | `WaitableTrait` |
| the names of a service's waiters differ by more than case | ERROR | `UniqueWaiterNames` |
| an `errorType` is an error of the operation | WARNING | `WaitableTraitInvalidErrorType.W.i` |
| a path parses; `booleanEquals` expects true or false | ERROR | `WaitableTrait` |
| a path returns what its comparator compares | DANGER | `…Problem.ReturnTypeMismatch.W.i` |
| a path passes the linter | as found | `WaitableTrait`, `…Problem.JmespathEvent….W.i` |
| `message` is on a failure; it parses, returns text or a list of it | ERROR | `WaitableTrait` |

The form of a `waitable` trait comes first, as Smithy checks any, and that of `waiters-2`:

| rule | severity | id |
|---|---|---|
| the trait is on an operation without event streams | ERROR | `TraitTarget` |
| names and tags are well-formed, lists are not empty, delays are integers | ERROR | `TraitValue` |
| delays are at least 1 | ERROR | `TraitValue.Target.InvalidRange` |
| members are known | WARNING | `TraitValue.UnknownMember.<shape>.<member>` |
| a waiter's `description` is its `documentation` | NOTE | the same |
| matchers are known | ERROR | `TraitValue.UnknownMember.<shape>.<member>` |
| all else has the right type | ERROR | `Model` |

The loader's parser, in `definitions.smithy`, finds all ERRORs but the first.

botocore, and with it the loader, tolerates these problems of `waiters-2` documents:

| rule | severity | id |
|---|---|---|
| a state is success, failure or retry | DANGER | `WaiterUnknownState.W.i` |
| a waiter has acceptors | WARNING | `WaiterWithoutAcceptors.W` |
"""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

from ..definitions.parsing import Place, RuleError, require_mapping
from ..definitions.smithy import UNIQUE_NAMES, WAITABLE, conflicts, documentation_in, read_waiter
from ..definitions.waiters2 import STATE_OF_NO_EFFECT, is_template
from ..definitions.words import READS, SAFE_METHODS, is_changing, verb_of
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    DocumentMatcher,
    ErrorTypeMatcher,
    Matcher,
    PathComparator,
    PathMatcher,
    StatusMatcher,
    SuccessMatcher,
)
from ..engine.model import WAITER_NAME_PROBLEM, WaiterDefinition
from .documents import Document, Target
from .events import Finding, Severity, ValidationEvent
from .expressions import ExpressionSyntaxError, lint, parse, sample
from .model import OperationShapes, enum_of
from .paths import TracedPath, TracedWaiter

_NAMESPACE = "smithy.waiters#"
_MEMBERS = {
    "Waiter": {"documentation", "acceptors", "minDelay", "maxDelay", "deprecated", "tags"},
    "Acceptor": {"state", "matcher", "message"},
    "PathMatcher": {"path", "expected", "comparator"},
}


def read_trait(
    target: Target, waitable: Any
) -> tuple[list[WaiterDefinition], list[ValidationEvent]]:
    """Read the value of a trait.

    Returns:
        The waiters and the events; the waiters are usable only if no event is an ERROR.
    """
    problems: list[RuleError] = []
    place = Place("trait", problems=problems)
    definitions = []
    waiters = place.attempt(require_mapping, waitable, WAITABLE) or {}
    if waitable == {}:
        problems.append(place.error("the trait has no waiter", "TraitValue"))
    for name, body in waiters.items():
        operation = str(target.shape).rpartition("#")[2]
        in_waiter = place.in_waiter(name)
        definitions.append(in_waiter.attempt(read_waiter, name, body, operation=operation))
    if problems:
        return [], [_event(target, problem) for problem in problems]
    return definitions, list(_unknown_members(target, waiters))


def _event(target: Target, error: RuleError) -> ValidationEvent:
    name, index = error.waiter, error.acceptor
    if index is not None:
        text = error.problem
    elif name is None:
        text = f"Trait `{WAITABLE}`: {error.problem}"
    elif error.problem != WAITER_NAME_PROBLEM:
        text = f"Waiter `{name}`: {error.problem}"
    else:
        text = (
            f"Error validating trait `{WAITABLE}`.{name} (map-key): String value provided for "
            f"`{_NAMESPACE}WaiterName` must match regular expression: ^[A-Z]+[A-Za-z0-9]*$"
        )
    return target.event(Severity.ERROR, error.rule, text, waiter=name, acceptor=index)


def _unknown_members(target: Target, waitable: Mapping[str, Any]) -> Iterator[ValidationEvent]:
    for name, waiter in waitable.items():
        parts: list[tuple[str, Any, int | None]] = [("Waiter", waiter, None)]
        for index, acceptor in enumerate(waiter["acceptors"]):
            [matcher] = acceptor["matcher"].values()
            parts.append(("Acceptor", acceptor, index))
            if isinstance(matcher, Mapping):
                parts.append(("PathMatcher", matcher, index))
        for kind, part, place in parts:
            for member in [each for each in part if each not in _MEMBERS[kind]]:
                event_id = f"TraitValue.UnknownMember.{_NAMESPACE}{kind}.{member}"
                text = f"`{_NAMESPACE}{kind}` has no member `{member}`; it is "
                is_read = kind == "Waiter" and member == documentation_in(part)
                severity = Severity.NOTE if is_read else Severity.WARNING
                text += "read as `documentation`" if is_read else "ignored"
                yield target.event(severity, event_id, text, waiter=name, acceptor=place)


def check_waiters2(document: Document) -> Iterator[ValidationEvent]:
    """Check a `waiters-2` document whose waiters could be loaded."""
    target = Target(None, document, ("waiters",))
    for name, body in document.data["waiters"].items():
        if is_template(body):
            text = "it has no acceptors and is ignored"
            yield target.finding(name, Finding(Severity.WARNING, "WaiterWithoutAcceptors", text))
            continue
        for index, acceptor in enumerate(body["acceptors"]):
            if acceptor["state"] == STATE_OF_NO_EFFECT:
                text = f"`{STATE_OF_NO_EFFECT}` is not a state; botocore treats it as `retry`"
                finding = Finding(Severity.DANGER, "WaiterUnknownState", text, index)
                yield target.finding(name, finding)


# --- what shapes and types forbid ----------------------------------------------------------------

_RULE = "WaitableTrait"
_PROBLEM = f"{_RULE}JmespathProblem"
_TYPES = {PathComparator.BOOLEAN_EQUALS: "boolean", PathComparator.STRING_EQUALS: "string"}
_LINT_IDS = {
    Severity.ERROR: _RULE,
    Severity.DANGER: f"{_PROBLEM}.JmespathEventDanger",
    Severity.WARNING: f"{_PROBLEM}.JmespathEventWarning",
}


def check_waiter(waiter: WaiterDefinition, checker: AcceptorChecker) -> Iterator[Finding]:
    """Check a waiter and its acceptors."""
    named = f"`{WAITABLE}` trait waiter named `{waiter.name}`"
    if waiter.min_delay > waiter.max_delay:
        text = (
            f"{named} has a `minDelay` value of {waiter.min_delay} that is greater than its "
            f"`maxDelay` value of {waiter.max_delay}"
        )
        yield Finding(Severity.ERROR, _RULE, text)
    for index, acceptor in enumerate(waiter.acceptors):
        yield from (finding._replace(acceptor=index) for finding in checker.check(acceptor))
    if AcceptorState.SUCCESS not in waiter.states:
        yield Finding(Severity.ERROR, _RULE, f"No success state matcher found for {named}")


def check_names(
    service: str, waiters: list[tuple[Target, WaiterDefinition]]
) -> Iterator[tuple[Target, ValidationEvent]]:
    """Check that the names of waiters are unique in a service; yield events with their targets.

    Args:
        service: the shape id of the service.
        waiters: its waiters, each with what it is about.
    """
    targets = {id(waiter): target for target, waiter in waiters}
    by_name: dict[str, dict[int, WaiterDefinition]] = {}
    for pair in conflicts([waiter for _, waiter in waiters]):
        by_name.setdefault(pair[0].name.lower(), {}).update({id(each): each for each in pair})
    for _, group in sorted(by_name.items()):
        shapes = {str(targets[key].shape) for key in group}
        for key, waiter in sorted(group.items(), key=lambda item: str(targets[item[0]].shape)):
            others = ", ".join(sorted(shapes - {str(targets[key].shape)}))
            text = f"waiters on other operations in the closure of service, `{service}`: [{others}]"
            if not others:
                text = f"another waiter of the operation in the service, `{service}`"
            name = waiter.name.lower()
            text = (
                f"`{WAITABLE}` trait waiter name `{name}` case-insensitively conflicts with {text}"
            )
            event = targets[key].event(Severity.ERROR, UNIQUE_NAMES, text, waiter=waiter.name)
            yield targets[key], event


class AcceptorChecker:
    """Checks acceptors of one operation."""

    def __init__(self, operation: OperationShapes) -> None:
        self._operation = operation
        self._output = sample(operation.output)
        both = {"input": sample(operation.input), "output": self._output}
        self._documents = {"output": self._output, "inputOutput": both}

    def check(self, acceptor: Acceptor) -> Iterator[Finding]:
        """Check an acceptor."""
        match acceptor.matcher:
            case DocumentMatcher(matcher=matcher, kind=kind):
                yield from self._path_matcher(matcher, self._documents[kind])
            case ErrorTypeMatcher(error_type=error_type):
                yield from self._error_type(error_type)
        if acceptor.message is not None and acceptor.state is AcceptorState.FAILURE:
            yield from self._message(acceptor.message)
        elif acceptor.message is not None:
            text = "The `message` property is only valid on acceptors with a `failure` state, "
            yield Finding(Severity.ERROR, _RULE, f"{text}but found state `{acceptor.state.value}`.")

    def _path_matcher(self, matcher: PathMatcher, document: Any) -> Iterator[Finding]:
        comparator = matcher.comparator
        acceptors = f"Waiter acceptors with a {comparator.value} comparator"
        is_boolean = comparator is PathComparator.BOOLEAN_EQUALS
        found = yield from _lint(matcher.path, document)
        if is_boolean and matcher.expected not in ("true", "false"):
            text = (
                f"{acceptors} must set their `expected` value to 'true' or 'false', "
                f"but found '{matcher.expected}'."
            )
            yield Finding(Severity.ERROR, _RULE, text)
        wanted = _TYPES.get(comparator, "array")
        if self._operation.known and found not in (None, "any", wanted):
            text = (
                f"{acceptors} must return a `{wanted}` type, but this acceptor was statically "
                f"determined to return a `{found}` type."
            )
            yield Finding(Severity.DANGER, f"{_PROBLEM}.ReturnTypeMismatch", text)

    def _error_type(self, error_type: str) -> Iterator[Finding]:
        errors = self._operation.errors
        known = {name for error in errors for name in (error.shape, error.name)}
        if self._operation.matches_codes:
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
            message += ". Another operation of the service defines it"
        elif near := nearest(error_type.rpartition("#")[2], names):
            message += f". Did you mean '{near}'?"
        yield Finding(Severity.WARNING, f"{_RULE}InvalidErrorType", message)

    def _message(self, expression: str) -> Iterator[Finding]:
        kind = yield from _lint(expression, self._output, "expression in `message`")
        found = f"was statically determined to return a `{kind}` type"
        if kind == "array":
            element = _return_type(f"{expression}[0]", self._output)
            found = f"resolves to an array of `{element}`"
            kind = "string" if element == "string" else kind
        if self._operation.known and kind not in (None, "string"):
            text = "The `message` JMESPath expression must resolve to a string or an array of "
            yield Finding(Severity.ERROR, _RULE, f"{text}strings, but this expression {found}.")


def _lint(
    expression: str, document: Any, what: str = "expression"
) -> Generator[Finding, None, str | None]:
    """Yield the problems of an expression; return its type, or None if it does not parse."""
    try:
        result = lint(parse(expression), document)
    except ExpressionSyntaxError as error:
        yield Finding(Severity.ERROR, _RULE, f"Invalid JMESPath {what} ({expression}): {error}")
        return None
    for problem in result.problems:
        text = f"Problem found in JMESPath expression ({expression}): {problem.message}"
        yield Finding(problem.severity, _LINT_IDS[problem.severity], text)
    return result.return_type


def _return_type(expression: str, document: Any) -> str:
    try:
        return lint(parse(expression), document).return_type
    except ExpressionSyntaxError:  # too long with what was added to it
        return "any"


def nearest(name: str, names: Iterable[str], *, similarity: float = 0.8) -> str | None:
    """Return the most similar name, if one is at least that similar (1: the same)."""
    by_folded = {other.casefold(): other for other in sorted(names)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=similarity)
    return by_folded[found[0]] if found else None


# --- acceptors that never match, and operations that do not suit a wait --------------------------
# The docstring of the package lists these rules.

_LISTED = 12  # values of an enumeration in a message


def check_acceptors(waiter: TracedWaiter) -> Iterator[Finding]:
    """Check which acceptors of a waiter can match."""
    acceptors = waiter.definition.acceptors
    matching: set[AcceptorState] = set()
    for index, acceptor in enumerate(acceptors):
        path = waiter.paths.get(index)
        earlier = enumerate(acceptors[:index])
        first = next((each for each in earlier if _covers(each[1].matcher, acceptor.matcher)), None)
        if first is None and not (path and path.expected and not path.expected.can_match):
            matching.add(acceptor.state)
        for finding in _findings(acceptor, path, first):
            yield finding._replace(acceptor=index)
    if AcceptorState.SUCCESS in {*waiter.definition.states} - matching:
        yield Finding(Severity.DANGER, "WaiterNeverSucceeds", "no success acceptor can match")


def _findings(
    acceptor: Acceptor, path: TracedPath | None, covering: tuple[int, Acceptor] | None
) -> Iterator[Finding]:
    if covering is not None:
        index, other = covering
        message = f"never matches: acceptor {index} ({other.describe()}) always matches first"
        yield Finding(Severity.WARNING, "WaiterUnreachableAcceptor", message)
    if isinstance(acceptor.matcher, StatusMatcher):
        message = "only botocore matches HTTP statuses; no other Smithy tool has this matcher"
        yield Finding(Severity.NOTE, "WaiterStatusMatcher", message)
    if path is None:
        return
    for message in _unknown_values(path):
        yield Finding(Severity.WARNING, "WaiterUnknownEnumValue", message)
    if path.expression.parsed_differently:
        message = (
            f"jmespath.py applies the end of {path.expression.text} to a projection's whole list, "
            "the JMESPath grammar to each element; write `| [*]` after the projection"
        )
        yield Finding(Severity.WARNING, "WaiterPathReadDifferently", message)


def _unknown_values(path: TracedPath) -> Iterator[str]:
    for comparison in path.comparisons:
        if comparison.can_match:
            continue
        values = enum_of(comparison.shape)
        where = "expected" if comparison is path.expected else f"in {path.expression.text}"
        listed = ", ".join(values[:_LISTED]) + (", …" if len(values) > _LISTED else "")
        near = nearest(comparison.value, values, similarity=0.6)
        hint = f". Did you mean '{near}'?" if near else ""
        name = comparison.shape.name.rpartition("#")[2]
        yield f"'{comparison.value}' ({where}) is not a value of {name} [{listed}]{hint}"


def _covers(general: Matcher, special: Matcher) -> bool:
    """Whether a matcher matches whenever a special one does."""
    match general, special:
        case SuccessMatcher(success=True), DocumentMatcher():
            return True
        case SuccessMatcher(success=False), ErrorTypeMatcher():
            return True
        case ErrorTypeMatcher(name=one), ErrorTypeMatcher(name=other):
            return one == other
        case DocumentMatcher(one), DocumentMatcher(other) if general.kind == special.kind:
            if (one.path, one.expected) != (other.path, other.expected):
                return False
            some, every = PathComparator.ANY_STRING_EQUALS, PathComparator.ALL_STRING_EQUALS
            pair = (one.comparator, other.comparator)
            return one.comparator is other.comparator or pair == (some, every)
        case _:
            return general == special


def check_operation(operation: OperationShapes) -> Iterator[Finding]:
    """Check the operation of a waiter."""
    name, method = operation.name, operation.http_method
    rule, text = "WaiterOperationNotReadOnly", f"every attempt calls {name}, which"
    if operation.read_only:
        pass
    elif is_changing(name, method):
        yield Finding(Severity.DANGER, rule, f"{text} may modify resources")
    elif verb_of(name) not in READS and method not in (*SAFE_METHODS, None):
        yield Finding(Severity.NOTE, rule, f"{text} is not known to be read-only ({method})")

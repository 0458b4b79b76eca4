"""Waiters, acceptors and matchers, in the terms of the specification.

The package `definitions` parses and validates them; the objects of this module are valid.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..arguments import check_order, seconds, text, texts

DEFAULT_MIN_DELAY = 2
DEFAULT_MAX_DELAY = 120

GENERATED = "generated"
"""The tag of a shipped waiter that was converted from botocore's."""

DENIED_WHEN_GONE = "denied-when-gone"
"""The tag of a waiter whose service denies access to a resource that is gone."""

WAITER_NAME = re.compile(r"[A-Z]+[A-Za-z0-9]*\Z")
WAITER_NAME_PROBLEM = "a waiter name is UpperCamelCase and alphanumeric"


class AcceptorState(str, enum.Enum):
    """The state an acceptor moves the waiter to (section "AcceptorState enum")."""

    SUCCESS = "success"
    FAILURE = "failure"
    RETRY = "retry"


class PathComparator(str, enum.Enum):
    """How the value of a path is compared (section "PathComparator enum")."""

    STRING_EQUALS = "stringEquals"
    BOOLEAN_EQUALS = "booleanEquals"
    ALL_STRING_EQUALS = "allStringEquals"
    ANY_STRING_EQUALS = "anyStringEquals"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathMatcher:
    """A JMESPath expression, the expected value, and how the two are compared."""

    path: str
    expected: str
    comparator: PathComparator

    def describe(self) -> str:
        """Describe the matcher in words."""
        match self.comparator:
            case PathComparator.ALL_STRING_EQUALS:
                return f"every {self.path} is {self.expected!r}"
            case PathComparator.ANY_STRING_EQUALS:
                return f"any {self.path} is {self.expected!r}"
            case PathComparator.BOOLEAN_EQUALS:
                return f"{self.path} is {self.expected}"
            case PathComparator.STRING_EQUALS:
                return f"{self.path} is {self.expected!r}"

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this structure."""
        return {
            "path": self.path,
            "expected": self.expected,
            "comparator": self.comparator.value,
        }


@dataclass(frozen=True, slots=True)
class OutputMatcher:
    """Matches on the output of an operation that succeeded."""

    matcher: PathMatcher

    def describe(self) -> str:
        """Describe the matcher in words."""
        return self.matcher.describe()

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this matcher."""
        return {"output": self.matcher.to_json()}


@dataclass(frozen=True, slots=True)
class InputOutputMatcher:
    """Matches on `{"input": ..., "output": ...}` of an operation that succeeded."""

    matcher: PathMatcher

    def describe(self) -> str:
        """Describe the matcher in words."""
        return self.matcher.describe()

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this matcher."""
        return {"inputOutput": self.matcher.to_json()}


@dataclass(frozen=True, slots=True)
class SuccessMatcher:
    """Matches any response (`True`) or any error (`False`)."""

    success: bool

    def describe(self) -> str:
        """Describe the matcher in words."""
        return "the call succeeds" if self.success else "the call fails"

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this matcher."""
        return {"success": self.success}


@dataclass(frozen=True, slots=True)
class ErrorTypeMatcher:
    """Matches an error by its name, ignoring the namespace of an absolute shape id."""

    error_type: str

    @property
    def name(self) -> str:
        """The name without its namespace: `NotFound` for `com.amazonaws.s3#NotFound`."""
        return self.error_type.rpartition("#")[2]

    def describe(self) -> str:
        """Describe the matcher in words."""
        return f"the call fails with {self.name}"

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this matcher."""
        return {"errorType": self.error_type}


@dataclass(frozen=True, slots=True)
class StatusMatcher:
    """Matches an HTTP status. Only botocore's own waiters have it, not the specification."""

    status: int

    def describe(self) -> str:
        """Describe the matcher in words."""
        return f"the HTTP status is {self.status}"

    def to_json(self) -> dict[str, Any]:
        """Return a form that only the digest uses: Smithy has none."""
        return {"status": self.status}


Matcher = OutputMatcher | InputOutputMatcher | SuccessMatcher | ErrorTypeMatcher | StatusMatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptor:
    """A matcher and the state that it leads to."""

    state: AcceptorState
    matcher: Matcher
    message: str | None = None
    """A JMESPath expression for the service's own reason (failure acceptors only)."""

    def describe(self) -> str:
        """Describe the acceptor in words, for messages and help."""
        return f"{self.state.value} when {self.matcher.describe()}"

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this structure."""
        body: dict[str, Any] = {"state": self.state.value, "matcher": self.matcher.to_json()}
        if self.message is not None:
            body["message"] = self.message
        return body


@dataclass(frozen=True, slots=True)
class MatchedAcceptor:
    """An acceptor that matched, as outcomes and errors carry it."""

    index: int
    text: str
    """The acceptor in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiterDefinition:
    """One named waiter of one operation (section "Waiter structure").

    `load_definitions` makes them from files. `min_delay` and `max_delay` are in seconds.
    """

    name: str
    operation: str
    acceptors: tuple[Acceptor, ...]
    min_delay: float = DEFAULT_MIN_DELAY
    max_delay: float = DEFAULT_MAX_DELAY
    documentation: str = ""
    deprecated: bool = False
    tags: tuple[str, ...] = ()
    service: str | None = None
    """The service, by its Smithy namespace, service id or botocore name. None for any service."""
    source: str = field(default="", compare=False)
    """The file (or kind of place) the definition was read from, for messages."""

    def __hash__(self) -> int:
        """Hash what identifies the waiter; hashing its acceptors would take longer."""
        return hash((self.service, self.operation, self.name))

    @classmethod
    def from_states(
        cls,
        name: str,
        operation: str,
        *,
        path: str,
        success: Iterable[str],
        failure: Iterable[str] = (),
        success_on_error: Iterable[str] = (),
        retry_on_error: Iterable[str] = (),
        min_delay: float = 2,
        max_delay: float = 30,
        many: Literal["all", "any"] = "all",
    ) -> WaiterDefinition:
        """Return a waiter that compares the state of a resource.

        A state in neither list is a retry. An error that is not named is a failure.

        Args:
            name: the name of the waiter, such as `JobDone`.
            operation: the operation to poll, such as `DescribeJob`.
            path: the JMESPath expression for the state in the response, such as `Job.Status`. It
                may give a list of states.
            success: the states that end the wait with success.
            failure: the states that end it with `WaiterFailedError`; in a list, one is enough.
            success_on_error: the errors that end it with success, such as `NotFound` for a
                deletion.
            retry_on_error: the errors that continue it.
            min_delay: the least delay between two attempts, in seconds.
            max_delay: the longest delay between two attempts, in seconds.
            many: for a list that is not empty, whether `"all"` of its states have to be in
                `success`, or `"any"` of them. With `"any"`, success is decided before failure.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument has a value that makes no sense, or a value is in two lists.
        """
        from .state_acceptors import state_acceptors  # noqa: PLC0415 - it imports this module

        if not WAITER_NAME.match(text("name", name)):
            raise ValueError(f"name: {WAITER_NAME_PROBLEM}, not {name!r}")
        if many not in ("all", "any"):
            raise ValueError(f"many must be 'all' or 'any', not {many!r}")
        check_order(seconds("min_delay", min_delay), seconds("max_delay", max_delay))
        good, bad = texts("success", success), texts("failure", failure)
        ends, retried = (
            texts("success_on_error", success_on_error),
            texts("retry_on_error", retry_on_error),
        )
        if not good and not ends:
            raise ValueError("success and success_on_error are empty: the wait could not succeed")
        if both := {*good} & {*bad} | {*ends} & {*retried}:
            raise ValueError(f"{min(both)!r} cannot be both a success and another state")
        errors = [(AcceptorState.SUCCESS, each) for each in ends]
        errors += [(AcceptorState.RETRY, each) for each in retried]
        return cls(
            name=name,
            operation=text("operation", operation),
            acceptors=(
                *state_acceptors(text("path", path), good, bad, every=many == "all"),
                *(Acceptor(state=state, matcher=ErrorTypeMatcher(e)) for state, e in errors),
            ),
            min_delay=seconds("min_delay", min_delay),
            max_delay=seconds("max_delay", max_delay),
            source="WaiterDefinition.from_states",
        )

    @property
    def states(self) -> tuple[AcceptorState, ...]:
        """The states of the acceptors, in order."""
        return tuple(acceptor.state for acceptor in self.acceptors)

    @property
    def goal(self) -> str:
        """The matchers of the success acceptors, in words."""
        matchers = [a.matcher for a in self.acceptors if a.state is AcceptorState.SUCCESS]
        # `from_states` compares a path as a string and, in case it gives a list, in brackets.
        paths = [m.matcher.path for m in matchers if isinstance(m, OutputMatcher)]
        bracketed = tuple(f"[{path}][]" for path in paths)
        texts = [m.describe() for m in matchers if not any(b in m.describe() for b in bracketed)]
        return " or ".join(dict.fromkeys(texts))

    def matched(self, index: int) -> MatchedAcceptor:
        """Return the acceptor with this index, as outcomes and errors carry it."""
        return MatchedAcceptor(index, self.acceptors[index].describe())

    @property
    def digest(self) -> str:
        """A hash of the operation and the acceptors, kept with the stored state of a wait."""
        text = json.dumps(
            [self.operation, [acceptor.to_json() for acceptor in self.acceptors]],
            sort_keys=True,
            separators=(",", ":"),
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """Return the value of the `smithy.waiters#waitable` trait for this waiter."""
        body: dict[str, Any] = {}
        if self.documentation:
            body["documentation"] = self.documentation
        body["acceptors"] = [acceptor.to_json() for acceptor in self.acceptors]
        if self.min_delay != DEFAULT_MIN_DELAY:
            body["minDelay"] = self.min_delay
        if self.max_delay != DEFAULT_MAX_DELAY:
            body["maxDelay"] = self.max_delay
        if self.deprecated:
            body["deprecated"] = True
        if self.tags:
            body["tags"] = list(self.tags)
        return body

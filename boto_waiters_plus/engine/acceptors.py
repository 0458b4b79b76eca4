"""Acceptors and matchers, in the terms of the specification."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..common.values import Value


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PathMatcher(Value):
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WordsMatcher(PathMatcher):
    """Matches the states that say that something failed; never part of a definition in a file."""

    expected: str = ""
    comparator: PathComparator = PathComparator.ANY_STRING_EQUALS
    compare: Callable[[Any, str], bool]

    def describe(self) -> str:
        """Describe the matcher in words."""
        return f"{self.path} says that it failed"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DocumentMatcher(Value):
    """Matches on a document of an operation that succeeded."""

    matcher: PathMatcher
    kind: ClassVar[str]
    """The member of the Smithy form."""

    def describe(self) -> str:
        """Describe the matcher in words."""
        return self.matcher.describe()

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this matcher."""
        return {self.kind: self.matcher.to_json()}


class OutputMatcher(DocumentMatcher):
    """Matches on the output of an operation that succeeded."""

    __slots__ = ()
    kind = "output"


class InputOutputMatcher(DocumentMatcher):
    """Matches on `{"input": ..., "output": ...}` of an operation that succeeded."""

    __slots__ = ()
    kind = "inputOutput"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SuccessMatcher(Value):
    """Matches any response (`True`) or any error (`False`)."""

    success: bool

    def describe(self) -> str:
        """Describe the matcher in words."""
        return "the call succeeds" if self.success else "the call fails"

    def to_json(self) -> dict[str, Any]:
        """Return the Smithy form of this matcher."""
        return {"success": self.success}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorTypeMatcher(Value):
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StatusMatcher(Value):
    """Matches an HTTP status. Only botocore's own waiters have it, not the specification."""

    status: int

    def describe(self) -> str:
        """Describe the matcher in words."""
        return f"the HTTP status is {self.status}"

    def to_json(self) -> dict[str, Any]:
        """Return a form that only the digest uses: Smithy has none."""
        return {"status": self.status}


Matcher = OutputMatcher | InputOutputMatcher | SuccessMatcher | ErrorTypeMatcher | StatusMatcher


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Acceptor(Value):
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatchedAcceptor(Value):
    """An acceptor that matched, as outcomes and errors carry it."""

    index: int
    text: str
    """The acceptor in words."""

"""Waiters, in the terms of the specification.

The package `definitions` parses and validates them; what is made here is valid.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..common.arguments import check_order, seconds, text, texts
from ..common.wrong_arguments import WrongValueError, wrong_value
from .acceptors import (
    Acceptor,
    AcceptorState,
    DocumentMatcher,
    ErrorTypeMatcher,
    MatchedAcceptor,
    OutputMatcher,
    PathComparator,
    WordsMatcher,
)

DEFAULT_MIN_DELAY = 2
DEFAULT_MAX_DELAY = 120

GENERATED = "generated"
"""The tag of a shipped waiter that was converted from botocore's."""

DENIED_WHEN_GONE = "denied-when-gone"
"""The tag of a waiter whose service denies access to a resource that is gone."""

FAILS_BY_WORDS = "fails-by-words"
"""The tag of a waiter that fails in any state that says that it failed."""

WAITER_NAME = r"[A-Z]+[A-Za-z0-9]*\Z"
_PLAIN = r"[\w.*@\[\]\"-]+"

_OUTER_PATH = r"^(any|every) \S*\]\.(?=\w)"
"""The part of a path before the items that an acceptor compares."""

WAITER_NAME_PROBLEM = "a waiter name is UpperCamelCase and alphanumeric"


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
    reports: tuple[tuple[str, str], ...] = ()
    """What the state seen is made of: words, each with the path of its value in the response
    (`boto.waiters#reports`). The word `state` is left out of the text. Empty: the state seen is
    what the acceptors compare."""
    source: str = field(default="", compare=False)
    """The file (or kind of place) the definition was read from, for messages."""
    botocore_delay: float | None = field(default=None, compare=False)
    """The fixed delay of botocore's waiter that `min_delay` and `max_delay` were converted from, in
    seconds; None if they were not. A copy with other delays may still have it."""

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
        reason: str | None = None,
        reports: Mapping[str, str] | None = None,
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
            reason: the JMESPath expression for the service's reason in the response, such as
                `Job.StatusReason`, which the error of a failure state quotes and has as
                `service_message`. Where `path` and `reason` begin with the same list, as `Jobs[]`,
                it is that of the first item in a failure state; where they do not, a list of
                reasons is read only if there is one state. By default the reason is looked for
                beside the state.
            reports: what the state seen has beside the state, in messages, events and timelines:
                JMESPath expressions by a word each. `{"stage": "Job.Stage", "done": "Job.Percent"}`
                gives "RUNNING, stage COPY, 40 done".
            min_delay: the least delay between two attempts, in seconds.
            max_delay: the longest delay between two attempts, in seconds.
            many: for a list that is not empty, whether `"all"` of its states have to be in
                `success`, or `"any"` of them. With `"any"`, success is decided before failure.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument has a value that makes no sense, or a value is in two lists.
        """
        # jmespath, 5 ms.
        from .state_acceptors import state_acceptors, words_with_paths  # noqa: PLC0415

        if not re.match(WAITER_NAME, text("name", name)):
            raise WrongValueError.of("name", name, f": {WAITER_NAME_PROBLEM}, not {name!r}")
        if many not in ("all", "any"):
            raise wrong_value("many", many, "'all' or 'any'")
        least, most = seconds("min_delay", min_delay), seconds("max_delay", max_delay)
        check_order(least, most)
        good, bad = texts("success", success), texts("failure", failure)
        ends = texts("success_on_error", success_on_error)
        retried = texts("retry_on_error", retry_on_error)
        if not good and not ends:
            problem = "success and success_on_error are empty: the wait could not succeed"
            raise WrongValueError(problem, argument="success", value=success)
        if reason is not None and not bad:
            raise WrongValueError.of("reason", reason, " is for states in failure, which is empty")
        if both := {*good} & {*bad} | {*ends} & {*retried}:
            raise ValueError(f"{min(both)!r} cannot be both a success and another state")
        reported = words_with_paths("reports", reports) if reports else ()
        if reported and "state" not in dict(reported):
            reported = (("state", path), *reported)
        errors = [(AcceptorState.SUCCESS, each) for each in ends]
        errors += [(AcceptorState.RETRY, each) for each in retried]
        return cls(
            name=name,
            operation=text("operation", operation),
            acceptors=(
                *state_acceptors(
                    text("path", path),
                    good,
                    bad,
                    every=many == "all",
                    reason=None if reason is None else text("reason", reason),
                ),
                *(Acceptor(state=state, matcher=ErrorTypeMatcher(e)) for state, e in errors),
            ),
            min_delay=least,
            max_delay=most,
            reports=reported,
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


# --- what a wait is for, in words; made once per waiter ------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitDescription:
    """What a wait is for, as messages and observers name it."""

    waiter: str
    operation: str
    service: str | None
    goal: str
    """What the waiter waits for, in words."""
    acceptors: tuple[MatchedAcceptor, ...]
    states: tuple[AcceptorState, ...]
    words: tuple[tuple[str, bool], ...] = ()
    """For each acceptor, what a message says of its match, and whether that tells the state."""
    bases: tuple[str | None, ...] = ()
    """For each acceptor, how it is known that a state belongs to a call; None: by other states."""
    denied_when_gone: bool = False
    """Whether the service denies access to a resource that is gone."""
    new_failures: frozenset[str] = frozenset()
    """States that say failure, that no acceptor mentions, and that are newer than the waiter."""
    told: set[str] = field(default_factory=set, compare=False, repr=False)
    """The warnings that a wait has given, and no other of the waiter has to give again."""

    @classmethod
    def of(
        cls,
        definition: WaiterDefinition,
        service: str | None = None,
        new_failures: frozenset[str] = frozenset(),
    ) -> WaitDescription:
        """Return the description of a waiter."""
        return cls(
            waiter=definition.name,
            operation=definition.operation,
            service=service,
            goal=definition.goal,
            acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
            states=definition.states,
            words=tuple(map(_in_words, definition.acceptors)),
            denied_when_gone=DENIED_WHEN_GONE in definition.tags,
            new_failures=new_failures,
        )


def _in_words(acceptor: Acceptor) -> tuple[str, bool]:
    """Return what a message says of the match of an acceptor: of an expression, nothing."""
    matcher = acceptor.matcher
    if not isinstance(matcher, DocumentMatcher):
        return matcher.describe(), True
    compared = matcher.matcher
    is_state = compared.comparator is not PathComparator.BOOLEAN_EQUALS
    if not is_state or not re.fullmatch(_PLAIN, compared.path):
        return "", False
    # Of words it is not known which have matched.
    tells_state = not isinstance(compared, WordsMatcher)
    return re.sub(_OUTER_PATH, r"\1 ", matcher.describe()), tells_state

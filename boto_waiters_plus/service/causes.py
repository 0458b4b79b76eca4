"""The search for the cause of a failure: reads that `data/explains.json` names, and their texts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import jmespath
from botocore import xform_name
from botocore.model import OperationModel
from jmespath.exceptions import JMESPathError

from ..calls.budget import Reply
from ..common.errors import logger
from ..definitions.shipped import shipped_traits
from ..engine.redaction import is_signed_url
from .data_model import DataModel, converted
from .errors import error_facts
from .shapes import shape_id_of

# --- the further reads that tell why a wait failed, where the polled response does not -----------
# They are listed in `data/explains.json` by the polled operation, by the trait
# `boto.waiters#explains`, which `data/traits.json` defines.

EXPLAINS: Final = "boto.waiters#explains"

_VARIABLE: Final = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRead:
    """One read of the same service; its paths see the outputs of the reads before it."""

    operation: str
    name: str
    """What later paths call its output."""
    parameters: Mapping[str, str]
    """By parameter: a path. Where one gives nothing, false or empty, the read is not made."""
    options: Mapping[str, str] = field(default_factory=dict)
    """By parameter: a path; a parameter that is null is left out."""
    values: Mapping[str, str] = field(default_factory=dict)
    """By name: a path on what is known after the read, in order; see `Explanation.values`."""
    text: str | None = None
    """A path to the cause; None: the read only leads to another one."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What tells why a wait failed that polls an operation."""

    values: Mapping[str, str]
    """By name: a path whose value later paths see by that name, inside a filter as `$name`."""
    reads: tuple[CauseRead, ...]
    """At most two of them are made."""
    otherwise: str | None
    """A path to what the polled response says, where no read tells the cause."""

    @classmethod
    def of(cls, trait: Mapping[str, Any]) -> Explanation:
        """Read a valid trait."""
        reads = []
        for each in trait["reads"]:
            members = {name: value for name, value in each.items() if name != "as"}
            reads.append(CauseRead(name=each.get("as", each["operation"]), **members))
        return cls(trait.get("values", {}), tuple(reads), trait.get("otherwise"))


def with_values(path: str, values: Mapping[str, Any]) -> str:
    """Return a path with the value of each `$name` as a literal: a filter sees its item only."""

    def literal(match: re.Match[str]) -> str:
        text = json.dumps(values.get(match[1]), default=str).replace("`", "\\u0060")
        return f"`{text}`"

    return _VARIABLE.sub(literal, path)


# --- the search ----------------------------------------------------------------------------------

EARLIER: Final = 60
"""Seconds before the start of the wait from which on an event may tell the cause: the change began
before the wait did, and clocks differ."""


class FailureSearch:
    """The reads about the failure of one wait.

    Args:
        client: makes the reads.
        operation: that of the wait.
        explanation: names the reads.
        known: what their paths see; `input` has the parameters of the wait, and `output` the
            response in the failure state.
        budget: has an item for each read that the waits of a batch may make yet; None: no limit.

    Attributes:
        cause: the text that the reads have found.
        is_over_budget: whether the batch had no read left.
    """

    def __init__(
        self,
        client: Any,
        operation: OperationModel,
        explanation: Explanation,
        known: dict[str, Any],
        budget: Iterator[object] | None,
    ) -> None:
        self.cause: str | None = None
        self.is_over_budget = False
        self._client = client
        self._operations = [operation]
        self._known = known
        self._budget = budget
        self._steps = self._reads(explanation)
        self._send: Callable[[], Any] | None = None

    def send(self) -> Any:
        """Make the bare call of the present read; see `CauseSearch.send`."""
        assert self._send is not None, "there is a read"
        return self._send()

    def has_more_after(self, reply: Reply | None) -> bool:
        """Take the reply to a read; see `CauseSearch.has_more_after`."""
        self._send = None
        try:
            self._send = self._steps.send(reply)
        except StopIteration:
            pass
        # A wait has failed, and its error must not be replaced by another.
        except Exception as error:
            logger.debug("the cause of a failure is not known: %s", type(error).__name__)
        return self._send is not None

    def _reads(self, explanation: Explanation) -> Generator[Callable[[], Any], Any, None]:
        """Yield what makes each read, and take its reply."""
        [polled], known = self._operations, self._known
        known["input"] = converted(polled.input_shape, known["input"])
        known["output"] = _seen(polled, known["output"])
        sensitive = self._is_sensitive(explanation.otherwise)
        self._learn(explanation.values, None if sensitive else explanation.otherwise)
        model = polled.service_model
        for read in explanation.reads:
            sent = {name: self._value(path) for name, path in read.parameters.items()}
            # An older botocore may lack the operation.
            if not all(sent.values()) or read.operation not in model.operation_names:
                continue
            answered = model.operation_model(read.operation)
            self._operations.append(answered)
            if self._is_sensitive(read.text):
                continue
            if self._budget is not None and next(self._budget, None) is None:
                self.is_over_budget = True
                return
            options = {name: self._value(path) for name, path in read.options.items()}
            sent |= {name: each for name, each in options.items() if each is not None}
            reply: Reply = yield partial(getattr(self._client, xform_name(read.operation)), **sent)
            if reply.ended is not None or reply.error is not None:
                why = "it was cut off"
                if reply.error is not None and reply.ended in (None, "retry refused"):
                    why = error_facts(reply.error, answered).text
                text = "the cause of a failure is not known: %s failed: %s"
                logger.debug(text, read.operation, why)
                continue
            known[read.name] = _seen(answered, reply.response)
            self._learn(read.values, read.text)

    def _is_sensitive(self, text: str | None) -> bool:
        """Return whether a model calls a part of a text sensitive."""
        paths = [] if text is None else [("output", with_values(text, {}))]
        return any(DataModel(each, paths).sensitive for each in self._operations)

    def _learn(self, values: Mapping[str, str], text: str | None) -> None:
        """Note values, and the cause, which the last read that tells one decides."""
        for name, path in values.items():
            self._known[name] = self._value(path)
        cause = "" if text is None else _joined(self._value(text))
        if cause and not is_signed_url(cause):
            self.cause = cause

    def _value(self, path: str) -> Any:
        try:
            return jmespath.search(with_values(path, self._known), self._known)
        # A member is missing that a function needs. The error's text would have its value.
        except JMESPathError as error:
            name = type(error).__name__
            logger.debug("the cause of a failure: %s cannot be evaluated: %s", path, name)
            return None


def begin_search(
    client: Any,
    operation: OperationModel,
    parameters: Mapping[str, Any],
    call: Mapping[str, Any] | None,
    budget: Iterator[object] | None,
    response: Mapping[str, Any],
    elapsed: float,
) -> FailureSearch | None:
    """Begin the search for the cause of a failure; None: there is nothing to read.

    Args:
        client, operation, parameters: those of the wait.
        call: the `input` and `output` of the call whose effect is waited for.
        budget: has an item for each read that the waits of a batch may make yet; None: no limit.
        response: the one in the failure state.
        elapsed: seconds since the start of the wait.
    """
    trait = shipped_traits(EXPLAINS).get(shape_id_of(operation))
    if trait is None:
        return None
    started = time.time() - elapsed - EARLIER
    known = {"call": call, "started": started, "input": parameters, "output": response}
    return FailureSearch(client, operation, Explanation.of(trait), known, budget)


def _joined(value: Any, separator: str = ": ") -> str:
    """Return texts and numbers as one text; lists in a list are joined by blanks."""
    if isinstance(value, list):
        return separator.join(filter(None, (_joined(each, " ") for each in value)))
    is_plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return str(value).strip() if is_plain else ""


def _seen(operation: OperationModel, response: Any) -> Any:
    members = {name: value for name, value in response.items() if name != "ResponseMetadata"}
    return converted(operation.output_shape, members)

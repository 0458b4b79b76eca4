"""The docstrings of `wait_until_*` methods: the wait first, then the operation's parameters."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.docs.docstring import LazyLoadedDocstring
from botocore.model import OperationModel, Shape

from ..definitions.words import documentation_text, summary_of
from ..engine.acceptors import Acceptor
from ..service.bound_waiter import BoundWaiter

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_CHARACTERS = 300
"""Characters of the documentation of one parameter; that of the operation has all."""

_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class WaitDocstring(LazyLoadedDocstring):
    """The docstring of a method; all but its first line is written when it is read.

    Args:
        bound_waiter: the definition on its operation.
        only_in_botocore: returns the acceptors that only botocore's waiter of this name has.
    """

    def __new__(cls, bound_waiter: BoundWaiter, *_: Any) -> Self:
        """Return a string of the first line: botocore's own is empty, and Sphinx prints nothing."""
        return str.__new__(cls, summary_of(bound_waiter.definition))

    def _write_docstring(
        self,
        section: Any,
        bound_waiter: BoundWaiter,
        only_in_botocore: Callable[[], list[Acceptor]],
    ) -> None:
        for line in _lines(bound_waiter, only_in_botocore()):
            section.writeln(line)


def _lines(bound_waiter: BoundWaiter, only_in_botocore: list[Acceptor]) -> Iterator[str]:
    definition, operation = bound_waiter.definition, bound_waiter.operation
    yield summary_of(definition)
    yield ""
    if definition.deprecated:
        yield from ("**Deprecated.**", "")
    documentation = definition.documentation.strip()
    if "\n" in documentation:
        yield from (*documentation_text(documentation).splitlines(), "")
    yield (
        f"Polls {operation.name}. The first of these acceptors that matches decides; an error that "
        "none of them matches is a failure:"
    )
    yield ""
    yield from (f"* {acceptor.describe()}" for acceptor in definition.acceptors)
    yield ""
    yield f"Delays are {definition.min_delay} to {definition.max_delay} seconds, with jitter."
    if only_in_botocore:
        others = " or ".join(acceptor.describe() for acceptor in only_in_botocore)
        yield from ("", f"The waiter of this name from get_waiter also has: {others}.")
    yield ""
    yield from _call(bound_waiter)
    yield from _parameters(operation)


def _call(bound_waiter: BoundWaiter) -> Iterator[str]:
    shape = bound_waiter.operation.input_shape
    required = [] if shape is None else shape.required_members
    arguments = ", ".join([*(f"{name}=..." for name in required), "max_wait=300"])
    method = xform_name(bound_waiter.operation.name)
    yield from ("::", "", f"    outcome = client.{bound_waiter.method_name}({arguments})", "")
    yield ":param max_wait: **[REQUIRED]** Seconds (or a timedelta) to wait at most."
    yield ":param min_delay, max_attempts, ...: the options; see ``help(WaitOptions)``."
    yield (
        f":returns: an outcome: ``ResponseOutcome``, whose ``response`` is what ``{method}`` "
        "returned, or ``ExceptionOutcome``, whose ``exception`` is the expected error."
    )
    yield (
        ":raises: WaiterFailedError, WaiterTimeoutError, WaiterAttemptsError or "
        "WaiterCancelledError."
    )
    yield ""


def _parameters(operation: OperationModel) -> Iterator[str]:
    """Yield the operation's parameters, the required ones first."""
    shape = operation.input_shape
    if shape is None or not shape.members:
        return
    yield f"The parameters of {operation.name} (``help(client.{xform_name(operation.name)})``):"
    yield ""
    required = shape.required_members
    for name in (*required, *(name for name in shape.members if name not in required)):
        mark = "**[REQUIRED]** " if name in required else ""
        yield f":param {name}: {mark}{_first_paragraph(shape.members[name])}".rstrip()


def _first_paragraph(shape: Shape) -> str:
    documentation = shape.documentation
    found = _PARAGRAPH.search(documentation)
    text = _TAG.sub("", found[1] if found else documentation)
    text = " ".join(html.unescape(text).split())
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[:MOST_CHARACTERS].rpartition(" ")[0] + " ..."

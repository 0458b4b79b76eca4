"""The `wait_until_*` methods of a client, with their signatures and docstrings."""

from __future__ import annotations

import html
import inspect
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.docs.docstring import LazyLoadedDocstring
from botocore.model import OperationModel, Shape

from ..calls.clients import is_async
from ..definitions.words import documentation_text, summary_of
from ..engine.acceptors import Acceptor
from ..exceptions import WaiterDefinitionError
from ..service.bound_waiter import BoundWaiter
from ..service.clients import ClientHook

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..outcome import WaiterOutcome
    from ..wait.drivers import PreparedWait


MOST_CHARACTERS = 300
"""Characters of the documentation of one parameter; that of the operation has all."""

_PARAGRAPH = r"(?s)<p>(.*?)</p>"
_TAG = r"<[^>]*>"


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
    found = re.search(_PARAGRAPH, documentation)
    text = re.sub(_TAG, "", found[1] if found else documentation)
    text = " ".join(html.unescape(text).split())
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[:MOST_CHARACTERS].rpartition(" ")[0] + " ..."


# --- the methods ---------------------------------------------------------------------------------


def build_method(client: Any, hook: ClientHook, name: str) -> Callable[..., Any] | None:
    """Return the function behind `client.wait_until_<name>`; None if there is no such waiter.

    Raises:
        WaiterDefinitionError: a definition for the service is malformed.
    """
    service = hook.waiters(client).service
    try:
        bound_waiter = service.get(name)
    except WaiterDefinitionError as error:
        raise _RefusedError(
            error.problem, source=error.source, waiter=error.waiter, acceptor=error.acceptor
        ) from error
    return None if bound_waiter is None else _method_of(client, hook, bound_waiter)


def _method_of(client: Any, hook: ClientHook, bound_waiter: BoundWaiter) -> Callable[..., Any]:
    def prepared(self: Any, /, *, max_wait: Any = None, **keywords: Any) -> PreparedWait:
        own: dict[str, Any] = {"max_wait": max_wait, "called_at": time.monotonic()}
        # What runs waits is imported in a wait, whose `max_wait` counts that time.
        from ..service.waits import prepared_wait  # noqa: PLC0415

        return prepared_wait(self, bound_waiter, hook.level.merged(), keywords=keywords, **own)

    def wait_until(*client: Any, **keywords: Any) -> WaiterOutcome[Any]:
        return prepared(*client, **keywords).run()

    async def wait_until_async(*client: Any, **keywords: Any) -> WaiterOutcome[Any]:
        return await prepared(*client, **keywords).run_async()

    definition = bound_waiter.definition
    method: Any = wait_until_async if is_async(type(client)) else wait_until
    method.__name__ = bound_waiter.method_name
    method.__qualname__ = f"{type(client).__name__}.{bound_waiter.method_name}"
    # What Python says of wrong arguments names the method.
    prepared.__qualname__ = method.__qualname__
    only_in_botocore = partial(hook.waiters(client).service.only_in_botocore, definition)
    method.__doc__ = WaitDocstring(bound_waiter, only_in_botocore)
    method.__signature__ = signature = _Signature(return_annotation="WaiterOutcome")
    signature.waiter = bound_waiter
    method.definition = definition
    function: Callable[..., Any] = method
    return function


class _RefusedError(WaiterDefinitionError, AttributeError):
    """A method that does not exist because of a malformed definition.

    An AttributeError too, so that `hasattr` and autospec go past it.
    """


class _Signature(inspect.Signature):
    """That of a method, which is written when it is read: the lookup imports no options."""

    waiter: BoundWaiter | None = None

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        """The real parameters: max_wait, the operation's (required first), the options."""
        waiter = self.waiter  # Another thread may write it meanwhile.
        if waiter is None:
            return super().parameters
        from ..options import OPTION_NAMES  # noqa: PLC0415 - 4 ms, which the first wait pays anyway

        keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
        shape = waiter.operation.input_shape
        members = list(shape.members) if shape is not None else []
        required = list(shape.required_members) if shape is not None else []
        optional = [name for name in members if name not in required]
        parameters = [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
            keyword("max_wait", annotation="float | timedelta"),
            *(keyword(name) for name in required),
            *(keyword(name, default=None) for name in (*optional, *OPTION_NAMES)),
        ]
        super().__init__(parameters, return_annotation=self.return_annotation)
        self.waiter = None
        return super().parameters

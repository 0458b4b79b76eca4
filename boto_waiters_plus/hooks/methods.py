"""The `wait_until_*` methods of a client, with their signatures and documentation."""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.docs.docstring import LazyLoadedDocstring
from botocore.docs.method import document_model_driven_method
from botocore.docs.utils import DocumentedShape

from ..aws.bound_waiter import BoundWaiter
from ..aws.client_kind import is_async
from ..aws.client_waits import wait_on, wait_on_async
from ..definitions.documentation import documentation_text
from ..engine.model import Acceptor, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..options import OPTION_NAMES
from ..outcome import WaiterOutcome
from .clients import ClientHook

if TYPE_CHECKING:
    from typing_extensions import Self


def build_method(client: Any, hook: ClientHook, name: str) -> Callable[..., Any] | None:
    """Return the function behind `client.wait_until_<name>`; None if there is no such waiter.

    Raises:
        WaiterDefinitionError: a definition for the service is malformed.
    """
    service = hook.waiters(client).service
    try:
        bound = service.by_snake_name.get(name)
    except WaiterDefinitionError as error:
        raise _RefusedError.of(error) from error
    return None if bound is None else _method_of(client, hook, bound)


def _method_of(client: Any, hook: ClientHook, bound: BoundWaiter) -> Callable[..., Any]:
    def wait_until(self: Any, /, *, max_wait: Any = None, **keywords: Any) -> WaiterOutcome[Any]:
        settings = hook.level.merged()
        return wait_on(self, bound, settings, max_wait=max_wait, keywords=keywords)

    async def wait_until_async(
        self: Any, /, *, max_wait: Any = None, **keywords: Any
    ) -> WaiterOutcome[Any]:
        settings = hook.level.merged()
        return await wait_on_async(self, bound, settings, max_wait=max_wait, keywords=keywords)

    definition = bound.definition
    method: Any = wait_until_async if is_async(type(client)) else wait_until
    method.__name__ = bound.method_name
    method.__qualname__ = f"{type(client).__name__}.{bound.method_name}"
    only_in_botocore = partial(hook.waiters(client).service.only_in_botocore, definition)
    method.__doc__ = WaitDocstring(_summary(definition), client, bound, only_in_botocore)
    method.__signature__ = _signature(bound)
    method.definition = definition
    function: Callable[..., Any] = method
    return function


class _RefusedError(WaiterDefinitionError, AttributeError):
    """A method that does not exist because of a malformed definition.

    An AttributeError too, so that `hasattr` and autospec go past it.
    """

    @classmethod
    def of(cls, error: WaiterDefinitionError) -> Self:
        """Return the error of a lookup as an error of this class."""
        return cls(error.problem, source=error.source, waiter=error.waiter, acceptor=error.acceptor)


def _signature(bound: BoundWaiter) -> inspect.Signature:
    """Return the real parameters: max_wait, the operation's (required first), the options."""
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    parameters = [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
        keyword("max_wait", annotation="float | timedelta"),
    ]
    shape = bound.operation.input_shape
    members = list(shape.members) if shape is not None else []
    required = list(shape.required_members) if shape is not None else []
    optional = [name for name in members if name not in required]
    parameters += [keyword(name) for name in required]
    parameters += [keyword(name, default=None) for name in (*optional, *OPTION_NAMES)]
    return inspect.Signature(parameters, return_annotation="WaiterOutcome")


def _summary(definition: WaiterDefinition) -> str:
    text = definition.documentation.strip() or f"Waits until {definition.goal}."
    return text.splitlines()[0]


class WaitDocstring(LazyLoadedDocstring):
    """The docstring of a method; the request syntax is written when it is read.

    Args:
        summary: what raw readers of `__doc__` see without loading the rest.
    """

    def __new__(cls, summary: str, *_: Any) -> Self:
        """Return a string of the summary: botocore's own is empty, and Sphinx prints nothing."""
        return str.__new__(cls, summary)

    def _write_docstring(
        self,
        section: Any,
        summary: str,
        client: Any,
        bound: BoundWaiter,
        only_in_botocore: Callable[[], list[Acceptor]],
    ) -> None:
        definition, operation = bound.definition, bound.operation
        deprecated = ["**Deprecated.**", ""] if definition.deprecated else []
        text = documentation_text(definition.documentation) or summary
        for line in (*deprecated, *text.splitlines()):
            section.writeln(line)
        document_model_driven_method(
            section,
            bound.method_name,
            operation,
            event_emitter=client.meta.events,
            method_description=_description(definition, only_in_botocore()),
            example_prefix=f"outcome = client.{bound.method_name}",
            include_input=[  # type: ignore[arg-type]  # the stubs say dict, botocore iterates a list
                DocumentedShape(
                    name="max_wait",
                    type_name="float",
                    documentation="<b>[REQUIRED]</b> Seconds (or a timedelta) to wait at most.",
                )
            ],
            include_signature=False,
        )
        # botocore describes the operation's response here; the outcome wraps it.
        section.delete_section("return")
        returned = section.add_new_section("return")
        returned.style.new_line()
        returned.write(":rtype: ResponseOutcome or ExceptionOutcome")
        returned.style.new_line()
        returned.write(
            f":returns: an outcome whose ``response`` is what ``{xform_name(operation.name)}`` "
            "returned, or whose ``exception`` is the expected error"
        )


def _description(definition: WaiterDefinition, only_in_botocore: list[Acceptor]) -> str:
    """Return the text below the documentation, in the HTML of botocore's models."""
    acceptors = "".join(f"<li>{_described(acceptor)}</li>" for acceptor in definition.acceptors)
    other = " or ".join(map(_described, only_in_botocore))
    difference = f"<p>The waiter of this name from get_waiter also has: {other}.</p>"
    return (
        f"<p>Polls {definition.operation}. The first of these acceptors that matches decides; an "
        f"error that none of them matches is a failure:</p><ul>{acceptors}</ul>"
        f"<p>Delays are {definition.min_delay} to {definition.max_delay} seconds, with jitter. "
        "Returns a ResponseOutcome or an ExceptionOutcome; raises WaiterFailedError, "
        "WaiterTimeoutError, WaiterAttemptsError or WaiterCancelledError. Every field of "
        "WaitOptions is a keyword too.</p>"
    ) + (difference if other else "")


def _described(acceptor: Acceptor) -> str:
    # Expressions contain < and &.
    return html.escape(acceptor.describe(), quote=False)

"""`wait_until_*` on clients: found lazily, built at first use, documented as botocore's are.

A class of ours among a client's base classes answers what the client itself does not have, so
that a client costs nothing more to create. Every client has a class of its own; what is built
is kept there.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.docs.docstring import LazyLoadedDocstring
from botocore.docs.method import document_model_driven_method
from botocore.docs.utils import DocumentedShape
from botocore.loaders import Loader

from ..aws.client_kind import is_async
from ..aws.port import AsyncClientPort, ClientPort, description_of
from ..aws.private_names import marked_as_waiter
from ..aws.service_waiters import METHOD_PREFIX, BoundWaiter, ServiceWaiters
from ..deadlines import budget_of
from ..definitions.overlays import Layer
from ..engine.model import Acceptor, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..options import (
    OPTION_NAMES,
    CancelEvent,
    WaitOptions,
    nearest,
    policy_for,
    split_options,
    unknown,
)
from ..outcome import WaiterOutcome
from ..runtime.aio import drive_async
from ..runtime.attempt import AsyncPort
from ..runtime.sync import drive
from ..runtime.wait_run import WaitRun
from ..settings import Scope

if TYPE_CHECKING:
    from typing_extensions import Self


ATTACHMENT = "_waiter_attachment"
"""The attribute of a client's class that holds its `Attachment`."""


class Attachment:
    """What a client's class knows of its waiters.

    Args:
        scope: gives the settings in force; asked at every wait, so that `install` and
            `uninstall` reach clients that exist.
        loader: the loader of the client's session.
        active: whether the methods exist; not any more after `uninstall`.
    """

    def __init__(
        self,
        scope: Callable[[], Scope],
        loader: Loader | None = None,
        active: Callable[[], bool] = lambda: True,
    ) -> None:
        self._scope = scope
        self.loader = loader
        self.active = active
        self._found: tuple[tuple[Layer, ...], ServiceWaiters] | None = None

    @property
    def scope(self) -> Scope:
        """The settings in force."""
        return self._scope()

    def waiters(self, client: Any) -> ServiceWaiters:
        """The waiters of the client's service; found anew only if definitions were added."""
        definitions = self.scope.definitions
        if self._found is None or self._found[0] != definitions:
            service = client.meta.service_model
            self._found = definitions, ServiceWaiters(service, self.loader, definitions)
        return self._found[1]


class WaiterMethods:
    """The base class that gives a client its `wait_until_*` methods."""

    def __getattr__(self, item: str) -> Any:
        # The prefix comes first: copying asks a bare instance for all kinds of names.
        if item.startswith(METHOD_PREFIX):
            try:
                method = _method(self, item)
            except WaiterDefinitionError as error:
                raise _RefusedError.of(error) from error
            if method is not None:
                return method
        try:
            return super().__getattr__(item)  # type: ignore[misc]  # BaseClient has it
        except AttributeError as error:
            near = _nearest_method(self, item)
            if near is None:
                raise
            raise AttributeError(f"{error}; did you mean {near!r}?") from None

    def __dir__(self) -> Iterable[str]:
        names = set(super().__dir__())
        attachment = attachment_of(self)
        if attachment is not None and attachment.active():
            names.update(METHOD_PREFIX + name for name in attachment.waiters(self).readable)
        return names


class _RefusedError(WaiterDefinitionError, AttributeError):
    """A method that is not there because of a malformed definition.

    An AttributeError too, so that `hasattr` and autospec go past it.
    """

    @classmethod
    def of(cls, error: WaiterDefinitionError) -> Self:
        """The error of a lookup, in the words of this one."""
        return cls(error.problem, source=error.source, waiter=error.waiter, acceptor=error.acceptor)


def _nearest_method(client: Any, item: str) -> str | None:
    if not item.startswith(METHOD_PREFIX):
        return None
    names = [name for name in dir(client) if name.startswith(METHOD_PREFIX)]
    return nearest(item, names)


def attachment_of(client: Any) -> Attachment | None:
    """What a client's class knows of its waiters; None if ours was never attached to it."""
    return getattr(type(client), ATTACHMENT, None)


# Clients that nobody enabled, waited on by `wait_until`: one attachment each.
_BARE: weakref.WeakKeyDictionary[type, Attachment] = weakref.WeakKeyDictionary()


def find_waiter(client: Any, name: str, scope: Callable[[], Scope]) -> BoundWaiter:
    """A client's waiter by either form of its name, attached or not.

    Raises:
        TypeError: not a botocore client.
        ValueError: no such waiter; the message has the nearest name.
    """
    if not hasattr(getattr(client, "meta", None), "service_model"):
        raise TypeError(f"client must be a botocore client, not {type(client).__name__}")
    if not isinstance(name, str):
        raise TypeError(f"waiter must be the name of a waiter, not {type(name).__name__}")
    attachment = attachment_of(client)
    if attachment is None:
        attachment = _BARE.setdefault(type(client), Attachment(scope))
    waiters = attachment.waiters(client)
    bound = waiters.get(name)
    if bound is None:
        known = [w.definition.name for w in waiters.by_snake_name.values()]
        names = list(waiters.by_snake_name) if name.islower() else known
        raise ValueError(f"Waiter does not exist: {unknown(name, names, 'waiter')}")
    return bound


def wait_on(
    client: Any,
    waiter: BoundWaiter,
    scope: Scope,
    *,
    max_wait: Any,
    keywords: Mapping[str, Any],
) -> WaiterOutcome[Any]:
    """One wait on a client; `keywords` are options and operation parameters together.

    Raises:
        TypeError, ValueError: before the first request, a bad option.
        WaiterError: the wait did not succeed.
    """
    wait_run, parameters, options = _prepared(waiter, scope, max_wait, keywords)
    port = ClientPort(
        client,
        waiter,
        parameters,
        cancel=options.cancel_event,
        in_thread=bool(options.call_in_thread),
    )
    with marked_as_waiter():
        return drive(wait_run, port, cancel=options.cancel_event, wake=options.wake_signal)


async def wait_on_async(
    client: Any,
    waiter: BoundWaiter,
    scope: Scope,
    *,
    max_wait: Any,
    keywords: Mapping[str, Any],
) -> WaiterOutcome[Any]:
    """`wait_on` as part of a task: an aiobotocore client is awaited, another called in threads."""
    wait_run, parameters, options = _prepared(waiter, scope, max_wait, keywords)
    port = _awaited_port(client, waiter, parameters, options.cancel_event)
    with marked_as_waiter():
        return await drive_async(
            wait_run, port, cancel=options.cancel_event, wake=options.wake_signal
        )


def _awaited_port(
    client: Any,
    waiter: BoundWaiter,
    parameters: Mapping[str, Any],
    cancel: CancelEvent | None,
) -> AsyncPort:
    if is_async(type(client)):
        return AsyncClientPort(ClientPort(client, waiter, parameters, cancel=cancel))
    # It needs asyncio: 11 ms that a program which only blocks never pays.
    from ..runtime.in_thread import Stop, ThreadPort  # noqa: PLC0415

    stop = Stop(cancel)
    return ThreadPort(ClientPort(client, waiter, parameters, cancel=stop.event), stop)


def _prepared(
    waiter: BoundWaiter, scope: Scope, max_wait: Any, keywords: Mapping[str, Any]
) -> tuple[WaitRun, dict[str, Any], WaitOptions]:
    """A wait that is ready to start; whatever is wrong with its arguments is raised here."""
    given, parameters = checked(waiter, keywords)
    waiter.refuse_empty_lists(parameters)
    options = given.over(scope.defaults)
    policy = policy_for(waiter.definition, options, budget_of(waiter.method_name, max_wait))
    waiter.warn()
    wait_run = WaitRun(description_of(waiter), policy, observers=scope.observers)
    if options.on_attempt is not None:
        wait_run.observe_attempts(options.on_attempt)
    return wait_run, parameters, options


def checked(waiter: BoundWaiter, keywords: Mapping[str, Any]) -> tuple[WaitOptions, dict[str, Any]]:
    """The options and the parameters among the keywords of a wait."""
    if "WaiterConfig" in keywords:
        raise TypeError(
            f"{waiter.method_name} takes max_wait (seconds) instead of WaiterConfig, "
            "and min_delay and max_delay instead of Delay"
        )
    return split_options(keywords)


def attach(client_class: type, methods: type[WaiterMethods], attachment: Attachment) -> None:
    """Give the class of one existing client our methods."""
    setattr(client_class, ATTACHMENT, attachment)
    if not issubclass(client_class, methods):
        client_class.__bases__ = (methods, *client_class.__bases__)


def detach(client_class: type) -> None:
    """Forget the methods that were built on a class."""
    for name, value in list(vars(client_class).items()):
        if name.startswith(METHOD_PREFIX) and hasattr(value, "definition"):
            delattr(client_class, name)


def _method(client: Any, item: str) -> Any:
    """The method of this name, built and kept on the client's class; None if there is none."""
    attachment = attachment_of(client)
    if attachment is None or not attachment.active():
        return None
    bound = attachment.waiters(client).by_snake_name.get(item.removeprefix(METHOD_PREFIX))
    if bound is None:
        return None
    function = _build(client, attachment, bound)
    setattr(type(client), item, function)
    return getattr(client, item)


def _build(client: Any, attachment: Attachment, bound: BoundWaiter) -> Callable[..., Any]:
    def wait_until(self: Any, /, *, max_wait: Any = None, **keywords: Any) -> WaiterOutcome[Any]:
        return wait_on(self, bound, attachment.scope, max_wait=max_wait, keywords=keywords)

    async def wait_until_async(
        self: Any, /, *, max_wait: Any = None, **keywords: Any
    ) -> WaiterOutcome[Any]:
        return await wait_on_async(
            self, bound, attachment.scope, max_wait=max_wait, keywords=keywords
        )

    definition = bound.definition
    method: Any = wait_until_async if is_async(type(client)) else wait_until
    method.__name__ = bound.method_name
    method.__qualname__ = f"{type(client).__name__}.{bound.method_name}"
    only_there = partial(attachment.waiters(client).only_in_botocore, definition)
    method.__doc__ = WaitDocstring(_summary(definition), client, bound, only_there)
    method.__signature__ = _signature(bound)
    method.definition = definition
    function: Callable[..., Any] = method
    return function


def _signature(bound: BoundWaiter) -> inspect.Signature:
    """The real parameters: max_wait, the operation's own (required first), the options."""
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
    """The docstring of an attached method; the request syntax is written when it is read.

    Args:
        summary: what raw readers of `__doc__` see without asking for the rest.
    """

    def __new__(cls, summary: str, *_: Any) -> Self:
        """A string of the summary: botocore's own is empty inside, and Sphinx prints nothing."""
        return str.__new__(cls, summary)

    def _write_docstring(
        self,
        section: Any,
        summary: str,
        client: Any,
        bound: BoundWaiter,
        only_there: Callable[[], list[Acceptor]],
    ) -> None:
        definition, operation = bound.definition, bound.operation
        document_model_driven_method(
            section,
            bound.method_name,
            operation,
            event_emitter=client.meta.events,
            method_description=_description(definition, summary, only_there()),
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
        # What botocore writes here is the operation's response; this is what wraps it.
        section.delete_section("return")
        returned = section.add_new_section("return")
        returned.style.new_line()
        returned.write(":rtype: ResponseOutcome or ExceptionOutcome")
        returned.style.new_line()
        returned.write(
            f":returns: an outcome whose ``response`` is what ``{xform_name(operation.name)}`` "
            "returned, or whose ``exception`` is the expected error"
        )


def _description(
    definition: WaiterDefinition, summary: str, only_in_botocore: list[Acceptor]
) -> str:
    """The text above the request syntax, in the HTML that botocore's models are written in."""
    acceptors = "".join(f"<li>{acceptor.describe()}</li>" for acceptor in definition.acceptors)
    body = definition.documentation.strip() or summary
    other = " or ".join(acceptor.describe() for acceptor in only_in_botocore)
    difference = f"<p>The waiter of this name that get_waiter gives also has: {other}.</p>"
    return (
        f"<p>{body}</p>"
        f"<p>Polls {definition.operation}; the first of these that matches decides, an error that "
        f"none matches is a failure:</p><ul>{acceptors}</ul>"
        f"<p>Delays are {definition.min_delay} to {definition.max_delay} seconds, with jitter. "
        "Returns a ResponseOutcome or an ExceptionOutcome; raises WaiterFailedError, "
        "WaiterTimeoutError, WaiterAttemptsError or WaiterCancelledError. Every field of "
        "WaitOptions is a keyword too.</p>"
    ) + (difference if other else "")

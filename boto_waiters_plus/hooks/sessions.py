"""`install`, `uninstall`, `enable`: where the package meets boto3.

Sessions made from now on are reached by botocore's `register_initializer`; those that exist, by
a wrapper around `Session.create_client`; every waiter object, whoever built it, by a wrapper
around `Waiter.wait`. Both wrappers pass through when nothing is installed.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import botocore
import botocore.client
import botocore.session
import botocore.waiter
from botocore.loaders import Loader
from botocore.utils import EVENT_ALIASES

from ..aws import stock_waiter
from ..aws.client_kind import is_async
from ..aws.defined_waiters import waiter_object
from ..aws.private_names import botocore_session_of
from ..aws.service_waiters import METHOD_PREFIX, applies_to
from ..aws.waiter_config import record_assignments
from ..definitions.files import Source, load_layers
from ..definitions.overlays import Layer
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..options import WaitOptions, as_options, nearest
from ..outcome import WaiterOutcome
from ..runtime.wait_run import Observer
from ..settings import EMPTY, Scope
from .methods import (
    ATTACHMENT,
    Attachment,
    WaiterMethods,
    attach,
    attachment_of,
    detach,
    find_waiter,
    wait_on,
    wait_on_async,
)

logger = logging.getLogger(__name__)

CLIENT_EVENT = "creating-client-class"
RESOURCE_EVENT = "creating-resource-class"

# One a handler: botocore takes a second event of the same id for the same registration.
CLIENT_HANDLER_ID = "boto-waiters-plus-client"
RESOURCE_HANDLER_ID = "boto-waiters-plus-resource"

STOCK_WAIT = botocore.waiter.Waiter.__dict__["wait"]

T = TypeVar("T")


class _Installation:
    """What is installed in this process."""

    def __init__(self) -> None:
        self.new_lock()
        self.on = False
        self.scope = EMPTY
        self.hooks: weakref.WeakKeyDictionary[Any, _SessionHook] = weakref.WeakKeyDictionary()
        self.client_classes: weakref.WeakSet[type] = weakref.WeakSet()

    def new_lock(self) -> None:
        """Of a child after a fork too: nobody is left there to release one that was held."""
        self.lock = threading.RLock()


_STATE = _Installation()


def install(
    *,
    definitions: Source | Iterable[Source] = (),
    defaults: WaitOptions | Mapping[str, Any] | None = None,
    on_event: Observer | None = None,
) -> None:
    """Give every client `wait_until_<name>` methods and run all waiters on the engine.

    Reaches sessions made from now on, sessions that exist, and every botocore waiter object.
    Safe to call again and from several threads: definitions and handlers add up, defaults
    replace.

    Args:
        definitions: waiters of your own: a path, a dict, or several; they win over all others.
        defaults: options for every wait that does not give them.
        on_event: called with a `WaitEvent` as a wait starts, after each attempt, and at its end.

    Raises:
        WaiterDefinitionError: a definition breaks a rule; nothing is installed then.
        TypeError, ValueError: a default is not valid.
    """
    loaded, options = _settings(definitions, defaults, on_event)
    with _STATE.lock:
        _STATE.scope = _STATE.scope.extended(loaded, options, on_event)
        _forget_methods(loaded)
        if not _STATE.on:
            botocore.register_initializer(_on_session)
            _STATE.on = True
        _wrap(botocore.session.Session, "create_client", _create_client)
        _wrap(botocore.waiter.Waiter, "wait", _wait)
        # What `waiter.outcome` is before the first wait, on waiters that nobody got from a client.
        botocore.waiter.Waiter.outcome = None  # type: ignore[attr-defined]  # ours
        for module in _AIO_MODULES:
            if module in sys.modules:
                _wrap_aio(sys.modules[module])
        _watch_aio_imports()


def uninstall() -> None:
    """Undo `install`: botocore behaves as its own again, for clients that exist too.

    Sessions and clients given to `enable` keep what they were given there.
    """
    with _STATE.lock:
        if not _STATE.on:
            return
        _STATE.on = False
        _STATE.scope = EMPTY
        botocore.unregister_initializer(_on_session)
        for session, hook in list(_STATE.hooks.items()):
            if not hook.explicit:
                hook.unregister()
                del _STATE.hooks[session]
        for client_class in list(_STATE.client_classes):
            detach(client_class)
        if vars(botocore.waiter.Waiter).get("outcome", _STATE) is None:
            del botocore.waiter.Waiter.outcome  # type: ignore[attr-defined]  # put there by `install`
        _unwrap(botocore.session.Session, "create_client")
        _unwrap(botocore.waiter.Waiter, "wait")
        for module, (owner, name, _) in _AIO_MODULES.items():
            if module in sys.modules:
                _unwrap(getattr(sys.modules[module], owner), name)


def enable(
    target: T,
    /,
    *,
    definitions: Source | Iterable[Source] = (),
    defaults: WaitOptions | Mapping[str, Any] | None = None,
    on_event: Observer | None = None,
) -> T:
    """Give one session's future clients, or one client that exists, what `install` gives all.

    Args:
        target: a boto3 or botocore session, or a client.
        definitions, defaults, on_event: as for `install`; they win over what is set there.

    Returns:
        The target.

    Raises:
        WaiterDefinitionError: a definition breaks a rule; the target is left as it was.
        TypeError: the target is neither a session nor a client, or a default is not valid.
    """
    loaded, options = _settings(definitions, defaults, on_event)
    with _STATE.lock:
        if isinstance(target, botocore.client.BaseClient):
            _enable_client(target, loaded, options, on_event)
            return target
        session = botocore_session_of(target)
        if session is None:
            raise TypeError(
                "target must be a boto3 or botocore session, or a client, "
                f"not {type(target).__name__}"
            )
        hook = _hook_session(session)
        hook.explicit = True
        hook.scope = hook.scope.extended(loaded, options, on_event)
        _forget_methods(loaded)
    return target


def wait_until(
    client: Any, waiter: str, /, *, max_wait: Any = None, **keywords: Any
) -> WaiterOutcome[Any]:
    """Wait by the name of a waiter, for any client, attached or not.

    Args:
        client: a botocore client.
        waiter: `"BucketExists"` or `"bucket_exists"`.
        max_wait: seconds (or a `timedelta`) to wait at most.
        keywords: fields of `WaitOptions`, and the operation's parameters.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError: no such waiter, or an option out of range.
        TypeError: `max_wait` is missing, or an option is of the wrong kind.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    bound = find_waiter(client, waiter, _installed_scope)
    if is_async(type(client)):
        raise TypeError("client is an aiobotocore client: await wait_until_async instead")
    return wait_on(client, bound, client_scope(client), max_wait=max_wait, keywords=keywords)


async def wait_until_async(
    client: Any, waiter: str, /, *, max_wait: Any = None, **keywords: Any
) -> WaiterOutcome[Any]:
    """`wait_until` as part of the calling task.

    An aiobotocore client is awaited. Any other is called in a thread, one a call; for many waits
    at once `wait_all_async` shares a few. Cancelling the task ends either, the request under way
    included.

    Args:
        client: an aiobotocore or a botocore client.
        waiter, max_wait, keywords: as for `wait_until`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError, TypeError, WaiterError: as `wait_until`.
    """
    bound = find_waiter(client, waiter, _installed_scope)
    return await wait_on_async(
        client, bound, client_scope(client), max_wait=max_wait, keywords=keywords
    )


def client_scope(client: Any) -> Scope:
    """The settings in force for a client."""
    attachment = attachment_of(client)
    return _installed_scope() if attachment is None else attachment.scope


def _settings(
    definitions: Source | Iterable[Source],
    defaults: WaitOptions | Mapping[str, Any] | None,
    on_event: Observer | None,
) -> tuple[tuple[Layer, ...], WaitOptions | None]:
    """The settings, checked and loaded before anything is changed."""
    if on_event is not None and not callable(on_event):
        raise TypeError(f"on_event must be a function, not {type(on_event).__name__}")
    options = None if defaults is None else as_options(defaults, "defaults")
    return load_layers(definitions), options


def _forget_methods(added: tuple[Layer, ...]) -> None:
    """Let methods be built anew: a definition may have taken the place of theirs."""
    if added:
        for client_class in list(_STATE.client_classes):
            detach(client_class)


def _installed_scope() -> Scope:
    return _STATE.scope


# --- sessions and clients ---------------------------------------------------------------------


class _SessionHook:
    """Our handlers on one session, and what `enable(session)` set for it."""

    def __init__(self, session: botocore.session.Session) -> None:
        self.scope = EMPTY
        self.explicit = False
        self._session = weakref.ref(session)
        # Nothing is asked of the session yet: it would read its configuration too early.
        session.register(CLIENT_EVENT, self.on_client_class, unique_id=CLIENT_HANDLER_ID)
        session.register(RESOURCE_EVENT, _on_resource_class, unique_id=RESOURCE_HANDLER_ID)

    @property
    def active(self) -> bool:
        return self.explicit or _STATE.on

    def unregister(self) -> None:
        session = self._session()
        if session is not None:
            session.unregister(CLIENT_EVENT, unique_id=CLIENT_HANDLER_ID)
            session.unregister(RESOURCE_EVENT, unique_id=RESOURCE_HANDLER_ID)

    def on_client_class(self, **event: Any) -> None:
        """Give a client class that is about to be made our methods."""
        class_attributes: dict[str, Any] = event["class_attributes"]
        base_classes: list[type] = event["base_classes"]
        service_id = event["event_name"].removeprefix(f"{CLIENT_EVENT}.")
        _refuse_taken_names(self.current_scope().definitions, service_id, class_attributes)
        session = self._session()
        loader: Loader | None = session.get_component("data_loader") if session else None
        class_attributes[ATTACHMENT] = Attachment(self.current_scope, loader, lambda: self.active)
        base_classes.insert(0, _HookedClient)

    def current_scope(self) -> Scope:
        return self.scope.over(_STATE.scope)


def _refuse_taken_names(
    layers: Iterable[Layer], service_id: str, class_attributes: Mapping[str, Any]
) -> None:
    for layer in layers:
        if isinstance(layer, WaiterDefinition):
            _refuse_taken_name(layer, service_id, class_attributes)


def _refuse_taken_name(
    definition: WaiterDefinition, service_id: str, class_attributes: Mapping[str, Any]
) -> None:
    name = METHOD_PREFIX + botocore.xform_name(definition.name)
    operation = botocore.xform_name(definition.operation)
    by_botocore_name = EVENT_ALIASES.get(definition.service or "") == service_id
    if not by_botocore_name and not applies_to(definition, service_id):
        return
    if name in class_attributes and operation in class_attributes:
        raise WaiterDefinitionError(
            f"the client has an attribute {name} already",
            source=definition.source,
            waiter=definition.name,
        )


def _hook_session(session: botocore.session.Session) -> _SessionHook:
    with _STATE.lock:
        hook = _STATE.hooks.get(session)
        if hook is None:
            hook = _STATE.hooks[session] = _SessionHook(session)
        return hook


def _on_session(session: botocore.session.Session) -> None:
    _hook_session(session)


def _enable_client(
    client: Any,
    definitions: tuple[Layer, ...],
    defaults: WaitOptions | None,
    observer: Observer | None,
) -> None:
    client_class = type(client)
    service_id = client.meta.service_model.service_id.hyphenize()
    # What we built there ourselves is no name that is taken.
    detach(client_class)
    _refuse_taken_names(definitions, service_id, vars(client_class))
    vars(client).pop("waiter_names", None)
    before = attachment_of(client)
    if isinstance(before, _ClientAttachment):
        before.own = before.own.extended(definitions, defaults, observer)
    else:
        own = EMPTY.extended(definitions, defaults, observer)
        attach(client_class, _HookedClient, _ClientAttachment(own, before))


class _ClientAttachment(Attachment):
    """What `enable(client)` set for one client, over what it had before."""

    def __init__(self, own: Scope, before: Attachment | None) -> None:
        super().__init__(self._merged, before.loader if before else None)
        self.own = own
        self._before = before

    def _merged(self) -> Scope:
        below = self._before.scope if self._before else _STATE.scope
        return self.own.over(below)


class _WaiterNames:
    """`client.waiter_names`: botocore's, then those of the definitions that it has none for.

    No property: a test may put a list in its place.
    """

    def __get__(self, client: Any, owner: type | None = None) -> Any:
        if client is None:
            return self
        # Looked up now: the class is made below.
        names = list(super(_HookedClient, client).waiter_names)  # type: ignore[misc]  # BaseClient has it
        # botocore keeps its list in the client, where it would hide this one.
        vars(client).pop("waiter_names", None)
        attachment = attachment_of(client)
        if attachment is not None and attachment.active():
            names += sorted(attachment.waiters(client).readable.keys() - set(names))
        return names


class _HookedClient(WaiterMethods):
    """A client's base class: our methods, and `get_waiter` whose wait returns the outcome."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        _STATE.client_classes.add(cls)

    waiter_names = _WaiterNames()

    def get_waiter(self, waiter_name: str) -> Any:
        attachment = attachment_of(self)
        if attachment is None or not attachment.active():
            return super().get_waiter(waiter_name)  # type: ignore[misc]  # BaseClient has it
        try:
            waiter = super().get_waiter(waiter_name)  # type: ignore[misc]  # the same
        except ValueError as error:
            waiter = _defined_waiter(self, attachment, waiter_name, error)
        _return_outcomes(waiter, attachment)
        return waiter

    get_waiter.__doc__ = botocore.client.BaseClient.get_waiter.__doc__


# --- waiter objects ---------------------------------------------------------------------------


def _defined_waiter(client: Any, attachment: Attachment, name: str, error: ValueError) -> Any:
    """The waiter object for a name that botocore does not have.

    Raises:
        ValueError: nobody has it; in botocore's words, with the nearest name behind them.
    """
    if not isinstance(name, str):
        raise error
    bound = attachment.waiters(client).by_snake_name.get(name)
    if bound is None:
        near = nearest(botocore.xform_name(name), client.waiter_names)
        hint = f"; did you mean {near!r}?" if near else ""
        raise ValueError(f"{error}{hint}") from None
    module = sys.modules["aiobotocore.waiter"] if is_async(type(client)) else botocore.waiter
    return waiter_object(client, bound, module.create_waiter_with_client)


_OUTCOMES: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar(
    "boto_waiters_plus_outcomes", default=None
)


def _return_outcomes(waiter: Any, attachment: Attachment) -> None:
    """Make a waiter of `get_waiter` return what its wait gave; botocore's drops it.

    Its class was made for this one object, so that changing the class changes nothing else.
    """
    waiter_class = type(waiter)
    documentation = waiter_class.wait.__doc__

    async def wait_async(self: Any, **keywords: Any) -> Any:
        # AIOWaiter, or AnyioWaiter, whose loop is not ours to run on.
        parent: Any = waiter_class.__mro__[1]
        current = vars(parent).get("wait")
        if (
            parent.__name__ == _AIO_WAITER
            and _is_of(parent, current)
            and _runs_here(self, attachment)
        ):
            return await stock_waiter.wait_async(self, keywords, attachment.scope)
        return await parent.wait(self, **keywords)

    def wait(self: Any, **keywords: Any) -> Any:
        # Looked up now: a test may have put a mock there.
        current = botocore.waiter.Waiter.wait
        if current is STOCK_WAIT and _runs_here(self, attachment):
            outcome: Any = stock_waiter.wait(self, keywords, attachment.scope)
        else:
            outcome = current(self, **keywords)
        collected = _OUTCOMES.get()
        if collected is not None:
            collected.append(outcome)
        return outcome

    method: Any = wait_async if inspect.iscoroutinefunction(waiter_class.wait) else wait
    method.__doc__ = documentation
    waiter_class.wait = method
    waiter_class.outcome = None
    record_assignments(waiter.config)


def _runs_here(waiter: Any, attachment: Attachment) -> bool:
    """Not any more after `uninstall`, unless only a definition can run the waiter."""
    return attachment.active() or stock_waiter.is_defined(waiter)


def _wait(wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]) -> Any:
    """What stands in `Waiter.wait`."""
    scope = _scope_of(waiter)
    if scope is None or args:
        return wrapped(*args, **keywords)
    return stock_waiter.wait(waiter, keywords, scope)


def _wait_async(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """What stands in aiobotocore's `AIOWaiter.wait`, which is a function of its own."""
    of_asyncio = any(base.__name__ == _AIO_WAITER for base in type(waiter).__mro__[:2])
    scope = _scope_of(waiter)
    if scope is None or args or not of_asyncio:
        return wrapped(*args, **keywords)
    return stock_waiter.wait_async(waiter, keywords, scope)


def _scope_of(waiter: Any) -> Scope | None:
    """The settings for a waiter object; None where botocore's own loop has to run."""
    attachment = attachment_of(stock_waiter.client_of(waiter))
    if attachment is not None:
        return attachment.scope if _runs_here(waiter, attachment) else None
    return _STATE.scope if _STATE.on else None


def _create_client(
    wrapped: Callable[..., Any],
    session: botocore.session.Session,
    args: Any,
    keywords: dict[str, Any],
) -> Any:
    """What stands in `Session.create_client`: reaches sessions older than `install`."""
    if _STATE.on:
        _hook_session(session)
    return wrapped(*args, **keywords)


def _on_resource_class(**event: Any) -> None:
    """Make the waiter methods of a boto3 resource return the outcome; boto3 drops it."""
    # The event comes from boto3, which botocore alone does not need.
    from boto3.docs.docstring import ResourceWaiterDocstring  # noqa: PLC0415

    class_attributes: dict[str, Any] = event["class_attributes"]
    for name, value in class_attributes.items():
        # Not by the prefix of the name: a handler's own `wait_until_...` is not ours to touch.
        if isinstance(getattr(value, "__doc__", None), ResourceWaiterDocstring):
            class_attributes[name] = _returning(value)


def _returning(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wait(self: Any, *args: Any, **keywords: Any) -> Any:
        collected: list[Any] = []
        token = _OUTCOMES.set(collected)
        try:
            method(self, *args, **keywords)
        finally:
            _OUTCOMES.reset(token)
        return collected[-1] if collected else None

    return wait


# --- wrapping ---------------------------------------------------------------------------------


def _wrap(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    """Put our wrapper around a function of a class, once, whoever wrapped it since."""
    # 16 ms that a program which only waits by `wait_until` never pays.
    import wrapt  # noqa: PLC0415

    current = layer = owner.__dict__[name]
    while layer is not None:
        if getattr(layer, "_self_wrapper", None) is wrapper:
            return
        if _is_mock(layer):
            # A test's mock is to be seen, and takes with it what is wrapped around it.
            return
        layer = getattr(layer, "__wrapped__", None)
    setattr(owner, name, wrapt.FunctionWrapper(current, wrapper))


def _is_mock(value: Any) -> bool:
    # unittest.mock takes 170 ms to import, and where nobody did there is no mock.
    module = sys.modules.get("unittest.mock")
    return module is not None and (
        isinstance(value, module.NonCallableMock) or hasattr(value, "mock")
    )


def _is_of(owner: type, function: Any) -> bool:
    """Whether a function is a class's own; anything else was put there on purpose."""
    is_function = type(function) is types.FunctionType and not _is_mock(function)
    return is_function and function.__module__ == owner.__module__


def _unwrap(owner: type, name: str) -> None:
    """Take our wrapper off if it lies on top; below somebody else's it stays and passes through."""
    current = owner.__dict__[name]
    if getattr(current, "_self_wrapper", None) in (_wait, _wait_async, _create_client):
        setattr(owner, name, current.__wrapped__)


_AIO_WAITER = "AIOWaiter"

_AIO_MODULES: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "aiobotocore.session": ("AioSession", "create_client", _create_client),
    "aiobotocore.waiter": (_AIO_WAITER, "wait", _wait_async),
}
"""aiobotocore's functions by module; wrapped when it is imported, and never imported by us."""


def _wrap_aio(module: Any) -> None:
    owner, name, wrapper = _AIO_MODULES[module.__name__]
    _wrap(getattr(module, owner), name, wrapper)


def _on_aio_import(module: Any) -> None:
    with _STATE.lock:
        if _STATE.on:
            _wrap_aio(module)


@functools.cache
def _watch_aio_imports() -> None:
    """Be told, once and for all, when aiobotocore is imported; what is installed then counts."""
    import wrapt  # noqa: PLC0415 - see `_wrap`

    for module in _AIO_MODULES:
        wrapt.when_imported(module)(_on_aio_import)

"""What is put on clients: `wait_until_*` methods, `get_waiter` and `waiter_names`.

A base class among those of a client's class provides the names that the client itself lacks, so
that creating a client costs nothing more.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

import botocore.client
from botocore import xform_name
from botocore.loaders import Loader

from ..settings import Settings, SettingsLevel
from .state import INSTALLED

if TYPE_CHECKING:
    from ..aws.service_waiters import ServiceWaiters
    from .sessions import SessionHook

METHOD_PREFIX = "wait_until_"

ATTRIBUTE = "_boto_waiters_plus"
"""The attribute of a client's class that holds its `ClientHook`."""


class ClientWaiters:
    """The waiters of a client under one set of settings; never changed but to keep what was built.

    Args:
        settings: those that hold for the client.
        service: the waiters of its service under these settings.
    """

    __slots__ = ("acceptors", "methods", "service", "settings")

    def __init__(self, settings: Settings, service: ServiceWaiters) -> None:
        self.settings = settings
        self.service = service
        self.methods: dict[str, Callable[..., Any]] = {}
        """The methods that were built, by name."""
        self.acceptors: dict[str, Any] = {}
        """The compiled acceptors of botocore's waiters, by name."""


class ClientHook:
    """What a client's class knows of its waiters.

    Args:
        level: the settings that hold for the client; read at every wait, so that `install` and
            `uninstall` reach existing clients.
        loader: the loader of the client's session.
        session: the hook of the client's session; None where the client itself was hooked.
    """

    def __init__(
        self,
        level: SettingsLevel,
        loader: Loader | None = None,
        session: SessionHook | None = None,
    ) -> None:
        self.level = level
        self.loader = loader
        self.session = session
        self._waiters: ClientWaiters | None = None

    def is_active(self) -> bool:
        """Return whether the methods exist; not any more after `uninstall`."""
        return self.session is None or self.session.is_active()

    def runs_waiters(self) -> bool:
        """Return whether waiter objects of the client run on the engine."""
        return self.session is None or self.session.runs_waiters()

    def waiters(self, client: Any) -> ClientWaiters:
        """Return the client's waiters; the same object until settings have changed."""
        settings = self.level.merged()
        waiters = self._waiters
        if waiters is None or waiters.settings is not settings:
            if waiters is not None and waiters.settings.definitions == settings.definitions:
                service = waiters.service
            else:
                from ..aws.service_waiters import ServiceWaiters  # noqa: PLC0415 - first waiter

                model = client.meta.service_model
                service = ServiceWaiters(model, self.loader, settings.definitions)
            self._waiters = waiters = ClientWaiters(settings, service)
        return waiters


def hook_of(client: Any) -> ClientHook | None:
    """Return what a client's class knows of its waiters; None if it was never hooked."""
    return getattr(type(client), ATTRIBUTE, None)


# Clients that were not hooked, but waited on by `wait_until`.
_UNHOOKED: weakref.WeakKeyDictionary[type, ClientHook] = weakref.WeakKeyDictionary()


def waiters_of(client: Any) -> ClientWaiters:
    """Return the waiters of any botocore client, hooked or not.

    Raises:
        TypeError: not a botocore client.
    """
    hook = hook_of(client)
    if hook is None:
        if not hasattr(getattr(client, "meta", None), "service_model"):
            raise TypeError(f"client must be a botocore client, not {type(client).__name__}")
        hook = _UNHOOKED.setdefault(type(client), ClientHook(INSTALLED.level))
    return hook.waiters(client)


class _WaiterNames:
    """`client.waiter_names`: botocore's, then those of definitions that botocore lacks.

    Where botocore has no waiters for a service the list stays empty: `waiter_names` tells callers
    whether the session has a waiter model. Not a property: a test may put a list in its place.
    """

    def __get__(self, client: Any, owner: type | None = None) -> Any:
        if client is None:
            return self
        names = list(super(HookedClient, client).waiter_names)  # type: ignore[misc]  # BaseClient has it
        # botocore keeps its list on the client, where it would hide this one.
        vars(client).pop("waiter_names", None)
        hook = hook_of(client)
        if names and hook is not None and hook.runs_waiters() and not _in_documentation_builder():
            readable = hook.waiters(client).service.readable
            names += sorted(readable.keys() - set(names))
        return names


class HookedClient:
    """The base class of hooked clients."""

    waiter_names = _WaiterNames()

    def __getattr__(self, item: str) -> Any:
        # The prefix comes first: copying asks a bare instance for all kinds of names.
        if item.startswith(METHOD_PREFIX):
            method = _method(self, item)
            if method is not None:
                return types.MethodType(method, self)
        try:
            return super().__getattr__(item)  # type: ignore[misc]  # BaseClient has it
        except AttributeError as error:
            near = _nearest_method(self, item)
            if near is None:
                raise
            raise AttributeError(f"{error}; did you mean {near!r}?") from None

    def __dir__(self) -> Iterable[str]:
        names = set(super().__dir__())
        hook = hook_of(self)
        if hook is not None and hook.is_active() and not _in_documentation_builder():
            names.update(METHOD_PREFIX + name for name in hook.waiters(self).service.readable)
        return names

    # Documentation builders and autospec see botocore's signature, which has no annotations.
    @functools.wraps(botocore.client.BaseClient.get_waiter)
    def get_waiter(self, waiter_name: str) -> Any:
        from .waiter_objects import get_waiter  # noqa: PLC0415 - imported by the first waiter

        get_stock_waiter = super().get_waiter  # type: ignore[misc]  # BaseClient has it
        return get_waiter(self, waiter_name, get_stock_waiter)


def _method(client: Any, item: str) -> Callable[..., Any] | None:
    """Return the method of this name, built at first use; None if there is none."""
    hook = hook_of(client)
    if hook is None or not hook.is_active():
        return None
    waiters = hook.waiters(client)
    method = waiters.methods.get(item)
    if method is None:
        from . import methods  # noqa: PLC0415 - imported by the first waiter

        method = methods.build_method(client, hook, item.removeprefix(METHOD_PREFIX))
        if method is not None:
            # Of threads that build at once, the first wins.
            method = waiters.methods.setdefault(item, method)
    return method


def _in_documentation_builder() -> bool:
    """Return whether botocore is writing documentation pages.

    The builder looks up botocore's own definition of every name in `waiter_names`, and documents
    every method of `dir(client)`.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - documented; `inspect` is slower
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("botocore.docs."):
            return True
        frame = frame.f_back
    return False


def _nearest_method(client: Any, item: str) -> str | None:
    if not item.startswith(METHOD_PREFIX):
        return None
    from ..arguments import nearest  # noqa: PLC0415 - only for a name that does not exist

    return nearest(item, [name for name in dir(client) if name.startswith(METHOD_PREFIX)])


def refuse_taken_names(
    settings: Settings, service_id: str, class_attributes: Iterable[str]
) -> None:
    """Refuse definitions whose method would hide an attribute of the client's class.

    Raises:
        WaiterDefinitionError: it names the definition.
    """
    from botocore.utils import EVENT_ALIASES  # noqa: PLC0415 - only where definitions are given

    from ..aws.service_waiters import applies_to  # noqa: PLC0415 - the same
    from ..engine.model import WaiterDefinition  # noqa: PLC0415 - the same
    from ..exceptions import WaiterDefinitionError  # noqa: PLC0415 - the same

    for layer in settings.definitions:
        if not isinstance(layer, WaiterDefinition):
            continue
        name = METHOD_PREFIX + xform_name(layer.name)
        if name not in class_attributes or xform_name(layer.operation) not in class_attributes:
            continue
        by_botocore_name = EVENT_ALIASES.get(layer.service or "") == service_id
        if by_botocore_name or applies_to(layer, service_id):
            raise WaiterDefinitionError(
                f"the client has an attribute {name} already",
                source=layer.source,
                waiter=layer.name,
            )

"""What a client's class knows of its waiters."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.loaders import Loader
from botocore.model import ServiceModel

from ..calls.clients import client_behind
from ..common.wrong_arguments import wrong_type
from ..settings import PROCESS_LEVEL, HookedSession, Settings, SettingsLevel

if TYPE_CHECKING:
    from .service_waiters import ServiceWaiters

ATTRIBUTE = "_boto_waiters_plus"
"""The attribute of a client's class that holds its `ClientHook`."""


class ClientWaiters:
    """The waiters of a client under one set of settings, and what was built for them.

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
        session: HookedSession | None = None,
    ) -> None:
        self.level = level
        self.loader = loader
        self.session = session
        self._waiters: ClientWaiters | None = None

    def is_active(self) -> bool:
        """Return whether the methods exist; after `uninstall` they do not."""
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
                from .service_waiters import ServiceWaiters  # noqa: PLC0415 - first waiter

                model = client.meta.service_model
                service = ServiceWaiters(model, self.loader, settings.definitions)
            self._waiters = waiters = ClientWaiters(settings, service)
        return waiters


def hook_of(client: Any) -> ClientHook | None:
    """Return what a client's class knows of its waiters; None if it was never hooked."""
    return getattr(type(client), ATTRIBUTE, None)


# Clients that were not hooked, but waited on by `wait_until`; by their `meta`, which is of one
# client alone, while several may share the class of a proxy.
_UNHOOKED: weakref.WeakKeyDictionary[Any, ClientHook] = weakref.WeakKeyDictionary()


def waiters_of(client: Any) -> ClientWaiters:
    """Return the waiters of any botocore client, hooked or not, or of a proxy for one.

    Raises:
        TypeError: not a botocore client.
    """
    client = client_behind(client)
    hook = hook_of(client)
    if hook is None:
        meta = getattr(client, "meta", None)
        # By the type: mocks give themselves out for what they stand for.
        if not issubclass(type(getattr(meta, "service_model", None)), ServiceModel):
            raise wrong_type("client", client, "a botocore client")
        behind = getattr(client, ATTRIBUTE, None)
        hook = behind or _UNHOOKED.setdefault(meta, ClientHook(PROCESS_LEVEL))
    return hook.waiters(client)

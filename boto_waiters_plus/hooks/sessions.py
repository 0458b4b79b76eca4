"""Our event handlers on one session."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..settings import HookedSession, SettingsLevel
from .resources import on_resource_class
from .state import INSTALLED

if TYPE_CHECKING:
    # Not for import: this is imported while threads import botocore.session.
    import botocore.session
    from botocore.loaders import Loader

CLIENT_EVENT = "creating-client-class"
RESOURCE_EVENT = "creating-resource-class"

# One for each handler: botocore takes a second event of one id for the same registration.
_CLIENT_HANDLER_ID = "boto-waiters-plus-client"
_RESOURCE_HANDLER_ID = "boto-waiters-plus-resource"


class SessionHook:
    """The handlers on one session, and what `enable(session)` set for it."""

    def __init__(self, session: botocore.session.Session) -> None:
        self.level = SettingsLevel(INSTALLED.level)
        self.is_explicit = False
        """`enable` was called for the session."""
        self._session = weakref.ref(session)
        # Nothing is read from the session yet: it would read its configuration too early.
        session.register(CLIENT_EVENT, self._on_client_class, unique_id=_CLIENT_HANDLER_ID)
        session.register(RESOURCE_EVENT, on_resource_class, unique_id=_RESOURCE_HANDLER_ID)

    def is_active(self) -> bool:
        """Return whether clients of the session have our methods."""
        return self.is_explicit or INSTALLED.on

    def runs_waiters(self) -> bool:
        """Return whether waiter objects of its clients run on the engine."""
        return self.is_explicit or (INSTALLED.on and INSTALLED.runs_waiters)

    @property
    def profile(self) -> str | None:
        """The profile of the session; None for the default one."""
        session = self._session()
        return None if session is None else session.profile

    def unregister(self) -> None:
        """Take the handlers off the session."""
        session = self._session()
        if session is not None:
            session.unregister(CLIENT_EVENT, unique_id=_CLIENT_HANDLER_ID)
            session.unregister(RESOURCE_EVENT, unique_id=_RESOURCE_HANDLER_ID)

    def _on_client_class(self, **event: Any) -> None:
        # Imported by the first client: it needs botocore's.
        from ..service.clients import ATTRIBUTE  # noqa: PLC0415
        from .hooked_client import HookOfClass, refuse_taken_names  # noqa: PLC0415

        class_attributes: dict[str, Any] = event["class_attributes"]
        service_id = event["event_name"].removeprefix(f"{CLIENT_EVENT}.")
        settings = self.level.merged()
        if settings.definitions:
            refuse_taken_names(settings, service_id, class_attributes)
        session = self._session()
        loader: Loader | None = session.get_component("data_loader") if session else None
        class_attributes[ATTRIBUTE] = HookOfClass(self.level, loader, self)


def hook_session(session: botocore.session.Session) -> HookedSession:
    """Register our handlers with a session, once."""
    with INSTALLED.lock:
        hook = INSTALLED.session_hooks.get(session)
        if hook is None:
            hook = INSTALLED.session_hooks[session] = SessionHook(session)
        return hook

"""Our event handlers on one session, and what they do to boto3's resources."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..settings import HookedSession, SettingsLevel
from .state import INSTALLED

if TYPE_CHECKING:
    import botocore.session
    from botocore.loaders import Loader


# --- the waiter methods of boto3 resources, made to return the outcome that they would drop

_MARK = "_boto_waiters_plus_resource"
"""The attribute of resource classes that were made while we listened."""


def on_resource_class(**event: Any) -> None:
    """Make the waiter methods of a boto3 resource return the outcome."""
    # The event comes from boto3, which botocore alone does not need.
    from boto3.docs.docstring import ResourceWaiterDocstring  # noqa: PLC0415

    class_attributes: dict[str, Any] = event["class_attributes"]
    class_attributes[_MARK] = True
    for name, value in class_attributes.items():
        # Not by the prefix of the name: a `wait_until_...` of the user's own stays as it is.
        if isinstance(getattr(value, "__doc__", None), ResourceWaiterDocstring):
            class_attributes[name] = _returning_outcome(value)


def returns_outcomes(resource_class: type) -> bool:
    """Return whether the waiters of a resource, and of those made from it, return the outcome."""
    return hasattr(resource_class, _MARK)


def _returning_outcome(method: Callable[..., Any]) -> Callable[..., Any]:
    from .waiter_objects import outcomes_inside  # noqa: PLC0415 - imported by the first waiter

    @functools.wraps(method)
    def wait(self: Any, *args: Any, **keywords: Any) -> Any:
        with outcomes_inside() as collected:
            method(self, *args, **keywords)
        return collected[-1] if collected else None

    @functools.wraps(method)
    async def wait_async(self: Any, *args: Any, **keywords: Any) -> Any:
        with outcomes_inside() as collected:
            await method(self, *args, **keywords)
        return collected[-1] if collected else None

    # Those of aioboto3.
    return wait_async if inspect.iscoroutinefunction(method) else wait


# --- the handlers --------------------------------------------------------------------------------

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
        # Imported by the first client: they need botocore's.
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

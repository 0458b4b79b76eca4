"""`enable`: what `install` gives all, for one session or one client. It needs botocore's client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.client import BaseClient

from ..calls.clients import client_behind, layers_of
from ..calls.private_names import botocore_session_of
from ..common.wrong_arguments import WrongTypeError, wrong_type
from ..service.clients import ATTRIBUTE, ClientHook, hook_of
from ..settings import Observer, Settings, SettingsLevel
from .hooked_client import extend, refuse_taken_names
from .installation import settings_from
from .sessions import hook_session
from .state import INSTALLED

if TYPE_CHECKING:
    from ..definitions.files import Source
    from ..options import WaitOptions

T = TypeVar("T")


def enable(
    target: T,
    /,
    *,
    definitions: Source | Iterable[Source] = (),
    defaults: WaitOptions | Mapping[str, Any] | None = None,
    on_event: Observer | None = None,
) -> T:
    """Give one session's future clients, or one existing client, what `install` gives all.

    Args:
        target: a boto3, botocore or aiobotocore session, or a client; or a proxy of one, whose
            `__wrapped__` it is.
        definitions, defaults, on_event: as for `install`; they win over what is set there.

    Returns:
        The target.

    Raises:
        WaiterDefinitionError: a definition breaks a rule; the target is left as it was.
        TypeError: the target is neither a session nor a client, or a default is not valid.
    """
    settings = settings_from(definitions, defaults, on_event)
    with INSTALLED.lock:
        client = client_behind(target)
        # By the type: a mock is no client whose class could be changed.
        if issubclass(type(client), BaseClient):
            _enable_client(client, settings)
            return target
        session = next(filter(None, map(botocore_session_of, layers_of(target))), None)
        if session is None:
            problem = wrong_type("target", target, "a boto3 or botocore session, or a client")
            hint = ". A proxy is taken where its `__wrapped__` is the client"
            raise WrongTypeError(*problem.parts, hint, value=target)
        hook = hook_session(session)
        hook.is_explicit = True
        hook.level.own = hook.level.own.extended(settings)
    return target


def _enable_client(client: Any, settings: Settings) -> None:
    client_class = type(client)
    service_id = client.meta.service_model.service_id.hyphenize()
    refuse_taken_names(settings, service_id, vars(client_class))
    vars(client).pop("waiter_names", None)
    hook = hook_of(client)
    if hook is None or hook.session is not None:
        level = SettingsLevel(INSTALLED.level if hook is None else hook.level)
        hook = ClientHook(level, None if hook is None else hook.loader)
        setattr(client_class, ATTRIBUTE, hook)
    hook.level.own = hook.level.own.extended(settings)
    extend(client_class)

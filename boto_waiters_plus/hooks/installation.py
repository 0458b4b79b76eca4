"""`install`, `uninstall` and `enable`.

Sessions made from now on are reached by botocore's `register_initializer`; those that exist, by
a wrapper around `Session.create_client`; every waiter object, however it was built, by a wrapper
around `Waiter.wait`. All wrappers pass through when nothing is installed.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import botocore
import botocore.client
import botocore.session
import botocore.waiter

from ..aws.private_names import botocore_session_of
from ..definitions.files import Source, load_layers
from ..options import WaitOptions, as_options
from ..settings import NO_SETTINGS, Observer, Settings, SettingsLevel
from .clients import ATTRIBUTE, ClientHook, HookedClient, hook_of, refuse_taken_names
from .sessions import hook_session
from .state import INSTALLED
from .waiter_objects import AIO_WAITER, aio_wait_wrapper, wait_wrapper
from .wrapping import unwrap, wrap

T = TypeVar("T")


def install(
    *,
    definitions: Source | Iterable[Source] = (),
    defaults: WaitOptions | Mapping[str, Any] | None = None,
    on_event: Observer | None = None,
    get_waiter: bool = True,
) -> None:
    """Give every client `wait_until_<name>` methods and run all waiters on the engine.

    Reaches sessions made from now on, existing sessions, and every botocore waiter object. It is
    safe to call again and from several threads: definitions and handlers add up, defaults
    replace.

    Args:
        definitions: waiters of your own: a path, a dict, a `WaiterDefinition`, or several; they
            win over all others.
        defaults: options for every wait that does not give them.
        on_event: called with a `WaitEvent` as a wait starts, after each attempt, and at its end.
        get_waiter: False leaves every `Waiter` object to botocore and adds the methods only.

    Raises:
        WaiterDefinitionError: a definition breaks a rule; nothing is installed then.
        TypeError, ValueError: an argument is not valid.
    """
    settings = _settings(definitions, defaults, on_event)
    if not isinstance(get_waiter, bool):
        raise TypeError(f"get_waiter must be True or False, not {type(get_waiter).__name__}")
    with INSTALLED.lock:
        INSTALLED.level.own = INSTALLED.level.own.extended(settings)
        INSTALLED.runs_waiters = get_waiter
        if not INSTALLED.on:
            botocore.register_initializer(_on_session)
            INSTALLED.on = True
        wrap(botocore.session.Session, "create_client", _create_client_wrapper)
        if get_waiter:
            wrap(botocore.waiter.Waiter, "wait", wait_wrapper)
            # What `waiter.outcome` is before the first wait, on waiters built by hand.
            botocore.waiter.Waiter.outcome = None  # type: ignore[attr-defined]  # ours
        else:
            _unwrap_waiters()
        for module in _AIO_FUNCTIONS:
            if module in sys.modules:
                _wrap_aio(sys.modules[module])
        _watch_aio_imports()


def uninstall() -> None:
    """Undo `install`: botocore behaves as its own again, for existing clients too.

    Sessions and clients that were given to `enable` keep what they were given there.
    """
    with INSTALLED.lock:
        INSTALLED.level.own = NO_SETTINGS
        INSTALLED.runs_waiters = True
        if INSTALLED.on:
            INSTALLED.on = False
            botocore.unregister_initializer(_on_session)
        for session, hook in list(INSTALLED.session_hooks.items()):
            if not hook.is_explicit:
                hook.unregister()
                del INSTALLED.session_hooks[session]
        unwrap(botocore.session.Session, "create_client", _create_client_wrapper)
        _unwrap_waiters()
        _unwrap_aio("aiobotocore.session")


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
        target: a boto3, botocore or aiobotocore session, or a client.
        definitions, defaults, on_event: as for `install`; they win over what is set there.

    Returns:
        The target.

    Raises:
        WaiterDefinitionError: a definition breaks a rule; the target is left as it was.
        TypeError: the target is neither a session nor a client, or a default is not valid.
    """
    settings = _settings(definitions, defaults, on_event)
    with INSTALLED.lock:
        if isinstance(target, botocore.client.BaseClient):
            _enable_client(target, settings)
            return target
        session = botocore_session_of(target)
        if session is None:
            raise TypeError(
                "target must be a boto3 or botocore session, or a client, "
                f"not {type(target).__name__}"
            )
        hook = hook_session(session)
        hook.is_explicit = True
        hook.level.own = hook.level.own.extended(settings)
    return target


def _settings(
    definitions: Source | Iterable[Source],
    defaults: WaitOptions | Mapping[str, Any] | None,
    on_event: Observer | None,
) -> Settings:
    """Return the settings, checked and loaded before anything is changed."""
    if on_event is not None and not callable(on_event):
        raise TypeError(f"on_event must be a function, not {type(on_event).__name__}")
    return Settings(
        definitions=load_layers(definitions),
        defaults=as_options(defaults, "defaults"),
        observers=() if on_event is None else (on_event,),
    )


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
    if not issubclass(client_class, HookedClient):
        client_class.__bases__ = (HookedClient, *client_class.__bases__)


def _on_session(session: botocore.session.Session) -> None:
    hook_session(session)


def _create_client_wrapper(
    wrapped: Callable[..., Any],
    session: botocore.session.Session,
    args: Any,
    keywords: dict[str, Any],
) -> Any:
    """Stand in `Session.create_client`: reaches sessions older than `install`."""
    if INSTALLED.on:
        hook_session(session)
    return wrapped(*args, **keywords)


_AIO_FUNCTIONS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "aiobotocore.session": ("AioSession", "create_client", _create_client_wrapper),
    "aiobotocore.waiter": (AIO_WAITER, "wait", aio_wait_wrapper),
}
"""aiobotocore's functions by module; wrapped when it is imported, and never imported by us."""


def _wrap_aio(module: Any) -> None:
    owner, name, wrapper = _AIO_FUNCTIONS[module.__name__]
    if wrapper is _create_client_wrapper or INSTALLED.runs_waiters:
        wrap(getattr(module, owner), name, wrapper)


def _unwrap_waiters() -> None:
    if vars(botocore.waiter.Waiter).get("outcome", INSTALLED) is None:
        del botocore.waiter.Waiter.outcome  # type: ignore[attr-defined]  # put there by `install`
    unwrap(botocore.waiter.Waiter, "wait", wait_wrapper)
    _unwrap_aio("aiobotocore.waiter")


def _unwrap_aio(module: str) -> None:
    if module in sys.modules:
        owner, name, wrapper = _AIO_FUNCTIONS[module]
        unwrap(getattr(sys.modules[module], owner), name, wrapper)


def _on_aio_import(module: Any) -> None:
    with INSTALLED.lock:
        if INSTALLED.on:
            _wrap_aio(module)


@functools.cache
def _watch_aio_imports() -> None:
    """Be notified, once per process, when aiobotocore is imported."""
    import wrapt  # noqa: PLC0415 - see `wrap`

    for module in _AIO_FUNCTIONS:
        wrapt.when_imported(module)(_on_aio_import)

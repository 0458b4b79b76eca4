"""What `install` changes of botocore and aiobotocore; imported when one of them is there.

Each wrapper passes through when nothing is installed.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

import wrapt

from .sessions import hook_session
from .state import INSTALLED, PATCHED_MODULES
from .wrapping import AIO_WAITER, aio_wait_wrapper, is_mock, wait_wrapper


def apply_to_imported() -> None:
    """Apply the patches to the modules that are imported, or remove them."""
    for name in PATCHED_MODULES:
        if sys.modules.get(name) is None:
            continue
        try:
            # Waits for another thread that has not imported all of it yet.
            module = importlib.import_module(name)
        # It cannot be imported after all; should that change, the import hook sees it.
        except Exception:  # noqa: S112 - see above
            continue
        apply_to(module)


def apply_to(module: Any) -> None:
    """Apply the patches to a module, or remove them if nothing is installed."""
    owner_name, name, wrapper = _WRAPPED[module.__name__]
    with INSTALLED.lock:
        if module.__name__ == "botocore.session":
            _register_initializer(sys.modules["botocore"])
        owner = getattr(module, owner_name, None)
        if owner is not None:
            _wrap(owner, name, wrapper)


def _register_initializer(botocore: Any) -> None:
    """Reach the sessions made from now on, or stop doing so."""
    before = INSTALLED.registered_with
    now = botocore if INSTALLED.on else None
    if before is now:
        return
    if before is not None:
        with contextlib.suppress(ValueError):  # the module was reloaded since
            before.unregister_initializer(_on_session)
    if now is not None:
        now.register_initializer(_on_session)
    INSTALLED.registered_with = now


def _on_session(session: Any) -> None:
    if INSTALLED.on:
        hook_session(session)


def _create_client_wrapper(
    wrapped: Callable[..., Any], session: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in for `Session.create_client`, to reach sessions older than `install`."""
    # A test may call it with a mock, which says of itself that it is a session.
    if issubclass(type(session), sys.modules["botocore.session"].Session):
        _on_session(session)
    return wrapped(*args, **keywords)


_WRAPPED: Final[dict[str, tuple[str, str, Callable[..., Any]]]] = {
    "botocore.session": ("Session", "create_client", _create_client_wrapper),
    "botocore.waiter": ("Waiter", "wait", wait_wrapper),
    "aiobotocore.session": ("AioSession", "create_client", _create_client_wrapper),
    "aiobotocore.waiter": (AIO_WAITER, "wait", aio_wait_wrapper),
}
"""Everything that is patched, by module."""


def _wrap(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    is_waiter = wrapper is not _create_client_wrapper
    if INSTALLED.on and (INSTALLED.runs_waiters or not is_waiter):
        _put_around(owner, name, wrapper)
        if is_waiter:
            # What `waiter.outcome` is before the first wait, on waiters built by hand.
            owner.outcome = None  # type: ignore[attr-defined]  # added to the class
        return
    current = owner.__dict__[name]
    # Taken off if it lies on top; below another's wrapper it stays and passes through.
    if getattr(current, "_self_wrapper", None) is wrapper:
        setattr(owner, name, current.__wrapped__)
    if is_waiter and vars(owner).get("outcome", INSTALLED) is None:
        del owner.outcome  # type: ignore[attr-defined]  # see above


def _put_around(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    """Put a wrapper around a function of a class, once, even if others have wrapped it since."""
    current = layer = owner.__dict__[name]
    while layer is not None:
        if getattr(layer, "_self_wrapper", None) is wrapper:
            return
        if is_mock(layer):
            # A test's mock is to be called, and is removed with all that is wrapped around it.
            return
        layer = getattr(layer, "__wrapped__", None)
    setattr(owner, name, wrapt.FunctionWrapper(current, wrapper))

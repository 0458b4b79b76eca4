"""What is put on clients: `wait_until_*` methods, `get_waiter` and `waiter_names`.

It is put into the class of a client when that is finished, in front of what others have put there
or into its bases, and makes no method before it is asked for one.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, Final

import botocore.client
from botocore import xform_name
from botocore.utils import EVENT_ALIASES

from ..common.errors import WaiterDefinitionError
from ..service.clients import ClientHook, hook_of
from ..settings import Settings

METHOD_PREFIX = "wait_until_"

_STOCK_NAMES: Final = vars(botocore.client.BaseClient)["waiter_names"]


class HookOfClass(ClientHook):
    """A `ClientHook` that extends the class among whose attributes it is."""

    def __set_name__(self, owner: type, name: str) -> None:
        extend(owner)


def extend(client_class: type) -> None:
    """Put into a client's class what is new in it, once."""
    own = vars(client_class)
    if getattr(own.get("__getattr__"), "__module__", None) == __name__:
        return
    inherited_attribute = _before(client_class, "__getattr__")
    inherited_names = _before(client_class, "__dir__")
    inherited_waiter = _before(client_class, "get_waiter")

    def __getattr__(self: Any, item: str) -> Any:  # noqa: N807 - it is one
        # The prefix comes first: copying asks a bare instance for all kinds of names.
        if item.startswith(METHOD_PREFIX):
            return _bound_method(self, item, inherited_attribute(self))
        return inherited_attribute(self)(item)

    def __dir__(self: Any) -> Iterable[str]:  # noqa: N807 - it is one
        hook = hook_of(self)
        if hook is None or not hook.is_active() or _is_read_for_documentation():
            return inherited_names(self)()  # type: ignore[no-any-return]  # of any class
        names = hook.waiters(self).service.readable_names
        return {*inherited_names(self)(), *(METHOD_PREFIX + name for name in names)}

    # Documentation builders and autospec see botocore's signature, which has no annotations.
    @functools.wraps(botocore.client.BaseClient.get_waiter)
    def get_waiter(self: Any, waiter_name: str) -> Any:
        from .waiter_objects import get_waiter  # noqa: PLC0415 - imported by the first waiter

        return get_waiter(self, waiter_name, inherited_waiter(self))

    for function in (__getattr__, __dir__, get_waiter):
        setattr(client_class, function.__name__, function)
    if "waiter_names" not in own:
        setattr(client_class, "waiter_names", _WaiterNames(client_class))  # noqa: B010 - for mypy


def _before(client_class: type, name: str) -> Callable[[Any], Callable[..., Any]]:
    """Return what finds the method of a client that the class has now, or else inherits."""
    own = vars(client_class).get(name)
    if own is None:
        return lambda client: getattr(super(client_class, client), name)
    bind = getattr(own, "__get__", None)
    return (lambda client: bind(client, client_class)) if bind else lambda _: own


class _WaiterNames:
    """`client.waiter_names`: botocore's, then those of definitions that botocore lacks.

    Empty where botocore has none: a program that reads names there loads botocore's model of them.
    Not a property: a test may put a list in its place.

    Args:
        client_class: the class that it is an attribute of.
    """

    def __init__(self, client_class: type) -> None:
        self._client_class = client_class

    def __get__(self, client: Any, owner: type | None = None) -> Any:
        if client is None:
            return self
        names = super(self._client_class, client).waiter_names  # type: ignore[arg-type]  # of this class
        # botocore keeps its list on the client, where it would hide this one.
        vars(client).pop("waiter_names", None)
        if vars(botocore.client.BaseClient).get("waiter_names") is not _STOCK_NAMES:
            return names  # a test's
        hook = hook_of(client)
        if names and hook is not None and hook.runs_waiters() and not _is_read_for_documentation():
            readable = hook.waiters(client).service.readable_names
            return [*names, *sorted({*readable} - {*names})]
        return list(names)


def _bound_method(client: Any, item: str, inherited_attribute: Callable[[str], Any]) -> Any:
    """Return the method of this name, or what the client has without the package.

    Raises:
        AttributeError: there is neither; with the nearest names.
    """
    method = _method(client, item)
    if method is not None:
        return types.MethodType(method, client)
    try:
        return inherited_attribute(item)
    except AttributeError as error:
        # Only for a name that does not exist.
        from ..definitions.near_waiters import did_you_mean  # noqa: PLC0415 - see above

        methods = (name for name in dir(client) if name.startswith(METHOD_PREFIX))
        known = [name.removeprefix(METHOD_PREFIX) for name in methods]
        hint = did_you_mean(item.removeprefix(METHOD_PREFIX), known, METHOD_PREFIX)
        if not hint:
            raise
        raise AttributeError(f"{error}{hint}") from None


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


def _is_read_for_documentation() -> bool:
    """Return whether botocore's documentation builder reads an attribute of a client.

    It documents all public methods, and looks for a waiter model of botocore's where there are
    `waiter_names`.
    """
    reader: FrameType | None = sys._getframe(2)  # noqa: SLF001 - documented; `inspect` is slower
    # It reads the methods by `inspect.getmembers`.
    while reader is not None and reader.f_globals.get("__name__") == "inspect":
        reader = reader.f_back
    return reader is not None and reader.f_globals.get("__name__", "").startswith("botocore.docs.")


def refuse_taken_names(
    settings: Settings, service_id: str, class_attributes: Iterable[str]
) -> None:
    """Refuse definitions whose method would hide an attribute of the client's class.

    Raises:
        WaiterDefinitionError: it names the definition.
    """
    # Only where definitions are given.
    from ..service.places import applies_to  # noqa: PLC0415 - see above

    for each in settings.definitions:
        name = METHOD_PREFIX + xform_name(each.name)
        if name not in class_attributes or xform_name(each.operation) not in class_attributes:
            continue
        by_botocore_name = EVENT_ALIASES.get(each.service or "") == service_id
        if by_botocore_name or applies_to(each, service_id):
            problem = f"the client has an attribute {name} already"
            raise WaiterDefinitionError(problem, source=each.source, waiter=each.name)

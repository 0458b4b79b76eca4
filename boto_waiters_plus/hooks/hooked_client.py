"""What is put on clients: `wait_until_*` methods, `get_waiter` and `waiter_names`.

A base class among those of a client's class provides the names that the client itself lacks, so
that creating a client costs nothing more.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import botocore.client
from botocore import xform_name
from botocore.utils import EVENT_ALIASES

from ..service.clients import hook_of
from ..settings import Settings

METHOD_PREFIX = "wait_until_"


class _WaiterNames:
    """`client.waiter_names`: botocore's, then those of definitions that botocore lacks.

    Empty where botocore has none: a program that reads names there loads botocore's model of them.
    Not a property: a test may put a list in its place.
    """

    def __get__(self, client: Any, owner: type | None = None) -> Any:
        if client is None:
            return self
        names = list(super(HookedClient, client).waiter_names)  # type: ignore[misc]  # BaseClient has it
        # botocore keeps its list on the client, where it would hide this one.
        vars(client).pop("waiter_names", None)
        hook = hook_of(client)
        if names and hook is not None and hook.runs_waiters() and not _is_read_for_documentation():
            readable = hook.waiters(client).service.readable_names
            names += sorted({*readable} - {*names})
        return names


class HookedClient:
    """The base class of hooked clients."""

    waiter_names = _WaiterNames()

    # A class that another handler puts in front calls the `__init__` of its next class by name.
    @functools.wraps(botocore.client.BaseClient.__init__)  # type: ignore[misc]  # for its signature
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)

    def __getattr__(self, item: str) -> Any:
        # The prefix comes first: copying asks a bare instance for all kinds of names.
        if not item.startswith(METHOD_PREFIX):
            return super().__getattr__(item)  # type: ignore[misc]  # BaseClient has it
        method = _method(self, item)
        if method is not None:
            return types.MethodType(method, self)
        try:
            return super().__getattr__(item)  # type: ignore[misc]  # as above
        except AttributeError as error:
            # Only for a name that does not exist.
            from ..definitions.near_waiters import did_you_mean  # noqa: PLC0415 - see above

            methods = (name for name in dir(self) if name.startswith(METHOD_PREFIX))
            known = [name.removeprefix(METHOD_PREFIX) for name in methods]
            hint = did_you_mean(item.removeprefix(METHOD_PREFIX), known, METHOD_PREFIX)
            if not hint:
                raise
            raise AttributeError(f"{error}{hint}") from None

    def __dir__(self) -> Iterable[str]:
        names = set(super().__dir__())
        hook = hook_of(self)
        if hook is not None and hook.is_active() and not _is_read_for_documentation():
            names.update(METHOD_PREFIX + name for name in hook.waiters(self).service.readable_names)
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


def _is_read_for_documentation() -> bool:
    """Return whether botocore's documentation builder reads an attribute of `HookedClient`.

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
    from ..engine.model import WaiterDefinition  # noqa: PLC0415 - see above
    from ..exceptions import WaiterDefinitionError  # noqa: PLC0415 - see above
    from ..service.definition_places import applies_to  # noqa: PLC0415 - see above

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

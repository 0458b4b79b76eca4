"""What is remembered about a client, and what kind of client or method it is."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, Generic, TypeVar

from botocore.client import BaseClient
from botocore.model import OperationModel

T = TypeVar("T")


class PerClient(Generic[T]):
    """One value for each client, made at first use.

    Two threads may make the value of one client at once, and get the first one: no lock is held
    while `make` runs.

    Args:
        make: makes the value of a client.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        # Not a WeakKeyDictionary: a client need not be hashable, and this costs less.
        self._values: dict[int, tuple[weakref.ref[Any], T]] = {}

    def of(self, client: Any) -> T:
        """Return the value of the client."""
        entry = self._values.get(id(client))
        if entry is not None and entry[0]() is client:
            return entry[1]
        value = self._make(client)
        key = id(client)
        try:
            reference = weakref.ref(client, lambda _: self._values.pop(key, None))
        except TypeError:  # A stand-in that allows no weak references.
            return value
        first, kept = self._values.setdefault(key, (reference, value))
        if first() is client:
            return kept
        self._values[key] = reference, value
        return value


# --- what a client or its method is: blocking or awaited, and the operation that is called -------


def is_async(client_class: type) -> bool:
    """Return whether calls are awaited: aiobotocore's, by the module of the base class."""
    for base in client_class.__mro__:  # noqa: SIM110 - not a generator: each wait asks
        if base.__module__.startswith("aiobotocore."):
            return True
    return False


def operation_of(method: Any) -> OperationModel | None:
    """Return the operation that a method of a client calls; None for any other callable."""
    while isinstance(method, partial):
        method = method.func
    client = getattr(method, "__self__", None)
    return _operation_named(method, client) if isinstance(client, BaseClient) else None


def _operation_named(method: Any, client: BaseClient) -> OperationModel | None:
    name = client.meta.method_to_api_mapping.get(getattr(method, "__name__", ""))
    return None if name is None else client.meta.service_model.operation_model(name)


# --- wrappers of methods and proxies of clients: as of wrapt, of `functools.wraps`, of tracers ----

MOST_LAYERS: Final = 100
"""The number of objects one behind the other that are looked at: they may form a circle."""


def layers_of(target: Any) -> Iterator[Any]:
    """Yield an object, and by `__wrapped__` the one behind it, and so on."""
    for _ in range(MOST_LAYERS):
        yield target
        target = getattr(target, "__wrapped__", None)
        if target is None:
            return


def client_behind(client: Any) -> Any:
    """Return the client that a proxy stands for; anything else as it is."""
    # By the type: mocks and proxies give themselves out for what they stand for.
    if issubclass(type(client), BaseClient):
        return client  # At once: thousands of waits ask.
    behind = (each for each in layers_of(client) if issubclass(type(each), BaseClient))
    return next(behind, client)


def client_called_by(method: Any) -> BaseClient | None:
    """Return the client that a method calls, which may be a wrapper's; None for other callables."""
    owners = (client_behind(getattr(each, "__self__", None)) for each in layers_of(method))
    return next((each for each in owners if isinstance(each, BaseClient)), None)


def operation_called_by(method: Any) -> OperationModel | None:
    """Return the operation behind a method of a client or a wrapper of one; None if there is none.

    A `partial` is no such wrapper: its arguments would not be known.
    """
    layers, client = list(layers_of(method)), client_called_by(method)
    if client is None or any(isinstance(each, partial) for each in layers):
        return None
    return next(filter(None, (_operation_named(each, client) for each in layers)), None)

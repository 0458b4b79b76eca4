"""What is remembered about a client, and what kind of client or method it is."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

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
    if not isinstance(client, BaseClient):
        return None
    name = client.meta.method_to_api_mapping.get(method.__name__)
    return None if name is None else client.meta.service_model.operation_model(name)

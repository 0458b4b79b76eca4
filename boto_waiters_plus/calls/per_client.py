"""What is remembered about a client for as long as it lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

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

"""An attribute that is computed at first use, without a lock.

It stands alone: every room uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class computed_once(Generic[T]):  # noqa: N801 - a decorator, like cached_property
    """Decorate a method to make its result an attribute, computed at first use.

    `functools.cached_property` of Python 3.10 and 3.11 holds one lock for all instances while it
    computes: one slow computation delays all others, and a child of a fork may inherit the lock
    locked. Nothing is locked here. Several threads may compute the value; the first one stored
    is kept.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> computed_once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> computed_once[T] | T:
        if instance is None:
            return self
        value: T = vars(instance).setdefault(self._name, self._compute(instance))
        return value

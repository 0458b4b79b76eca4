"""Lookup by the names of methods: `DBInstanceAvailable` is `db_instance_available`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from botocore import xform_name

T = TypeVar("T")


class BySnakeName(Generic[T]):
    """Values by the snake name of their names.

    `xform_name` takes 4 us a name, so that it is applied only to names with the same letters.

    Args:
        named: pairs of a name, in either form, and a value.
    """

    def __init__(self, named: Iterable[tuple[str, T]]) -> None:
        self._by_letters: dict[str, list[tuple[str, T]]] = {}
        for name, value in named:
            self._by_letters.setdefault(letters(name), []).append((name, value))

    def find(self, name: str) -> list[T]:
        """Return the values whose names have the same snake name as this one."""
        candidates = self._by_letters.get(letters(name), ())
        snake_name = xform_name(name)
        return [value for other, value in candidates if xform_name(other) == snake_name]

    def alike(self, name: str) -> list[T]:
        """Return the values whose names have the same letters, without regard to case."""
        return [value for _, value in self._by_letters.get(letters(name), ())]


def operation_name(name: str, known: Sequence[str]) -> str | None:
    """Return the operation that a definition means; None if there is none.

    botocore's waiters call the client's method of the name in snake case, so that `getThing` and
    `get_thing` also mean `GetThing`.
    """
    if name in known:
        return name
    return next(iter(BySnakeName((other, other) for other in known).find(name)), None)


def letters(name: str) -> str:
    """Return a name in lower case and without underscores."""
    return name.replace("_", "").lower()

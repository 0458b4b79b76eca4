"""What small values share: `dataclass` would compile it for each of them at the first wait.

It stands alone, below `engine.machine` and `engine.acceptors`, which have such values.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


class Value:
    """A value: equal to any other of its class with the same members, and never changed.

    A dataclass of `eq=False, repr=False`. Those that each poll makes are not frozen, which would
    take five times as long.
    """

    __slots__ = ()

    def _members(self) -> dict[str, Any]:
        made: Any = self
        names = [each.name for each in fields(made)] if is_dataclass(made) else []
        return {name: getattr(self, name) for name in names}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._members() == other._members()

    def __hash__(self) -> int:
        return hash((type(self), *self._members().values()))

    def __repr__(self) -> str:
        members = (f"{name}={value!r}" for name, value in self._members().items())
        return f"{type(self).__name__}({', '.join(members)})"

"""The words that names are made of."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> list[str]:
    """The words of a name: two for `IN_USE`, `InUse` and `in-use`."""
    return _WORD.findall(name)


def listed(words: str) -> frozenset[str]:
    """Words that are separated by blanks."""
    return frozenset(words.split())

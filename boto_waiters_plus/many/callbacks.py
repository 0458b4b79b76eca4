"""The caller's callbacks among many waits: one that raises ends no wait."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

logger = logging.getLogger("boto_waiters_plus")


class Callbacks:
    """The caller's callbacks, so called that one that raises does not end a wait."""

    def __init__(self) -> None:
        self._guarded: dict[tuple[int, str], Callable[[Any], object]] = {}
        self._failures: Counter[str] = Counter()
        self._first: dict[str, Exception] = {}

    def guarded(self, callback: Callable[[Any], object], name: str) -> Callable[[Any], object]:
        """The callback, its errors noted under this name."""

        def call(news: Any) -> None:
            try:
                callback(news)
            # Whatever it raises, the wait goes on.
            except Exception as error:
                self._failed(name, error)

        # The same callback for thousands of waits is one function here.
        return self._guarded.setdefault((id(callback), name), call)

    def warn(self) -> None:
        """Tell of the callbacks that raised."""
        for name, error in self._first.items():
            text = f"{name} raised {type(error).__name__}: {error}"
            if self._failures[name] > 1:
                text += f" (the first of {self._failures[name]} errors)"
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    def _failed(self, name: str, error: Exception) -> None:
        self._failures[name] += 1
        if name not in self._first:
            self._first[name] = error
            logger.error("%s raised; the wait goes on", name, exc_info=error)

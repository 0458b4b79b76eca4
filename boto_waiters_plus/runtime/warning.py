"""Warnings of the package, which never change an outcome."""

from __future__ import annotations

import logging
import sys
import warnings

logger = logging.getLogger("boto_waiters_plus")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside the package.

    Where warnings are errors (`-W error`) the message is logged instead: an error raised in place
    of an answer would lose the answer, and no warning of this package is worth that.
    """
    try:
        warnings.warn(message, category, stacklevel=_caller_stacklevel())
    except category:
        logger.warning("%s", message)


def _caller_stacklevel() -> int:
    """Return the `stacklevel` of a warning of `warn` that names that line."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - documented; `inspect` reads source files
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        level, frame = level + 1, frame.f_back
    return level

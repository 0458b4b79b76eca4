"""The errors of a definition and of a missing extra; warnings, which never change an outcome."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from functools import partial
from typing import Any, Final, NoReturn

# --- the error of a definition, kept apart from the errors of waits, which need botocore's -------
# Definitions are read without botocore, so that `install(definitions=...)` imports none of it.


class WaiterDefinitionError(ValueError):
    """A waiter definition breaks a rule of the specification.

    Attributes:
        problem: the rule, in words.
        source: the file, or what stands for it.
        waiter: the waiter's name, if the problem lies in one.
        acceptor: the index of the acceptor, if the problem lies in one.
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str,
        waiter: str | None = None,
        acceptor: int | None = None,
    ) -> None:
        place = source
        if waiter is not None:
            place += f": waiter {waiter}"
        if acceptor is not None:
            place += f", acceptor {acceptor}"
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.source = source
        self.waiter = waiter
        self.acceptor = acceptor

    def __reduce__(self) -> tuple[Any, ...]:
        place: Any = {"source": self.source, "waiter": self.waiter, "acceptor": self.acceptor}
        return partial(WaiterDefinitionError, self.problem, **place), ()


# --- warnings ------------------------------------------------------------------------------------

logger = logging.getLogger("boto_waiters_plus")


Caller = tuple[str, int, str, dict[Any, Any]]
"""A line outside the package: file, line, module, registry; for `warnings.warn_explicit`."""

_PASSED_OVER: Final = (
    __name__.partition(".")[0],
    *("asyncio", "contextlib", "threading"),
    # Waiter objects that were built by hand, and resources.
    *("aiobotocore", "boto3", "botocore"),
)
"""The package, and what may call it in the caller's place."""


def caller() -> Caller:
    """Return the nearest line outside the package that has called it."""
    frame = sys._getframe(1)  # noqa: SLF001 - documented; `inspect` reads source files
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _PASSED_OVER:
            break
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "<string>")
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    return frame.f_code.co_filename, frame.f_lineno, module, registry


def warn(
    message: str, category: type[Warning], *, at: Caller | None = None, is_logged: bool = False
) -> None:
    """Attribute a warning to the first caller outside the package.

    Where warnings are errors (`-W error`) the message is logged instead: an error raised in place
    of an answer would lose the answer, and no warning of this package is worth that.

    Args:
        message, category: those of the warning.
        at: the line, where another thread than the caller's warns.
        is_logged: whether the message is logged, too.
    """
    try:
        warnings.warn_explicit(message, category, *(at or caller()))
    except category:
        is_logged = True
    if is_logged:
        logger.warning("%s", message)


# --- what is optional and not installed ----------------------------------------------------------


def refuse_missing(what: str, extra: str, error: ImportError) -> NoReturn:
    """Raise the error of what needs an extra; `error` itself if it is about this package."""
    if (error.name or "").partition(".")[0] == __name__.partition(".")[0]:
        raise error
    raise ModuleNotFoundError(missing_extra(what, extra, error), name=error.name) from error


def missing_extra(what: str, extra: str, error: ImportError) -> str:
    """Return the message for what needs an extra of which a package cannot be imported.

    Its command works in every folder, and names the packages: this one is not on PyPI, where
    somebody else may take its name. Double quotes are those that every shell knows.
    """
    from importlib import metadata  # noqa: PLC0415 - slow, and for a message only

    try:
        needed = "\n".join(metadata.requires("boto-waiters-plus") or ())
    except metadata.PackageNotFoundError:
        needed = ""
    packages = re.findall(rf"""(?m)^(.+?) *;.*\bextra *== *['"]{extra}['"]""", needed)
    names = " ".join(f'"{package}"' for package in packages)
    # The environment of this interpreter may not be active; under uWSGI the executable is uWSGI,
    # and a path that a shell takes apart is left out.
    python = re.fullmatch(r"[\w.:~+/\\-]+[/\\]python[\w.-]*", sys.executable or "")
    command = f"{python[0] if python else 'python'} -m pip install "
    command += names or f'".[{extra}]" in a clone of the package'
    reason = str(error).partition("\n")[0]
    return f"{what} requires the extra {extra} ({reason}); install it with: {command}"

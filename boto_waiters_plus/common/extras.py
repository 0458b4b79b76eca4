"""How to install what is optional; apart from `errors`, which every import of the package loads."""

from __future__ import annotations

import re
import sys
from typing import NoReturn


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

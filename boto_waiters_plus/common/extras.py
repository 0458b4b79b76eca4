"""How to install what is optional; apart from `errors`, which every import of the package loads."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NoReturn


def missing_extra(what: str, extra: str, error: ImportError) -> str:
    """Return the message for what needs an extra of which a package cannot be imported."""
    reason = str(error).partition("\n")[0]
    return f"{what} requires the extra {extra} ({reason}); install it with: {_command(extra)}"


def refuse_missing(what: str, extra: str, error: ImportError) -> NoReturn:
    """Raise the error of what needs an extra; `error` itself if it is about this package."""
    if (error.name or "").partition(".")[0] == __name__.partition(".")[0]:
        raise error
    kind = ModuleNotFoundError if isinstance(error, ModuleNotFoundError) else ImportError
    raise kind(missing_extra(what, extra, error), name=error.name) from error


def _command(extra: str) -> str:
    """Return the command that installs an extra, wherever it is run.

    It names the packages: this one is not on PyPI, where somebody else may take its name. Double
    quotes are those that every shell knows.
    """
    from importlib import metadata  # noqa: PLC0415 - slow, and for a message only

    try:
        needed = metadata.requires("boto-waiters-plus") or []
    except metadata.PackageNotFoundError:
        needed = []
    rows = (each.partition(";") for each in needed)
    marker = re.compile(rf"""\bextra *== *['"]{extra}['"]""")
    packages = [package.strip() for package, _, markers in rows if marker.search(markers)]
    names = " ".join(f'"{package}"' for package in packages)
    # The environment of this interpreter may not be active; under uWSGI it is not the executable.
    is_python = Path(sys.executable or "").name.startswith("python")
    python = sys.executable if is_python else "python"
    python = f'"{python}"' if " " in python else python
    return f"{python} -m pip install " + (names or f'".[{extra}]" in a clone of the package')

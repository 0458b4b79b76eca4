"""`install()` in the processes that `multiprocessing` starts by spawn or forkserver.

Such a process gets the `sys.path` of its parent before it imports the program. One entry of it, the
folder of the program, installs the package where it arrives.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable

from .installation import install


class ProgramFolder(str):
    """An entry of `sys.path`: a process that it is sent to has `install()`."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[[str], ProgramFolder], tuple[str]]:
        return _arrived, (str(self),)


def install_with_children(folder: str) -> None:
    """Call `install()` here and in all processes below, for a program in this folder."""
    install()
    sys.path.insert(0, ProgramFolder(folder))
    if "forkserver" in multiprocessing.get_all_start_methods():
        # The server would import the program before any `sys.path` is sent.
        multiprocessing.set_forkserver_preload([])


def _arrived(folder: str) -> ProgramFolder:
    install()
    return ProgramFolder(folder)

"""`install()` in the processes that `multiprocessing` starts by spawn or forkserver.

Such a process reads what its parent has prepared for it before it imports the program. What
installs the package where it is read is put among that.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import spawn
from typing import Any

from .installation import install
from .state import INSTALLED


class _Installs:
    """Has nothing but its pickled form."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return install_with_children, ()


def install_with_children() -> None:
    """Call `install()` here and in all processes below."""
    install()
    prepare: Any = spawn.get_preparation_data
    if prepare.__module__ == __name__:
        return

    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        return {**data, __name__: _Installs()} if INSTALLED.on else data

    spawn.get_preparation_data = get_preparation_data
    if "forkserver" in multiprocessing.get_all_start_methods():
        # The server would import the program before it reads anything.
        multiprocessing.set_forkserver_preload([])

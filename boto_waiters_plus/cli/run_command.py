"""`boto-wait run`: an existing script, with every client extended."""

from __future__ import annotations

import argparse
import multiprocessing
import runpy
import sys
from collections.abc import Callable
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ..hooks.installation import install
from ..hooks.state import INSTALLED
from .exit_codes import UsageError, exit_code

# --- `install()` in the processes that `multiprocessing` starts by spawn or forkserver -----------
# Such a process reads what its parent has prepared for it before it imports the program. What
# installs the package where it is read is put among that.


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


# --- the command ---------------------------------------------------------------------------------


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "run",
        description="Run a Python script as `python SCRIPT` does, after "
        "`boto_waiters_plus.install()`: clients have wait_until_* methods, and get_waiter runs on "
        "the same engine, in processes that multiprocessing starts, too. The script itself stays "
        "as it is. If the error of a wait or of a call ends it, the exit code is that of "
        "`boto-wait wait`.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="a Python file")
    parser.add_argument(
        "script_arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the script; return 0, or the code of an error of AWS's that ended it."""
    script = Path(arguments.script)
    if not script.is_file():
        raise UsageError(f"no such file: {arguments.script}")
    # As Python does for a script.
    sys.argv = [arguments.script, *arguments.script_arguments]
    sys.path.insert(0, str(script.resolve().parent))
    install_with_children()
    try:
        runpy.run_path(arguments.script, run_name="__main__")
    # A WaiterError is a BotoCoreError.
    except (BotoCoreError, ClientError) as error:
        # As Python prints it; a script may have put its own function there.
        sys.excepthook(type(error), error, error.__traceback__)
        return exit_code(error)
    return 0

"""`boto-wait run`: an existing script, with every client extended."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import Any

from ..hooks.installation import install
from . import UsageError


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "run",
        help="run a Python script with every client extended",
        description="Run a Python script as `python SCRIPT` does, after "
        "`boto_waiters_plus.install()`: clients have wait_until_* methods, and get_waiter runs on "
        "the same engine. The script itself stays as it is.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="a Python file")
    parser.add_argument(
        "script_arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the script; return 0 unless it exits by itself."""
    script = Path(arguments.script)
    if not script.is_file():
        raise UsageError(f"no such file: {arguments.script}")
    install()
    # As Python does for a script.
    sys.argv = [arguments.script, *arguments.script_arguments]
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(arguments.script, run_name="__main__")
    return 0

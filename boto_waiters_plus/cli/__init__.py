"""The command `boto-wait`.

A subcommand is a module with two functions: `add_parser(subparsers)` describes its arguments, and
`run(arguments)` does the work and returns the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from .. import __version__
from ..exceptions import WaiterDefinitionError
from . import check, demo, listing, show
from .services import UnknownNameError
from .text import printable

USAGE_ERROR = 2
"""Exit code for arguments that name something unknown, as argparse's own."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report a command that SIGINT ended."""

COMMANDS: dict[str, ModuleType] = {"demo": demo, "list": listing, "show": show, "check": check}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `boto-wait`.

    Args:
        argv: the arguments after the command's name; by default those of the process.

    Returns:
        The exit code: the subcommand's own, 2 for an unknown name, 130 after Ctrl-C.

    Raises:
        SystemExit: after `--help` and `--version` (0), and for invalid arguments (2).
    """
    parser = argparse.ArgumentParser(
        prog="boto-wait", description="Wait for AWS resources, with a deadline and an outcome."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS.values():
        command.add_parser(subparsers)
    arguments = parser.parse_args(argv)
    try:
        code: int = COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
    except (UnknownNameError, WaiterDefinitionError) as error:
        print(f"boto-wait {arguments.command}: {printable(str(error))}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("boto-wait: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone. Without this the interpreter's final flush fails too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code

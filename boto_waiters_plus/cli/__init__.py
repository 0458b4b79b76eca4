"""The command `boto-wait`: reads the command line and hands over to a subcommand.

A subcommand is a module with `add_parser(subparsers)`, which describes its arguments and imports
nothing to do so, and `run(arguments) -> int`, which does the work and returns the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from .. import __version__
from . import check, demo, listing, show

INTERRUPTED = 130
"""Exit code after Ctrl-C: what shells give a command that SIGINT ended."""


class Command(Protocol):
    """What a subcommand's module has."""

    def add_parser(self, subparsers: Any, /) -> None:
        """Add the subcommand's own parser, under the name it has in `COMMANDS`."""

    def run(self, arguments: argparse.Namespace, /) -> int:
        """Do it; return the exit code."""
        ...


COMMANDS: dict[str, Command] = {"demo": demo, "list": listing, "show": show, "check": check}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `boto-wait`.

    Args:
        argv: the arguments after the command's name; those of the process if not given.

    Returns:
        The exit code: the subcommand's own, or 130 after Ctrl-C.

    Raises:
        SystemExit: `--help` and `--version` (0), arguments that make no sense (2).
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
        code = COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("boto-wait: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted; the interpreter's own flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code

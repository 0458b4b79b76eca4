"""The command `boto-wait`.

A subcommand is a module with two functions: `add_parser(subparsers)` describes its arguments, and
`run(arguments)` does the work and returns the exit code. It is imported only if it is called.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from .. import __version__

USAGE_ERROR = 2
"""Exit code for arguments that name something unknown, as argparse's own."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report a command that SIGINT ended."""

COMMANDS = {
    "demo": ("demo", "compare botocore's waiters with this package's on a local server"),
    "list": ("listing", "list services with waiters, or the waiters of a service"),
    "show": ("show", "explain a waiter: its acceptors, its delays, how it was checked"),
    "operations": ("operations", "background waits: list, get, wait, cancel, resume, work, serve"),
    "check": ("check", "check waiter definitions against the shapes of their operations"),
}
"""The module and the help of each subcommand."""


class UsageError(Exception):
    """The arguments name something that does not exist, or a file that cannot be read."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `boto-wait`.

    Args:
        argv: the arguments after the command's name; by default those of the process.

    Returns:
        The exit code: the subcommand's own, 2 for an unknown name, 130 after Ctrl-C.

    Raises:
        SystemExit: after `--help` and `--version` (0), and for invalid arguments (2).
    """
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(
        prog="boto-wait", description="Wait for AWS resources, with a deadline and an outcome."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # The parser itself takes no option with a value.
    chosen = next((word for word in argv if not word.startswith("-")), None)
    module: ModuleType | None = None
    for name, (module_name, text) in COMMANDS.items():
        if name == chosen:
            module = import_module(f".{module_name}", __name__)
            module.add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=text)
    arguments = parser.parse_args(argv)
    assert module is not None, "parse_args requires a subcommand"
    return _exit_code(module, arguments)


def _exit_code(module: ModuleType, arguments: argparse.Namespace) -> int:
    try:
        code: int = module.run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        print(f"boto-wait {arguments.command}: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("boto-wait: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone. Without this the interpreter's final flush fails too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code

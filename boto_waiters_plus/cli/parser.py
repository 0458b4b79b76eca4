"""The parser of the command's arguments, and the names of its subcommands."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from .exit_codes import USAGE_ERROR

COMMANDS = {
    "wait": ("wait_command", "wait for a resource (the default: `boto-wait SERVICE WAITER ...`)"),
    "begin": ("begin_command", "make a call, then wait for what it has done"),
    "list": ("listing", "list services with waiters, the waiters of a service, or search both"),
    "show": ("show", "explain a waiter: its acceptors, its delays, how it was checked"),
    "schedule": ("schedule_command", "draw when a waiter would poll, beside botocore's"),
    "history": ("history_command", "list or delete the times of earlier waits"),
    "run": ("run_command", "run a Python script with every client extended"),
    "operations": (
        "operations",
        "background waits: list, get, wait, cancel, resume, expire, work, serve",
    ),
    "scan": ("scan_command", "find hand-made polling loops, and the line to write instead"),
    "check": ("check", "check waiter definitions against the shapes of their operations"),
    "demo": ("demo", "compare botocore's waiters with this package's on a local server"),
}
"""The module and the help of each subcommand."""


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, and takes no abbreviations."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **keywords})

    def error(self, message: str) -> NoReturn:
        """Print the message and the command that shows the help, and exit."""
        self.exit(USAGE_ERROR, f"{self.prog}: {message} (see `{self.prog} --help`)\n")

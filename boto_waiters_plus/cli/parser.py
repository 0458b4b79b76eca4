"""The parser of the command, its subcommands, and the completion of words in a shell.

argcomplete starts the command, with the typed line in an environment variable, and takes what the
parser of that line would accept.
"""

from __future__ import annotations

import argparse
import re
import shlex
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn

from .exit_codes import USAGE_ERROR

# --- the parser of the command's arguments, and the names of its subcommands ---------------------

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


_wrapped = partial(textwrap.wrap, break_on_hyphens=False, break_long_words=False)


class _HelpFormatter(argparse.HelpFormatter):
    """Keeps the lines of a text, and breaks none inside a word: names are there to be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in text.splitlines():
            # Of a table, the last column is continued below itself.
            column = len(line) - len(re.sub(r"^( *\S+ {2,})* *", "", line))
            lines += _wrapped(line, width, subsequent_indent=" " * column) or [""]
        return textwrap.indent("\n".join(lines), indent)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(" ".join(text.split()), width)


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, and takes no abbreviations."""

    named = ""
    """The service and what follows it, whose help has their parameters."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": _HelpFormatter, **keywords})

    @property
    def options(self) -> Collection[str]:
        """The options that it takes, those of its groups included."""
        return self._option_string_actions

    def put_first(self, group: Any) -> None:
        """Let the help begin with a group, and leave out the names that have been given."""
        self._action_groups.remove(group)
        self._action_groups.insert(0, group)
        for action in self._get_positional_actions():
            action.help = argparse.SUPPRESS

    def error(self, message: str) -> NoReturn:
        """Print the message and the command that shows the help, and exit."""
        self.exit(USAGE_ERROR, f"{self.prog}: {message} (see `{self.prog}{self.named} --help`)\n")


# --- completion, by argcomplete ------------------------------------------------------------------


def typed_words(environment: Mapping[str, str]) -> list[str]:
    """Return the words that were typed behind the command's name, up to the one at the cursor."""
    line = environment.get("COMP_LINE", "")
    typed = line[: int(environment.get("COMP_POINT", len(line)))]
    try:
        # The mark keeps an empty word at the cursor.
        return shlex.split(typed + "_")[1:-1]
    except ValueError:
        # Inside quotes.
        return typed.split()[1:-1]


def complete_with(
    action: argparse.Action,
    values: Callable[[Any], Iterable[str]],
    otherwise: Callable[[], Iterable[str]] = tuple,
) -> None:
    """Set the function that returns what an argument may be, given the arguments before it.

    Args:
        action: the argument.
        values: returns what it may be.
        otherwise: returns what it may also be, if none of these begins with what was typed.
    """

    def completer(prefix: str, parsed_args: Any, **_: Any) -> Iterable[str]:
        found = [value for value in values(parsed_args) if value.startswith(prefix)]
        return found or otherwise()

    # argcomplete reads this attribute; argparse knows nothing of it.
    action.completer = completer  # type: ignore[attr-defined] # see above


def complete(parser: argparse.ArgumentParser | None) -> int:
    """Print the words that can follow; does not return if argcomplete is there.

    Args:
        parser: the parser of the words before; None completes the first word.

    Returns:
        1 if argcomplete is not installed.
    """
    try:
        import argcomplete  # noqa: PLC0415 - an extra
    except ImportError:
        return 1
    if parser is None:
        from ..service.catalog import service_names  # noqa: PLC0415 - in a completing shell only

        parser = Parser()
        parser.add_argument("--version", action="store_true")
        complete_with(parser.add_argument("first"), lambda _: [*COMMANDS, *service_names()])
    # Options would hide the name of a waiter.
    argcomplete.autocomplete(parser, always_complete_options=False)
    return 0

# PYTHON_ARGCOMPLETE_OK
"""The command `boto-wait`.

A subcommand is a module with two functions: `add_parser(subparsers)` describes its arguments, and
`run(arguments)` does the work and returns the exit code. One whose options depend on its arguments
has a third, `add_parameters(parser, words)`, which is given the words after the subcommand's name.
A module is imported only if it is called. No service of boto3 may have the subcommand's name.

`service_lookup` finds SERVICE and WAITER and completes them, `output` makes columns and makes
foreign text safe to print. A command that cannot go on raises `UsageError`, `NotConfiguredError` or
`CannotRunError`, which `exit_codes` maps; a malformed definition ends a command as wrong arguments
do. Where there is nothing to show, a line on stderr says so; the code is 0. A line on stderr begins
with `boto-wait NAME:`, unless it sums up what stdout shows or lacks.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .. import __version__
from ..common.errors import WaiterDefinitionError
from ..engine.redaction import printable
from .exit_codes import (
    TERMINATED,
    USAGE_ERROR,
    CannotRunError,
    NotConfiguredError,
    UsageError,
    ended_by_sigterm,
    exit_code,
)
from .parser import COMMANDS, Parser, complete, typed_words

DEFAULT_COMMAND = "wait"


_OWN_ERRORS = (UsageError, NotConfiguredError, CannotRunError)
_MAIN_OPTIONS = ("-h", "--help", "--version")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `boto-wait`.

    Args:
        argv: the arguments after the command's name; by default those of the process.

    Returns:
        The exit code; `exit_codes.MEANINGS` has all of them.

    Raises:
        SystemExit: after `--help` and `--version` (0), and for invalid arguments (2).
    """
    words = _with_help(list(sys.argv[1:] if argv is None else argv))
    name = words[0] if words else ""
    if words and name not in (*COMMANDS, *_MAIN_OPTIONS):
        name = DEFAULT_COMMAND
        words.insert(0, name)
    if "_ARGCOMPLETE" in os.environ:
        return _complete()
    prog = "boto-wait" if name == DEFAULT_COMMAND else f"boto-wait {name}"
    # A script has its own ways with signals, encodings and errors.
    is_script = name == "run"
    try:
        if not is_script:
            _prepare_output()
        with contextlib.nullcontext() if is_script else ended_by_sigterm():
            arguments = _parsed(name, words)
            with (getattr(arguments, "log", None) or contextlib.nullcontext)():
                code: int = arguments.run(arguments)
            sys.stdout.flush()
    except KeyboardInterrupt as error:
        ending = "terminated" if exit_code(error) == TERMINATED else "interrupted"
        print(f"boto-wait: {ending}", file=sys.stderr)
        return exit_code(error)
    except BrokenPipeError as error:
        # The reader (`| head`) has gone. Without this the interpreter's final flush fails too.
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return exit_code(error)
    except Exception as error:
        if is_script and not isinstance(error, _OWN_ERRORS):
            raise
        return _tell(error, prog)
    return code


def _with_help(words: list[str]) -> list[str]:
    """Return the words with `--help` in place of `help`, which the AWS CLI has, where it is one."""
    if words[:1] == ["help"]:
        return [*words[1:], "--help"]
    # A script, a file or a word to search for may have this name, and so may a value.
    has_names = words[:1] not in (["run"], ["check"], ["scan"], ["list"]) or len(words) == 2
    if words[-1:] == ["help"] and has_names and not any(each.startswith("-") for each in words):
        words[-1] = "--help"
    return words


def _prepare_output() -> None:
    for name in ("stdout", "stderr"):
        # It was closed before the start, and `print` writes to stdout where the file is None.
        if getattr(sys, name) is None:
            file = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - never closed
            setattr(sys, name, file)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a terminal's encoding lacks must not end a command.
        sys.stdout.reconfigure(errors="backslashreplace")


def _tell(error: Exception, prog: str) -> int:
    """Print the error that ended a command; return the exit code."""
    if isinstance(error, _OWN_ERRORS):
        print(f"{prog}: {error}", file=sys.stderr)
    elif isinstance(error, WaiterDefinitionError):
        print(f"{prog}: {printable(str(error))}", file=sys.stderr)
        return USAGE_ERROR
    else:
        # Python's own exit code would be 1, which means problems of `check`.
        sys.excepthook(type(error), error, error.__traceback__)
    return exit_code(error)


def _complete() -> int:
    words = typed_words(os.environ)
    is_named = not words or words[0] in COMMANDS
    name = words[0] if words and is_named else DEFAULT_COMMAND
    try:
        parsers = _parsers(name, words if is_named else [name, *words])
    except (UsageError, NotConfiguredError, WaiterDefinitionError):
        # A message would be drawn into the line that is typed.
        return USAGE_ERROR
    # Where the line lacks the name of the subcommand, the subcommand's own parser reads it.
    return complete(parsers[0 if is_named else 1] if words else None)


def _parsers(name: str, words: Sequence[str]) -> tuple[Parser, Parser | None]:
    """Return the parser of all commands, and that of the one that is named."""
    parser = Parser(
        prog="boto-wait",
        description="Wait for AWS resources, with a deadline and an outcome.",
        epilog="Examples: boto-wait s3 bucket-exists --bucket my-bucket --max-wait 5m; "
        "boto-wait list transit gateway deleted",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    chosen: Parser | None = None
    for each, (module_name, text) in COMMANDS.items():
        if each != name:
            subparsers.add_parser(each, help=text)
            continue
        module = import_module(f".{module_name}", __name__)
        module.add_parser(subparsers)
        chosen = subparsers.choices[each]
        chosen.set_defaults(parser=chosen, run=module.run)
        if hasattr(module, "add_parameters"):
            module.add_parameters(chosen, words[1:])
    return parser, chosen


def _parsed(name: str, words: Sequence[str]) -> argparse.Namespace:
    parser, _ = _parsers(name, words)
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        option = next((word for word in unknown if word.startswith("--")), None)
        if option is None:
            raise UsageError(f"unexpected argument {unknown[0]!r}")
        option = option.partition("=")[0]
        # Only where an option is wrong.
        from .options import right_option  # noqa: PLC0415

        near = right_option(option, arguments.parser.options)
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"unknown option {printable(option)}{hint}")
    return arguments

"""Text for terminals and pages: columns, waiters in words, events as GitHub and SARIF have them."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jmespath
from jmespath.exceptions import ArityError, JMESPathError
from jmespath.parser import ParsedResult

from .. import __version__
from ..common.wrong_arguments import Keyword, PythonOnly
from ..definitions.parsing import Place, require_known_functions
from ..engine.acceptors import AcceptorState, Matcher, SuccessMatcher
from ..engine.machine import RetryTransient
from ..engine.model import WaiterDefinition
from ..engine.redaction import printable
from ..exceptions import WaiterDefinitionError
from ..validation import Severity, ValidationEvent
from .exit_codes import UsageError

IMPLIED = (
    (SuccessMatcher(success=False), AcceptorState.FAILURE, "any other error"),
    (SuccessMatcher(success=True), AcceptorState.RETRY, "any other response"),
)
"""Steps 4 and 5 of the specification's workflow, each with the matcher that leaves it no case."""


_OPTIONS = {
    "until_state": "--until", "then_wait": "--then", "url": "--store", "worker_name": "--name",
    "profile_name": "--profile",
}  # fmt: skip
"""The options of keywords under another name."""

RETRY_TRANSIENT: dict[str, RetryTransient] = {
    "answered": "answered", "always": True, "never": False
}  # fmt: skip
"""The values of `retry_transient` by their words on the command line."""


def json_text(value: Any, indent: int | None = None) -> str:
    """Return JSON whose characters are all printable, since it may be read on a terminal.

    It is ASCII where the encoding of stdout lacks a character.
    """
    text = json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, default=str, indent=indent)
    return "".join(
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text
    )


def columns(rows: Sequence[Sequence[str | float]]) -> str:
    """Align rows in columns: numbers to the right, text to the left."""
    texts = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if isinstance(cell, str) else text.rjust(width)
            for cell, text, width in zip(row, cells, widths, strict=True)
        )
        for row, cells in zip(rows, texts, strict=True)
    ]
    return "\n".join(line.rstrip() for line in lines)


def one_a_line(title: str, names: Iterable[str]) -> str:
    """Return names below a title, one a line."""
    return "\n  ".join([title, *names])


def acceptor_rows(definition: WaiterDefinition) -> list[tuple[str, str, str]]:
    """Return number, state and condition of each acceptor, then of what is implied."""
    rows = [
        (str(number), acceptor.state.value, acceptor.matcher.describe())
        for number, acceptor in enumerate(definition.acceptors, start=1)
    ]
    matchers: set[Matcher] = {acceptor.matcher for acceptor in definition.acceptors}
    rows += [
        ("-", state.value, text) for matcher, state, text in IMPLIED if matcher not in matchers
    ]
    return rows


def delays_text(definition: WaiterDefinition) -> str:
    """Return the bounds of the delays, as `5 to 120 s`."""
    if definition.min_delay == definition.max_delay:
        return f"{definition.min_delay:g} s"
    return f"{definition.min_delay:g} to {definition.max_delay:g} s"


def span(seconds: float) -> str:
    """Return a number of seconds as people read it: `11.5 s`, `4m48s`, `1h02m`."""
    if seconds < 59.95:
        return f"{max(0.0, seconds):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02}s"
    return f"{minutes // 60}h{minutes % 60:02}m"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: `1 attempt`, `2 attempts`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def flag(name: str) -> str:
    """Return the option of a keyword: `--max-wait` for `max_wait`."""
    return _OPTIONS.get(name) or "--" + name.replace("_", "-")


def in_flags(parts: Iterable[str]) -> str:
    """Return a message with options as the command line spells them: `--missing-ok-for 60`."""
    return "".join(map(_in_flags, parts))


def _in_flags(part: str) -> str:
    if not isinstance(part, Keyword):
        return "" if isinstance(part, PythonOnly) else part
    value = part.value
    if part.name == "retry_transient":
        value = {meant: word for word, meant in RETRY_TRANSIENT.items()}.get(value)
    # An option without a value, or one that takes none.
    return flag(part.name) if value in (None, True) else f"{flag(part.name)} {value}"


@contextlib.contextmanager
def refused(*kinds: type[Exception], instead: type[Exception] = UsageError) -> Iterator[None]:
    """Raise an error inside again as a `UsageError`, or as what is given instead of it."""
    try:
        yield
    except kinds as error:
        # The text of a KeyError has quotes.
        text = str(error.args[0] if isinstance(error, LookupError) else error)
        raise instead(printable(in_flags(getattr(error, "parts", [text])))) from error


def _cell(cell: str | float) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else printable(str(cell))


# --- `--query`: what a command prints of its JSON, chosen by JMESPath as in aws-cli --------------


def add_output_options(parser: Any) -> None:
    """Add `--output`, `--query`, `--include-response` and `--quiet`."""
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.add_argument(
        "--query",
        type=expression,
        metavar="EXPRESSION",
        help="JMESPath: print this of the JSON outcome, the response included",
    )
    parser.add_argument("--include-response", action="store_true", help="print the response too")
    parser.add_argument("--quiet", action="store_true", help="print errors only")


def expression(text: str) -> ParsedResult:
    """Return a JMESPath expression that can be evaluated.

    Raises:
        ArgumentTypeError: it is malformed, or calls a function in a way that cannot work.
    """
    try:
        # Literals may lack quotes, as in examples of aws-cli: [?State==`running`].
        require_known_functions(text, Place("--query"), "expression")
    except WaiterDefinitionError as error:
        raise argparse.ArgumentTypeError(error.problem.splitlines()[0]) from None
    parsed: ParsedResult = jmespath.compile(text)
    try:
        parsed.search({})
    except ArityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except JMESPathError:
        # Of the wrong type for a function; the outcome may be of the right one.
        pass
    return parsed


def print_json(facts: Mapping[str, Any], arguments: argparse.Namespace) -> bool:
    """Print facts as `--output` and `--query` ask for; return False if the query failed.

    Without a query, nothing is printed for `--output text`.
    """
    value: Any = facts
    if arguments.query is not None:
        try:
            value = arguments.query.search(json.loads(json_text(facts)))
        except JMESPathError as error:
            problem = printable(str(error).splitlines()[0])
            print(f"boto-wait: --query cannot be evaluated: {problem}", file=sys.stderr)
            return False
    if arguments.output == "json":
        print(json_text(value), flush=True)
    elif arguments.query is not None:
        print("\n".join(text_lines(value)), flush=True)
    return True


def text_lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield a value as the lines of aws-cli's `--output text`.

    Values of a list or an object without further lists and objects are separated by tabs. What is
    inside an object begins with the name of its member, in capitals.
    """
    if not _is_nested(value):
        yield printable(str(value))
        return
    is_list, start = isinstance(value, list), [name.upper()] if name else []
    members = [(name, each) for each in value] if is_list else sorted(value.items())
    plain = [printable(str(each)) for _, each in members if not _is_nested(each)]
    if is_list and start:
        yield from ("\t".join([*start, each]) for each in plain)
    elif plain:
        yield "\t".join([*start, *plain])
    for member, each in members:
        if _is_nested(each):
            yield from text_lines(each, member)


def _is_nested(value: Any) -> bool:
    return isinstance(value, (dict, list))


# --- events as GitHub's annotations and as SARIF -------------------------------------------------

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {
    Severity.ERROR: "error",
    Severity.DANGER: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}
"""SARIF's levels; GitHub has `notice` in place of `note`."""


def print_events(
    events: Sequence[ValidationEvent], output: str, command: str, text_of: Callable[..., str]
) -> None:
    """Print the events of a command as its `--output` says: by `text_of`, for GitHub, or SARIF."""
    if output == "sarif":
        print(json.dumps(sarif(events, command), indent=2))
    else:
        for event in events:
            # It quotes a file, which must not break the line or send the terminal escape codes.
            print(printable(text_of(event)) if output == "text" else github_line(event))


def github_line(event: ValidationEvent) -> str:
    """Return the workflow command that annotates the line of a file."""
    level = {"note": "notice"}.get(_LEVELS[event.severity], _LEVELS[event.severity])
    places = {"file": event.source, "line": event.line, "col": event.column, "title": event.id}
    known = [f"{name}={_escaped(str(value), ':,')}" for name, value in places.items() if value]
    # Without a file, the operation says what the event is about.
    place = f"{event.shape}: " if event.shape and not event.source else ""
    return f"::{level} {','.join(known)}::{_escaped(place + event.message)}"


def sarif(events: Sequence[ValidationEvent], command: str) -> dict[str, Any]:
    """Return a SARIF 2.1.0 document of one run of a command."""
    rules = dict.fromkeys(_rule(event) for event in events)
    driver = {
        "name": f"boto-wait {command}",
        "version": __version__,
        "rules": [{"id": rule} for rule in rules],
    }
    results = [
        {
            "ruleId": _rule(event),
            "level": _LEVELS[event.severity],
            "message": {
                "text": f"{event.shape}: {event.message}" if event.shape else event.message
            },
            "locations": [_location(event)] if event.source else [],
        }
        for event in events
    ]
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _rule(event: ValidationEvent) -> str:
    return event.id.partition(".")[0]


def _location(event: ValidationEvent) -> dict[str, Any]:
    uri = quote(Path(event.source or "").as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if event.line is not None:
        place["region"] = {"startLine": event.line, "startColumn": event.column or 1}
    return {"physicalLocation": place}


def _escaped(text: str, more: str = "") -> str:
    """Escape what ends a workflow command, or a property of it, or moves a cursor."""
    text = printable(text)
    for character in "%" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text

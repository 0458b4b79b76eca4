"""`--query`: what a command prints of its JSON, chosen by JMESPath as in aws-cli."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import jmespath
from jmespath.exceptions import ArityError, JMESPathError
from jmespath.parser import ParsedResult

from ..definitions.parsing import Place, require_known_functions
from ..engine.redaction import printable
from ..exceptions import WaiterDefinitionError
from .text import json_text


def add_output_options(parser: Any) -> None:
    """Add `--output` and `--query`."""
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.add_argument(
        "--query",
        type=expression,
        metavar="EXPRESSION",
        help="JMESPath: print this of the JSON outcome, the response included",
    )


def expression(text: str) -> ParsedResult:
    """Return a JMESPath expression that can be evaluated.

    Raises:
        ArgumentTypeError: it is malformed, or calls a function in a way that cannot work.
    """
    place = Place("--query")
    try:
        # Literals may lack quotes, as in examples of aws-cli: [?State==`running`].
        require_known_functions(text, place, "expression")
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
    start = [name.upper()] if name else []
    if isinstance(value, dict):
        members = sorted(value.items())
        plain = [printable(str(each)) for _, each in members if not _is_nested(each)]
        if plain:
            yield "\t".join([*start, *plain])
        for member, each in members:
            if _is_nested(each):
                yield from text_lines(each, member)
    elif isinstance(value, list):
        plain = [printable(str(each)) for each in value if not _is_nested(each)]
        if start:
            yield from ("\t".join([*start, each]) for each in plain)
        elif plain:
            yield "\t".join(plain)
        for each in value:
            if _is_nested(each):
                yield from text_lines(each, name)
    else:
        yield printable(str(value))


def _is_nested(value: Any) -> bool:
    return isinstance(value, (dict, list))

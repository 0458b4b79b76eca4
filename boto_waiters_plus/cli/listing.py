"""`boto-wait list`: services that have waiters, the waiters of one, or what words describe."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from botocore import xform_name

from ..definitions.shipped import shipped_definitions, shipped_services
from ..engine.model import WaiterDefinition
from ..service.catalog import (
    all_waiters,
    client_name,
    definitions_of,
    services_with_waiters,
    squashed,
)
from .output import columns, delays_text, json_text
from .parser import complete_with
from .service_lookup import UnknownNameError, confidence, definition_facts, find_service

LEGEND = """GENERATED   waiters converted from botocore's own
CURATED     waiters written for this package, from the models of the services
DELAYS      least and largest delay between two attempts
CONFIDENCE  what the waiter rests on: recorded answers of AWS, examples of its documentation, runs \
on moto, every value of the state's enum, botocore's waiter, or the model only
TAGS        words for --tag: how the waiter was made and checked"""
"""What the columns mean."""


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "list",
        description="Without words, list the services that this package ships waiters for. With "
        "the name of a service, list the waiters of its clients, including those of the installed "
        "botocore, of installed packages and of your own files on botocore's search path. With "
        "other words, list the waiters that all of them describe: a service, a resource, a state.",
        epilog=LEGEND,
    )
    words = parser.add_argument(
        "words", nargs="*", metavar="WORD", help="s3, or words such as: transit gateway deleted"
    )
    complete_with(words, lambda arguments: () if arguments.words else services_with_waiters())
    parser.add_argument(
        "--tag", metavar="TAG", help="list the waiters that have this tag, with or without words"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Print the list; return the exit code."""
    words: list[str] = arguments.words
    as_json = arguments.output == "json"
    if not words and arguments.tag is None:
        _list_services(as_json=as_json)
        return 0
    pairs = list(_found(words) if words else all_waiters())
    if not pairs and len(words) == 1:
        # Raises for what is no service either.
        print(f"{find_service(words[0])} has no waiters", file=sys.stderr)
    elif not pairs:
        print(f"no waiter is described by: {' '.join(words)}", file=sys.stderr)
    elif arguments.tag is not None:
        known = {each for _, definition in pairs for each in definition.tags}
        if arguments.tag not in known:
            raise UnknownNameError("waiter with the tag", arguments.tag, sorted(known))
        pairs = [pair for pair in pairs if arguments.tag in pair[1].tags]
    if as_json:
        print(json_text([definition_facts(*pair) for pair in pairs], indent=2))
    elif pairs:
        _print_waiters(pairs, with_service=len({service for service, _ in pairs}) > 1)
    return 0


def _found(words: list[str]) -> Iterator[tuple[str, WaiterDefinition]]:
    """Yield the waiters of a service, if the one word names it, or those that words describe."""
    if len(words) == 1:
        try:
            service = find_service(words[0])
        except UnknownNameError:
            pass
        else:
            yield from ((service, definition) for definition in definitions_of(service))
            return
    known = list(all_waiters())
    # `stack-update-complete` and `stack_update_complete` are `StackUpdateComplete`.
    wanted = [(word.lower(), squashed(word) or word) for word in words]
    # Documentation mentions other states than the one that is waited for.
    for describe in (_names, _text):
        texts = ((describe(*pair), pair) for pair in known)
        found = [
            pair
            for text, pair in texts
            if all(word in text or letters in text for word, letters in wanted)
        ]
        if found:
            yield from found
            return


def _names(service: str, definition: WaiterDefinition) -> str:
    words = (xform_name(name, " ") for name in (definition.name, definition.operation))
    ids = (service, definition.service or "", definition.name, definition.operation)
    return " ".join([*ids, *words]).lower()


def _text(service: str, definition: WaiterDefinition) -> str:
    return f"{_names(service, definition)} {definition.documentation.lower()}"


def _list_services(*, as_json: bool) -> None:
    rows = []
    for service_id in shipped_services():
        definitions = shipped_definitions(service_id)
        generated = sum("generated" in definition.tags for definition in definitions)
        if definitions:
            counts = (len(definitions), generated, len(definitions) - generated)
            rows.append((client_name(service_id), *counts, service_id))
    head = ("SERVICE", "WAITERS", "GENERATED", "CURATED", "SERVICE ID")
    if as_json:
        names = [title.lower().replace(" ", "_") for title in head]
        print(json_text([dict(zip(names, row, strict=True)) for row in sorted(rows)], indent=2))
        return
    print(columns([head, *sorted(rows)]))
    generated, curated = sum(row[2] for row in rows), sum(row[3] for row in rows)
    print(
        f"{len(rows)} services, {generated + curated} waiters: "
        f"{generated} generated, {curated} curated",
        file=sys.stderr,
    )


def _print_waiters(pairs: list[tuple[str, WaiterDefinition]], *, with_service: bool) -> None:
    head = ("SERVICE", "WAITER", "OPERATION", "DELAYS", "CONFIDENCE", "TAGS")
    rows = [
        (
            service,
            xform_name(definition.name),
            definition.operation,
            delays_text(definition),
            confidence(definition),
            ", ".join(definition.tags) + (" (deprecated)" if definition.deprecated else ""),
        )
        for service, definition in pairs
    ]
    print(columns([row[not with_service :] for row in (head, *rows)]))

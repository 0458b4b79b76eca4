"""`boto-wait list`: services that have waiters, the waiters of one, or what words describe."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from botocore import xform_name

from ..definitions.shipped import shipped_definitions, shipped_services
from ..engine.model import WaiterDefinition
from ..service.catalog import (
    KnownEffect,
    all_waiters,
    client_name,
    definitions_of,
    effects_of,
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
TAGS        words for --tag: how the waiter was made and checked
AFTER       the operation whose effect it is
POLLS       the operation that tells that it has ended
BASIS       how it is known that a state belongs to the change; `show` explains the words"""
"""What the columns mean."""

_Found = TypeVar("_Found")

_Waiter = tuple[str, WaiterDefinition]

WAITER_COLUMNS = ("SERVICE", "WAITER", "OPERATION", "DELAYS", "CONFIDENCE", "TAGS")

EFFECT_COLUMNS = ("SERVICE", "EFFECT", "AFTER", "POLLS", "BASIS")

HEADING = "Effects, which `boto-wait begin SERVICE OPERATION` waits for:\n"
"""Stands above the effects, where waiters may stand before them."""


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "list",
        description="Without words, list the services that this package ships waiters for. With "
        "the name of a service, list the waiters of its clients, including those of the installed "
        "botocore, of installed packages and of your own files on botocore's search path, then "
        "the effects that `boto-wait begin` waits for. With other words, list the waiters and the "
        "effects that all of them describe: a service, a resource, a state, a change.",
        epilog=LEGEND,
    )
    words = parser.add_argument(
        "words", nargs="*", metavar="WORD", help="s3, or words such as: transit gateway deleted"
    )
    complete_with(words, lambda arguments: () if arguments.words else services_with_waiters())
    parser.set_defaults(definitions=None)
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--tag", metavar="TAG", help="list the waiters that have this tag, with or without words"
    )
    only.add_argument(
        "--changes", action="store_true", help="list effects only, with or without words"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Print the list; return the exit code."""
    words: list[str] = arguments.words
    if not words and arguments.tag is None and not arguments.changes:
        _list_services(as_json=arguments.output == "json")
        return 0
    pairs = [] if arguments.changes else _waiters(words, arguments.definitions)
    effects = _effects(words) if arguments.tag is None else []
    what = "effect" if arguments.changes else "waiter"
    if not (pairs or effects) and len(words) == 1:
        # Raises for what is no service either.
        print(f"{find_service(words[0])} has no {what}s", file=sys.stderr)
    elif not (pairs or effects):
        print(f"no {what} is described by: {' '.join(words)}", file=sys.stderr)
    elif arguments.tag is not None:
        known = {each for _, definition in pairs for each in definition.tags}
        if arguments.tag not in known:
            raise UnknownNameError("waiter with the tag", arguments.tag, sorted(known))
        pairs = [pair for pair in pairs if arguments.tag in pair[1].tags]
    if arguments.output == "json":
        changes = ({"kind": "effect", **effect._asdict()} for effect in effects)
        print(json_text([*(definition_facts(*pair) for pair in pairs), *changes], indent=2))
    else:
        _print_tables(pairs, effects, "" if arguments.changes else HEADING)
    return 0


def _service_named(words: Sequence[str]) -> str | None:
    """Return the service that words name; None if they describe something instead."""
    try:
        return find_service(*words) if len(words) == 1 else None
    except UnknownNameError:
        return None


def _waiters(words: list[str], files: Sequence[str] | None) -> list[_Waiter]:
    """Return the waiters of a service, if the one word names it, or those that words describe."""
    if service := _service_named(words):
        return [(service, definition) for definition in definitions_of(service, files)]
    return _described(all_waiters(), words, _waiter_texts)


def _effects(words: list[str]) -> list[KnownEffect]:
    service = _service_named(words)
    found = list(effects_of(service))
    return found if service else _described(found, words, _effect_texts)


def _described(
    known: Iterable[_Found], words: list[str], texts_of: Callable[[_Found], tuple[str, str]]
) -> list[_Found]:
    # `stack-update-complete` and `stack_update_complete` are `StackUpdateComplete`.
    wanted = [(word.lower(), squashed(word) or word) for word in words]
    texts = [(texts_of(each), each) for each in known]
    # Documentation mentions other states than the one that is waited for.
    found = (
        [each for text, each in texts if all(a in text[i] or b in text[i] for a, b in wanted)]
        for i in (0, 1)
    )
    return next(filter(None, found), [])


def _waiter_texts(pair: _Waiter) -> tuple[str, str]:
    service, definition = pair
    ids = (service, definition.service or "")
    return _texts(ids, (definition.name, definition.operation), definition.documentation)


def _effect_texts(effect: KnownEffect) -> tuple[str, str]:
    # Not the polled operation: it is also that of other changes.
    return _texts([effect.service], [effect.after, effect.name], effect.documentation)


def _texts(ids: Iterable[str], names: Sequence[str], documentation: str) -> tuple[str, str]:
    """Return the text of the names, and the same with the documentation."""
    text = " ".join([*ids, *names, *(xform_name(name, " ") for name in names)]).lower()
    return text, f"{text} {documentation.lower()}"


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


def _print_tables(pairs: Iterable[_Waiter], effects: Iterable[KnownEffect], heading: str) -> None:
    waiters = [
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
    changes = [
        (each.service, xform_name(each.name), each.after, each.operation, each.basis)
        for each in effects
    ]
    with_service = len({service for service, *_ in (*waiters, *changes)}) > 1
    tables = (("", WAITER_COLUMNS, waiters), (heading, EFFECT_COLUMNS, changes))
    texts = [
        title + columns([row[not with_service :] for row in (head, *rows)])
        for title, head, rows in tables
        if rows
    ]
    print("\n\n".join(texts), end="\n" if texts else "")

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
    services_with_waiters,
    squashed,
)
from .output import columns, delays_text, json_text
from .parser import complete_with
from .service_lookup import (
    UnknownNameError,
    confidence,
    definition_facts,
    effects_of,
    find_service,
)

_Found = TypeVar("_Found")

_Waiter = tuple[str, WaiterDefinition]

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
    )
    words = parser.add_argument(
        "words", nargs="*", metavar="WORD", help="s3, or words such as: transit gateway deleted"
    )
    complete_with(words, lambda arguments: () if arguments.words else services_with_waiters())
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
    as_json = arguments.output == "json"
    if not words and arguments.tag is None and not arguments.changes:
        _list_services(as_json=as_json)
        return 0
    service = _service_named(words)
    pairs: list[_Waiter] = []
    effects: list[KnownEffect] = []
    if not arguments.changes:
        pairs = _waiters_of(service) if service else _described(all_waiters(), words, _waiter_texts)
    if arguments.tag is None:
        of_all = effects_of(service)
        effects = of_all if service else _described(of_all, words, _effect_texts)
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
    _print(pairs, effects, as_json=as_json, heading="" if arguments.changes else HEADING)
    return 0


def list_service(service: str, files: Sequence[str] | None, *, as_json: bool) -> None:
    """Print the waiters of a service, then its effects.

    Args:
        service: the `boto3.client` name.
        files: what `--definitions` names.
        as_json: whether as objects.
    """
    _print(_waiters_of(service, files), effects_of(service), as_json=as_json, heading=HEADING)


def _print(
    pairs: Sequence[_Waiter], effects: Sequence[KnownEffect], *, as_json: bool, heading: str
) -> None:
    if as_json:
        waiters = (definition_facts(*pair) for pair in pairs)
        changes = ({"kind": "effect", **effect._asdict()} for effect in effects)
        print(json_text([*waiters, *changes], indent=2))
        return
    services = {service for service, _ in pairs} | {effect.service for effect in effects}
    with_service = len(services) > 1
    tables = [_waiter_table(pairs, with_service=with_service)] if pairs else []
    tables += [heading + _effect_table(effects, with_service=with_service)] if effects else []
    if tables:
        print("\n\n".join(tables))


def _service_named(words: Sequence[str]) -> str | None:
    """Return the service that words name; None if they describe something instead."""
    try:
        return find_service(*words) if len(words) == 1 else None
    except UnknownNameError:
        return None


def _waiters_of(service: str, files: Sequence[str] | None = None) -> list[_Waiter]:
    return [(service, definition) for definition in definitions_of(service, files)]


def _described(
    known: Iterable[_Found], words: list[str], texts_of: Callable[[_Found], tuple[str, str]]
) -> list[_Found]:
    # `stack-update-complete` and `stack_update_complete` are `StackUpdateComplete`.
    wanted = [(word.lower(), squashed(word) or word) for word in words]
    texts = [(texts_of(each), each) for each in known]
    # Documentation mentions other states than the one that is waited for.
    for place in (0, 1):
        found = [
            each
            for text, each in texts
            if all(word in text[place] or letters in text[place] for word, letters in wanted)
        ]
        if found:
            return found
    return []


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


def _waiter_table(pairs: Iterable[_Waiter], *, with_service: bool) -> str:
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
    return columns([row[not with_service :] for row in (head, *rows)])


def _effect_table(effects: Iterable[KnownEffect], *, with_service: bool) -> str:
    head = ("SERVICE", "EFFECT", "AFTER", "POLLS", "BASIS")
    rows = [
        (each.service, xform_name(each.name), each.after, each.operation, each.basis)
        for each in effects
    ]
    return columns([row[not with_service :] for row in (head, *rows)])

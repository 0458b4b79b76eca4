"""`boto-wait list`: the services that have waiters, or the waiters of one service."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from botocore import xform_name

from ..definitions.shipped import shipped_definitions, shipped_services
from ..engine.model import WaiterDefinition
from .service_lookup import (
    SERVICE_HELP,
    UnknownNameError,
    client_name,
    confidence,
    find_service,
    waiters_of,
)
from .text import columns, delay_range


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "list",
        description="Without SERVICE, list the services that this package ships waiters for. "
        "With SERVICE, list the waiters of its clients, including those of the installed "
        "botocore and of your own definition files on botocore's search path.",
    )
    parser.add_argument("service", nargs="?", metavar="SERVICE", help=SERVICE_HELP)
    parser.add_argument("--tag", metavar="TAG", help="list only waiters with this tag")


def run(arguments: argparse.Namespace) -> int:
    """Print the list; return the exit code."""
    if arguments.service is None:
        _list_services(arguments.tag)
    else:
        _list_waiters(arguments.service, arguments.tag)
    return 0


def _list_services(tag: str | None) -> None:
    shipped = {service_id: shipped_definitions(service_id) for service_id in shipped_services()}
    _check_tag(tag, (definition for found in shipped.values() for definition in found))
    rows = []
    for service_id, definitions in shipped.items():
        chosen = [definition for definition in definitions if _has(definition, tag)]
        generated = sum("generated" in definition.tags for definition in chosen)
        if chosen:
            counts = (len(chosen), generated, len(chosen) - generated)
            rows.append((client_name(service_id), *counts, service_id))
    print(columns([("SERVICE", "WAITERS", "GENERATED", "CURATED", "SERVICE ID"), *sorted(rows)]))
    generated, curated = sum(row[2] for row in rows), sum(row[3] for row in rows)
    print(
        f"{len(rows)} services, {generated + curated} waiters: "
        f"{generated} generated, {curated} curated",
        file=sys.stderr,
    )


def _list_waiters(name: str, tag: str | None) -> None:
    service = find_service(name)
    definitions = waiters_of(service)
    if not definitions:
        print(f"{service} has no waiters", file=sys.stderr)
        return
    _check_tag(tag, definitions)
    rows = [
        (
            xform_name(definition.name),
            definition.operation,
            delay_range(definition),
            confidence(definition),
            ", ".join(definition.tags) + (" (deprecated)" if definition.deprecated else ""),
        )
        for definition in definitions
        if _has(definition, tag)
    ]
    print(columns([("WAITER", "OPERATION", "DELAYS", "CONFIDENCE", "TAGS"), *rows]))


def _has(definition: WaiterDefinition, tag: str | None) -> bool:
    return tag is None or tag in definition.tags


def _check_tag(tag: str | None, definitions: Iterable[WaiterDefinition]) -> None:
    known = {tag for definition in definitions for tag in definition.tags}
    if tag is not None and tag not in known:
        raise UnknownNameError("waiter with the tag", tag, sorted(known))

"""`boto-wait list`: which services have waiters, and which waiters a service has.

Exit codes: 0 done, 2 a name that does not exist.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engine.model import WaiterDefinition

DONE, USAGE = 0, 2


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "list",
        help="list services with waiters, or the waiters of a service",
        description="Without a service: every service that waiters are shipped for, with their "
        "number. With one: the waiters its clients have here, those of the installed botocore "
        "and of your own search path included.",
    )
    parser.add_argument(
        "service",
        nargs="?",
        metavar="SERVICE",
        help="as boto3.client has it (logs), or the hyphenised service id (cloudwatch-logs)",
    )
    parser.add_argument("--tag", metavar="TAG", help="only waiters with this tag")


def run(arguments: argparse.Namespace) -> int:
    """List; return the exit code."""
    # Not at the top: a command's module is imported to read the command line, botocore is slow.
    from ..exceptions import WaiterDefinitionError  # noqa: PLC0415
    from .services import UnknownNameError  # noqa: PLC0415
    from .text import printable  # noqa: PLC0415

    try:
        if arguments.service is None:
            _list_services(arguments.tag)
        else:
            _list_waiters(arguments.service, arguments.tag)
    except (UnknownNameError, WaiterDefinitionError) as error:
        print(f"boto-wait list: {printable(str(error))}", file=sys.stderr)
        return USAGE
    return DONE


def _list_services(tag: str | None) -> None:
    from ..definitions.shipped import shipped_definitions, shipped_services  # noqa: PLC0415
    from .services import client_name  # noqa: PLC0415
    from .text import columns  # noqa: PLC0415

    every = {service_id: shipped_definitions(service_id) for service_id in shipped_services()}
    _require_tag(tag, (definition for found in every.values() for definition in found))
    counts: dict[str, tuple[int, int, int]] = {}
    for service_id, definitions in every.items():
        chosen = [definition for definition in definitions if _has(definition, tag)]
        if chosen:
            generated = sum("generated" in definition.tags for definition in chosen)
            counts[service_id] = (len(chosen), generated, len(chosen) - generated)
    rows = sorted(
        (client_name(service_id), *found, service_id) for service_id, found in counts.items()
    )
    print(columns([("SERVICE", "WAITERS", "GENERATED", "CURATED", "SERVICE ID"), *rows]))
    total, generated, curated = map(sum, zip(*counts.values(), strict=True))
    print(
        f"{len(rows)} services, {total} waiters: {generated} generated, {curated} curated",
        file=sys.stderr,
    )


def _list_waiters(name: str, tag: str | None) -> None:
    from botocore import xform_name  # noqa: PLC0415

    from .services import confidence, find_service, waiters_of  # noqa: PLC0415
    from .text import columns  # noqa: PLC0415
    from .wording import delays  # noqa: PLC0415

    service = find_service(name)
    definitions = waiters_of(service)
    if not definitions:
        print(f"{service} has no waiters", file=sys.stderr)
        return
    _require_tag(tag, definitions)
    rows = [
        (
            xform_name(definition.name),
            definition.operation,
            delays(definition),
            confidence(definition),
            ", ".join(definition.tags) + (" (deprecated)" if definition.deprecated else ""),
        )
        for definition in definitions
        if _has(definition, tag)
    ]
    print(columns([("WAITER", "OPERATION", "DELAYS", "CONFIDENCE", "TAGS"), *rows]))


def _has(definition: WaiterDefinition, tag: str | None) -> bool:
    return tag is None or tag in definition.tags


def _require_tag(tag: str | None, definitions: Iterable[WaiterDefinition]) -> None:
    from .services import UnknownNameError  # noqa: PLC0415

    known = {tag for definition in definitions for tag in definition.tags}
    if tag is not None and tag not in known:
        raise UnknownNameError("waiter with the tag", tag, sorted(known))

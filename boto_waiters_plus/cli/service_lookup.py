"""Services and waiters by the names that users type, and how each waiter was checked."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from botocore import xform_name
from botocore.model import OperationModel, ServiceModel

from ..common.arguments import nearest
from ..definitions.near_waiters import did_you_mean
from ..definitions.shipped import shipped_json, shipped_services, shipped_traits
from ..definitions.smithy import aws_namespace
from ..engine.model import GENERATED, WaiterDefinition
from ..service.catalog import (
    client_name,
    definitions_of,
    effects_of,
    service_names,
    services_with_waiters,
    spelled,
)
from .exit_codes import UsageError
from .parser import COMMANDS, complete_with

_Waiter = TypeVar("_Waiter")

SERVICE_HELP = "name as in boto3.client (logs), or hyphenised service id (cloudwatch-logs)"
"""The help text of the argument SERVICE."""

_OF_AWS_CLI = {"s3api": "s3", "configservice": "config"}
"""Services under the AWS CLI's names. Its `deploy` is a word to search for, too: a hint answers."""


class UnknownNameError(UsageError):
    """No such service, waiter or tag; the message suggests the nearest name.

    Args:
        what: what the name is of.
        name: the name.
        known: the names that exist.
        hint: the end of the message, if another one is better.
    """

    def __init__(
        self, what: str, name: str, known: Iterable[str] = (), hint: str | None = None
    ) -> None:
        if hint is None:
            known = list(known)
            near = nearest(name, known) or nearest(name.lower(), known)
            hint = f"; did you mean {near!r}?" if near is not None else ""
        super().__init__(f"no {what} {name!r}{hint}")


def waiter_among(waiters: Mapping[str, _Waiter], name: str, service: str) -> _Waiter:
    """Return the waiter that `bucket-exists`, `bucket_exists` or `BucketExists` means.

    Args:
        waiters: the waiters of the service, by their names in snake case.
        name: the name.
        service: the `boto3.client` name of the service.

    Raises:
        UnknownNameError: there is none.
    """
    found = spelled(name, waiters)
    if found is None:
        hint = did_you_mean(name, [each.replace("_", "-") for each in waiters])
        raise UnknownNameError(f"{service} waiter", name, hint=hint)
    return waiters[found]


def add_waiter_arguments(parser: argparse.ArgumentParser, *, may_be_other: bool = False) -> None:
    """Add the arguments SERVICE, WAITER and `--definitions`.

    Args:
        parser: to which they are added.
        may_be_other: whether WAITER may also be an operation with effects, or be left out.
    """
    service = parser.add_argument("service", metavar="SERVICE", help=SERVICE_HELP)
    complete_with(service, lambda _: services_with_waiters())
    waiter = parser.add_argument(
        "waiter",
        metavar="WAITER",
        nargs="?" if may_be_other else None,
        help="bucket-exists, bucket_exists or BucketExists",
    )

    def completions(arguments: argparse.Namespace) -> list[str]:
        service = find_service(arguments.service)
        names = [each.name for each in definitions_of(service, arguments.definitions)]
        names += [each.after for each in effects_of(service)] if may_be_other else []
        return [xform_name(name, "-") for name in names]

    complete_with(waiter, completions)
    parser.add_argument(
        "--definitions", action="append", metavar="FILE", help="file or folder of definitions"
    )


def find_service(name: str, what: str = "service") -> str:
    """Return the `boto3.client` name of a service, given that name or its hyphenised id.

    Args:
        name: the name in any case.
        what: what the name might have been, for the error.

    Raises:
        UnknownNameError: neither botocore nor the shipped definitions have such a service.
    """
    wanted = _OF_AWS_CLI.get(name.lower(), name.lower())
    by_id = {service_id: client_name(service_id) for service_id in shipped_services()}
    # Listing the services of botocore takes 10 ms, so they come last.
    found = by_id.get(wanted) or spelled(wanted, by_id.values()) or spelled(wanted, service_names())
    if found is None:
        others = COMMANDS if "command" in what else by_id
        raise UnknownNameError(what, name, service_names() | others.keys())
    return found


def definition_named(arguments: argparse.Namespace) -> tuple[str, WaiterDefinition]:
    """Return the service that SERVICE means, and its waiter that WAITER means.

    `bucket-exists`, `bucket_exists` and `BucketExists` mean the same waiter.

    Raises:
        UnknownNameError: there is no such service, or the service has no such waiter.
        WaiterDefinitionError: a file of `--definitions` or on the search path is malformed.
    """
    service = find_service(arguments.service)
    found = definitions_of(service, arguments.definitions)
    waiters = {xform_name(definition.name): definition for definition in found}
    return service, waiter_among(waiters, arguments.waiter, service)


def operation_named(service: ServiceModel, name: str) -> OperationModel:
    """Return the operation that `head-bucket`, `head_bucket` or `HeadBucket` means.

    Raises:
        UnknownNameError: the service has no such operation.
    """
    known = operations_of(service)
    found = spelled(name, known)
    if found is None:
        raise UnknownNameError(f"{service.service_name} operation", name, known)
    return service.operation_model(known[found])


def operations_of(service: ServiceModel) -> dict[str, str]:
    """Return the operations of a service by their names on the command line."""
    return {xform_name(name, "-"): name for name in service.operation_names}


def operations_that(service: ServiceModel, *, only_read: bool) -> list[str]:
    """Return the operations that only read, or else those that may change something."""
    from ..service.on_the_spot import only_reads  # noqa: PLC0415 - slow, and not for the help

    return [
        name
        for name, operation in operations_of(service).items()
        if only_reads(service.operation_model(operation)) is only_read
    ]


def confidence(definition: WaiterDefinition) -> str:
    """Return what a definition rests on, in words: `12 recorded answers, run on moto`."""
    if definition.source.startswith("data/") and definition.tags:
        return ", ".join(evidence_of(definition).in_words())
    return "from botocore" if definition.source.endswith("waiters-2.json") else "not checked"


def definition_facts(service: str, definition: WaiterDefinition) -> dict[str, Any]:
    """Return what `--output json` prints of every definition."""
    return {
        "kind": "waiter",
        "service": service,
        "waiter": definition.name,
        "operation": definition.operation,
        "min_delay": definition.min_delay,
        "max_delay": definition.max_delay,
        "confidence": confidence(definition),
        "tags": list(definition.tags),
        "deprecated": definition.deprecated,
        "documentation": definition.documentation,
    }


# --- what a shipped waiter rests on besides the model --------------------------------------------

EVIDENCE = "boto.waiters#evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a shipped waiter."""

    recorded: int = 0
    """Recorded answers of AWS with a state or an error that the waiter reads."""
    documented: int = 0
    """Examples in AWS's documentation with such a state or error."""
    moto: bool = False
    """Whether a real client ran it against a simulation of the service."""
    enum: bool = False
    """Whether every value of the state's enumeration was judged."""
    botocore: bool = False
    """Whether it was converted from botocore's waiter."""
    unread: bool = False
    """Whether a rule wrote it, or a state of it, and no person has read that yet."""

    def in_words(self) -> list[str]:
        """Return what the waiter rests on, the strongest first."""
        said = {
            _counted(self.recorded, "recorded answer"): self.recorded,
            _counted(self.documented, "documentation example"): self.documented,
            "run on moto": self.moto,
            "every value of the enum": self.enum,
            "from botocore": self.botocore,
        }
        found = [text for text, holds in said.items() if holds] or ["model only"]
        return [*found, "not read by a person yet"] if self.unread else found


def evidence_of(definition: WaiterDefinition) -> Evidence:
    """Return what a shipped waiter rests on."""
    service = definition.service or ""
    facts = shipped_traits(EVIDENCE).get(f"{aws_namespace(service)}#{definition.operation}", {})
    tags = definition.tags
    found: Mapping[str, Any] = facts.get(definition.name, {})
    return Evidence(
        recorded=found.get("recorded", 0),
        documented=found.get("documented", 0),
        moto="run-on-moto" in tags,
        enum="enum-checked" in tags or found.get("enum", False),
        botocore=GENERATED in tags,
        unread=(aws_namespace(service), definition.name) in _unread(),
    )


@functools.cache
def _unread() -> frozenset[tuple[str, str]]:
    """Return the namespaces and names of the waiters in `data/unread.json`."""
    services = shipped_json("unread.json")
    return frozenset(
        (aws_namespace(service), what.partition(" ")[0])
        for service, kinds in services.items()
        for kind in ("states", "waiters")
        for what in kinds.get(kind, ())
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

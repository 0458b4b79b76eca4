"""Services and waiters by the names that users type, and how each waiter was checked."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence

from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.model import OperationModel, ServiceModel

from ..arguments import nearest
from ..aws.definition_places import default_loader
from ..aws.service_waiters import ServiceWaiters
from ..definitions.evidence_trait import evidence_of
from ..definitions.files import SEARCH_PATH_FILE, load_layers
from ..definitions.shipped import shipped_definitions, shipped_services
from ..engine.model import WaiterDefinition
from . import COMMANDS, UsageError
from .completion import complete_with

CLIENT_NAMES = {
    "api-gateway": "apigateway",
    "auto-scaling": "autoscaling",
    "auto-scaling-plans": "autoscaling-plans",
    "cloudwatch-logs": "logs",
    "cognito-identity-provider": "cognito-idp",
    "config-service": "config",
    "database-migration-service": "dms",
    "direct-connect": "directconnect",
    "directory-service": "ds",
    "elastic-beanstalk": "elasticbeanstalk",
    "elastic-load-balancing": "elb",
    "elastic-load-balancing-v2": "elbv2",
    "elasticsearch-service": "es",
    "eventbridge": "events",
    "global-accelerator": "globalaccelerator",
    "kinesis-analytics": "kinesisanalytics",
    "kinesis-analytics-v2": "kinesisanalyticsv2",
    "kinesis-video": "kinesisvideo",
    "lex-model-building-service": "lex-models",
    "lex-models-v2": "lexv2-models",
    "machine-learning": "machinelearning",
    "route-53": "route53",
    "route-53-domains": "route53domains",
    "s3-control": "s3control",
    "secrets-manager": "secretsmanager",
    "service-catalog": "servicecatalog",
    "sfn": "stepfunctions",
    "storage-gateway": "storagegateway",
}
"""The `boto3.client` names of services that differ from the hyphenised service id.

Only a service's model has both, and reading all models takes seconds.
"""

SERVICE_HELP = "name as in boto3.client (logs), or hyphenised service id (cloudwatch-logs)"
"""The help text of the argument SERVICE."""


class UnknownNameError(UsageError):
    """No such service, waiter or tag; the message suggests the nearest name."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        known = list(known)
        near = nearest(name, known) or nearest(name.lower(), known)
        hint = f"; did you mean {near!r}?" if near is not None else ""
        super().__init__(f"no {what} {name!r}{hint}")


def add_waiter_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments SERVICE, WAITER and `--definitions`."""
    service = parser.add_argument("service", metavar="SERVICE", help=SERVICE_HELP)
    complete_with(service, lambda _: services_with_waiters())
    waiter = parser.add_argument(
        "waiter", metavar="WAITER", help="bucket-exists, bucket_exists or BucketExists"
    )
    complete_with(
        waiter,
        lambda arguments: [
            xform_name(definition.name, "-")
            for definition in waiters_of(find_service(arguments.service), arguments.definitions)
        ],
    )
    parser.add_argument(
        "--definitions", action="append", metavar="FILE", help="file or folder of definitions"
    )


def client_name(service_id: str) -> str:
    """Return the `boto3.client` name of the service with this hyphenised id."""
    return CLIENT_NAMES.get(service_id, service_id)


def service_names() -> set[str]:
    """Return the `boto3.client` names of all services."""
    shipped = map(client_name, shipped_services())
    return {*shipped, *default_loader().list_available_services("service-2")}


def services_with_waiters() -> set[str]:
    """Return the `boto3.client` names of the services for which there are waiters."""
    shipped = map(client_name, shipped_services())
    return {*shipped, *default_loader().list_available_services("waiters-2"), *own_services()}


def own_services() -> set[str]:
    """Return the `boto3.client` names of the services with a file of the user's definitions."""
    return {*default_loader().list_available_services(SEARCH_PATH_FILE)}


def find_service(name: str, what: str = "service") -> str:
    """Return the `boto3.client` name of a service, given that name or its hyphenised id.

    Args:
        name: the name in any case.
        what: what the name might have been, for the error.

    Raises:
        UnknownNameError: neither botocore nor the shipped definitions have such a service.
    """
    wanted = name.lower()
    by_id = {service_id: client_name(service_id) for service_id in shipped_services()}
    if wanted in by_id:
        return by_id[wanted]
    if wanted in by_id.values():
        return wanted
    # Listing the services of botocore takes 10 ms.
    known = service_names()
    for service in known:
        if squashed(service) == squashed(wanted):
            return service
    raise UnknownNameError(
        what, name, {*COMMANDS, *known} if "command" in what else known | by_id.keys()
    )


def waiters_of(service: str, files: Sequence[str] | None = None) -> Sequence[WaiterDefinition]:
    """Return the waiters that a client of this service has here, sorted by name.

    They come from this package, the installed botocore and its search path.

    Args:
        service: the `boto3.client` name.
        files: what `--definitions` names, which takes precedence over all of them.

    Raises:
        WaiterDefinitionError: one of these files, or one on the search path, cannot be read or is
            malformed.
    """
    loader = default_loader()
    try:
        layers = load_layers(files or ())
        document = loader.load_service_model(service, "service-2")
        waiters = ServiceWaiters(ServiceModel(document, service_name=service), loader, layers)
        found = [waiter.definition for waiter in waiters.values()]
    except UnknownServiceError:
        # The service is newer than the installed botocore.
        ids = {client_name(service_id): service_id for service_id in shipped_services()}
        found = list(shipped_definitions(ids[service]))
    return sorted(found, key=lambda definition: definition.name)


def all_waiters() -> Iterator[tuple[str, WaiterDefinition]]:
    """Yield the shipped waiters, and all waiters of services for which the user has definitions.

    Raises:
        WaiterDefinitionError: a file on the search path is malformed.
    """
    own = own_services()
    for service_id in shipped_services():
        service = client_name(service_id)
        if service not in own:
            yield from ((service, definition) for definition in shipped_definitions(service_id))
    for service in sorted(own & service_names()):
        yield from ((service, definition) for definition in waiters_of(service))


def definition_named(arguments: argparse.Namespace) -> tuple[str, WaiterDefinition]:
    """Return the service that SERVICE means, and its waiter that WAITER means.

    `bucket-exists`, `bucket_exists` and `BucketExists` mean the same waiter.

    Raises:
        UnknownNameError: there is no such service, or the service has no such waiter.
        WaiterDefinitionError: a file of `--definitions` or on the search path is malformed.
    """
    service = find_service(arguments.service)
    found = waiters_of(service, arguments.definitions)
    waiters = {xform_name(definition.name): definition for definition in found}
    for name, definition in waiters.items():
        if squashed(name) == squashed(arguments.waiter):
            return service, definition
    raise UnknownNameError(f"{service} waiter", arguments.waiter, waiters)


def operation_named(service: ServiceModel, name: str) -> OperationModel:
    """Return the operation that `head-bucket`, `head_bucket` or `HeadBucket` means.

    Raises:
        UnknownNameError: the service has no such operation.
    """
    known = operations_of(service)
    for kebab_name, operation in known.items():
        if squashed(kebab_name) == squashed(name):
            return service.operation_model(operation)
    raise UnknownNameError(f"{service.service_name} operation", name, known)


def operations_of(service: ServiceModel) -> dict[str, str]:
    """Return the operations of a service by their names on the command line."""
    return {xform_name(name, "-"): name for name in service.operation_names}


def confidence(definition: WaiterDefinition) -> str:
    """Return what a definition rests on, in words: `12 recorded answers, run on moto`."""
    if definition.source.startswith("data/") and definition.tags:
        return ", ".join(evidence_of(definition).in_words())
    return "from botocore" if definition.source.endswith("waiters-2.json") else "not checked"


def squashed(name: str) -> str:
    """Return what all spellings of a name have in common: `bucketexists`."""
    return re.sub(r"[-_]", "", name).lower()

"""Services and waiters by the names people type, and what is known of each waiter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..arguments import nearest
from ..aws.service_waiters import ServiceWaiters, default_loader
from ..definitions.shipped import shipped_definitions, shipped_services
from ..engine.model import WaiterDefinition

CLIENT_NAMES = {
    "api-gateway": "apigateway",
    "auto-scaling": "autoscaling",
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
    "global-accelerator": "globalaccelerator",
    "kinesis-analytics-v2": "kinesisanalyticsv2",
    "lex-models-v2": "lexv2-models",
    "machine-learning": "machinelearning",
    "route-53": "route53",
    "route-53-domains": "route53domains",
    "s3-control": "s3control",
    "secrets-manager": "secretsmanager",
    "service-catalog": "servicecatalog",
    "sfn": "stepfunctions",
}
"""What `boto3.client` calls a service, where that is not its hyphenised id. Asking botocore would
mean to read every service's model."""

CONFIDENCE = {
    "run-on-moto": "run on moto",
    "enum-checked": "enum-checked",
    "model-only": "model only",
    "generated": "from botocore",
}
"""What stands behind a definition, in words, by its tag."""


class UnknownNameError(LookupError):
    """A name that nothing has; the message offers the nearest that something has."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        near = nearest(name.lower(), known)
        hint = f"; did you mean {near!r}?" if near is not None else ""
        super().__init__(f"no {what} {name!r}{hint}")


def client_name(service_id: str) -> str:
    """The name for `boto3.client` of a service with this hyphenised id."""
    return CLIENT_NAMES.get(service_id, service_id)


def find_service(name: str) -> str:
    """The name for `boto3.client`, from that or from the hyphenised id of a service.

    Raises:
        UnknownNameError: neither botocore nor the shipped definitions know such a service.
    """
    asked = name.lower()
    by_id = {service_id: client_name(service_id) for service_id in shipped_services()}
    if asked in by_id:
        return by_id[asked]
    known = {*by_id.values(), *default_loader().list_available_services("service-2")}
    if asked in known:
        return asked
    raise UnknownNameError("service", name, known | by_id.keys())


def waiters_of(service: str) -> Sequence[WaiterDefinition]:
    """The waiters that a client of this service has here, by name.

    These are the shipped ones and those of the search path and of the installed botocore.

    Raises:
        WaiterDefinitionError: a file on the search path is malformed.
    """
    from botocore.exceptions import UnknownServiceError  # noqa: PLC0415 - only needed here
    from botocore.model import ServiceModel  # noqa: PLC0415 - only needed here

    loader = default_loader()
    try:
        document = loader.load_service_model(service, "service-2")
    except UnknownServiceError:
        # A service that is newer than the installed botocore.
        ids = {client_name(service_id): service_id for service_id in shipped_services()}
        found = list(shipped_definitions(ids[service]))
    else:
        model = ServiceModel(document, service_name=service)
        bound = ServiceWaiters(model, loader).by_snake_name.values()
        found = [waiter.definition for waiter in bound]
    return sorted(found, key=lambda definition: definition.name)


def find_waiter(service: str, name: str) -> WaiterDefinition:
    """A waiter by any spelling of its name: `bucket-exists`, `bucket_exists`, `BucketExists`.

    Raises:
        UnknownNameError: the service has no such waiter.
        WaiterDefinitionError: a file on the search path is malformed.
    """
    from botocore import xform_name  # noqa: PLC0415 - only needed here

    waiters = {xform_name(definition.name): definition for definition in waiters_of(service)}
    for definition in waiters.values():
        if _squashed(definition.name) == _squashed(name):
            return definition
    raise UnknownNameError(f"{service} waiter", name, waiters)


def confidence(definition: WaiterDefinition) -> str:
    """What stands behind a definition, in words."""
    for tag in definition.tags:
        if tag in CONFIDENCE:
            return CONFIDENCE[tag]
    if definition.source.endswith("waiters-2.json"):
        return CONFIDENCE["generated"]
    return "not checked"


def _squashed(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()

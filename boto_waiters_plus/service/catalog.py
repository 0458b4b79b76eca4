"""Which services there are, and which waiters their clients have here, without a client."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.utils import CLIENT_NAME_TO_HYPHENIZED_SERVICE_ID_OVERRIDES

from ..definitions.changes import EFFECT
from ..definitions.files import SEARCH_PATH_FILE, installed_definitions, load_definitions
from ..definitions.shipped import (
    shipped_definitions,
    shipped_services,
    shipped_traits,
    unread_shipped,
)
from ..definitions.smithy import AWS_NAMESPACE, service_key
from ..engine.model import WaiterDefinition
from .places import botocore_is_older, default_loader
from .service_waiters import ServiceWaiters

CLIENT_NAMES = {each: name for name, each in CLIENT_NAME_TO_HYPHENIZED_SERVICE_ID_OVERRIDES.items()}
"""The `boto3.client` names of services that differ from the hyphenised service id."""


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
    """Return the `boto3.client` names of the services with definitions of the user's.

    They are on the search path, in either form, or in installed packages.
    """
    loader = default_loader()
    paths = [path for path in loader.search_paths if path != Loader.BUILTIN_DATA_PATH]
    own = Loader(extra_search_paths=paths, include_default_search_paths=False)
    found = {*loader.list_available_services(SEARCH_PATH_FILE)}
    found.update(own.list_available_services("waiters-2"))
    definitions = installed_definitions()[0]
    if definitions:
        keys = {service_key(name): name for name in service_names()}
        keys |= {service_key(each): client_name(each) for each in shipped_services()}
        services = (each.service for each in definitions if each.service is not None)
        found.update(keys.get(service_key(service), service) for service in services)
    return found


def definitions_of(service: str, files: Sequence[str] | None = None) -> Sequence[WaiterDefinition]:
    """Return the waiters that a client of this service has here, sorted by name.

    They come from this package, the installed botocore and its search path.

    Args:
        service: the `boto3.client` name.
        files: what `--definitions` names, which takes precedence over all of them.

    Raises:
        WaiterDefinitionError: one of these files, or one on the search path, cannot be read or is
            malformed.
    """
    waiters = _waiters_of(service, load_definitions(files or ()))
    if waiters is None:
        ids = {client_name(service_id): service_id for service_id in shipped_services()}
        found = list(shipped_definitions(ids[service]))
    else:
        found = [waiter.definition for waiter in waiters.values()]
    return sorted(found, key=lambda definition: definition.name)


def model_of(service: str) -> ServiceModel | None:
    """Return the model of a service; None: it is newer than the installed botocore."""
    try:
        document = default_loader().load_service_model(service, "service-2")
    except UnknownServiceError:
        return None
    return ServiceModel(document, service)


def _waiters_of(service: str, definitions: Sequence[WaiterDefinition]) -> ServiceWaiters | None:
    model = model_of(service)
    return None if model is None else ServiceWaiters(model, default_loader(), definitions)


def all_waiters() -> Iterator[tuple[str, WaiterDefinition]]:
    """Yield the shipped waiters, and all waiters of services for which the user has definitions.

    A package's definitions for any service that has their operation come last, as of `any`.

    Raises:
        WaiterDefinitionError: a file on the search path is malformed.
    """
    own = own_services()
    for service_id in shipped_services():
        service = client_name(service_id)
        if service not in own:
            yield from ((service, definition) for definition in shipped_definitions(service_id))
    names = set()
    for service in sorted(own & service_names()):
        for definition in definitions_of(service):
            names.add(definition.name)
            yield service, definition
    for definition in installed_definitions()[0]:
        if definition.service is None and definition.name not in names:
            yield "any", definition


class KnownEffect(NamedTuple):
    """An effect of an operation as the data has it."""

    service: str
    """The `boto3.client` name."""
    after: str
    """The operation that has the effect; the first one of an operation is the default."""
    name: str
    operation: str
    """The operation that is polled."""
    basis: str
    documentation: str


def effects_of(service: str | None) -> Iterator[KnownEffect]:
    """Yield the effects that the operations of a service have here, or those of all services.

    Args:
        service: the `boto3.client` name. None: all services, whatever an older botocore lacks.
    """
    here = _waiters_of(service, ()) if service is not None and botocore_is_older() else None
    known = None if here is None else {*here.operation_names, *here}
    services = [each for each in shipped_services() if service in (None, client_name(each))]
    ids = {AWS_NAMESPACE + service_key(service_id): service_id for service_id in services}
    # The traits are not parsed: those of all services would take 0.3 s.
    for shape_id, effects in shipped_traits(EFFECT).items():
        namespace, _, after = shape_id.partition("#")
        service_id = ids.get(namespace)
        if service_id is None:
            continue
        name_of_client, waiters = client_name(service_id), unread_shipped(service_id)
        for name, body in effects.items():
            polled = operation = body.get("operation")
            said = body.get("documentation")
            if operation is None:
                # It waits by a waiter of the service.
                waiter = waiters[body.get("waiter", name)]
                polled, operation = xform_name(waiter.name), waiter.operation
                said = said or waiter.body.get("documentation")
            if known is None or {after, polled} <= known:
                yield KnownEffect(name_of_client, after, name, operation, body["basis"], said or "")


def spelled(name: str, known: Iterable[str]) -> str | None:
    """Return the one of known names that a name is another spelling of."""
    return next((each for each in known if squashed(each) == squashed(name)), None)


def squashed(name: str) -> str:
    """Return what all spellings of a name have in common: `bucketexists`."""
    return re.sub(r"[-_]", "", name).lower()

"""The waiter that a command line names, or defines by an operation and its states."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from botocore import xform_name
from botocore.model import OperationModel, ServiceModel
from botocore.session import Session

from ..aws.bound_waiter import BoundWaiter
from ..aws.service_waiters import ServiceWaiters
from ..definitions.files import load_layers
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from . import UsageError
from .service_lookup import UnknownNameError, squashed
from .text import as_flags, printable
from .wait_options import AD_HOC


@dataclass(frozen=True)
class ChosenWaiter:
    """The waiter that the command line names, on its operation."""

    session: Session
    service: ServiceModel
    bound: BoundWaiter
    is_given: bool
    """Whether the command line itself defines the waiter."""

    @property
    def operation(self) -> OperationModel:
        """The operation that is polled."""
        return self.bound.operation

    @property
    def waiter(self) -> str | WaiterDefinition:
        """The waiter as `wait_until` takes it."""
        return self.bound.definition if self.is_given else self.bound.definition.name


def waiters_of_service(
    session: Session, service: ServiceModel, arguments: argparse.Namespace
) -> Mapping[str, BoundWaiter]:
    """Return the waiters of a service by their snake names, those of `--definitions` included.

    Raises:
        UsageError: a file of definitions cannot be read.
    """
    try:
        layers = load_layers(arguments.definitions or ())
        loader = session.get_component("data_loader")
        return ServiceWaiters(service, loader, layers).by_snake_name
    except WaiterDefinitionError as error:
        raise UsageError(printable(str(error))) from error


def waiter_named(waiters: Mapping[str, BoundWaiter], name: str, service: str) -> BoundWaiter:
    """Return the waiter that `bucket-exists`, `bucket_exists` or `BucketExists` means.

    Raises:
        UsageError: there is none, or its definition is malformed.
    """
    try:
        for snake_name in waiters:
            if squashed(snake_name) == squashed(name):
                return waiters[snake_name]
    except WaiterDefinitionError as error:
        raise UsageError(printable(str(error))) from error
    raise UnknownNameError(f"{service} waiter", name, map(kebab, waiters))


def waiter_of_states(service: ServiceModel, arguments: argparse.Namespace) -> BoundWaiter:
    """Return the waiter that `--operation`, `--path` and the states define.

    Raises:
        UsageError: there is no such operation, or the states or the path are malformed.
    """
    names = {kebab(xform_name(name)): name for name in service.operation_names}
    wanted = squashed(arguments.operation)
    operation = next((name for name in names.values() if squashed(name) == wanted), None)
    if operation is None:
        raise UnknownNameError(f"{service.service_name} operation", arguments.operation, names)
    if arguments.path is None and not arguments.success_on_error:
        raise UsageError("--operation needs --path, the JMESPath to the state, and --success")
    given = {name: getattr(arguments, name) for name in AD_HOC}
    given = {name: value for name, value in given.items() if value is not None}
    given = {"path": "@", "success": (), **given}
    try:
        definition = WaiterDefinition.from_states(f"{operation}State", operation, **given)
        return ServiceWaiters(service, None).bind(definition)
    except ValueError as error:
        raise UsageError(printable(as_flags(str(error)))) from error


def kebab(name: str) -> str:
    """Return a snake name as the command line spells it."""
    return name.replace("_", "-")

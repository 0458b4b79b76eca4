"""The waiter that a command line names, or that it makes for states of an operation."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from botocore.model import OperationModel, ServiceModel
from botocore.session import Session

from ..aws.bound_waiter import BoundWaiter
from ..aws.made_waiter import made_waiter
from ..aws.service_waiters import ServiceWaiters
from ..definitions.files import load_layers
from ..engine.model import WaiterDefinition
from . import UsageError
from .service_lookup import UnknownNameError, squashed
from .text import as_flags, flag, printable
from .wait_options import AD_HOC, DEPRECATED


def waiters_of_service(
    session: Session, service: ServiceModel, arguments: argparse.Namespace
) -> Mapping[str, BoundWaiter]:
    """Return the waiters of a service by their snake names, those of `--definitions` included.

    Raises:
        WaiterDefinitionError: a file of these cannot be read or is malformed.
    """
    layers = load_layers(arguments.definitions or ())
    return ServiceWaiters(service, session.get_component("data_loader"), layers)


def waiter_named(
    waiters: Mapping[str, BoundWaiter], name: str, service: ServiceModel
) -> BoundWaiter:
    """Return the waiter that `bucket-exists`, `bucket_exists` or `BucketExists` means.

    Raises:
        UsageError: there is none.
        WaiterDefinitionError: its definition, or a file on the search path, is malformed.
    """
    for snake_name in waiters:
        if squashed(snake_name) == squashed(name):
            return waiters[snake_name]
    if any(squashed(each) == squashed(name) for each in service.operation_names):
        raise UsageError(f"{name} is an operation, not a waiter: give --until, the state")
    raise UnknownNameError(f"{service.service_name} waiter", name, map(kebab, waiters))


def waiter_until(operation: OperationModel, arguments: argparse.Namespace) -> BoundWaiter:
    """Return the waiter for the states of an operation that `--until` names.

    Raises:
        UsageError: the operation cannot be polled, or has no such state.
    """
    given = {name: getattr(arguments, name) for name in (*AD_HOC, *DEPRECATED)}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        if arguments.until is not None:
            if stray := given.keys() & {*DEPRECATED}:
                raise UsageError(f"--until takes the place of {flag(min(stray))}")
            definition = made_waiter(operation, arguments.until, arguments.state_path, **given)
        else:
            definition = _of_deprecated(given, operation.name)
        return ServiceWaiters(operation.service_model, None).bind(definition)
    except ValueError as error:
        raise UsageError(printable(as_flags(str(error)))) from error


def _of_deprecated(given: dict[str, Any], operation: str) -> WaiterDefinition:
    """Return the waiter of `--operation`, `--path` and `--success`."""
    if "path" not in given and "success_on_error" not in given:
        raise UsageError("--operation needs --path, the JMESPath to the state, and --success")
    given = {"path": "@", "success": (), **given, "operation": operation}
    return WaiterDefinition.from_states(f"{operation}State", **given)


def kebab(name: str) -> str:
    """Return a snake name as the command line spells it."""
    return name.replace("_", "-")

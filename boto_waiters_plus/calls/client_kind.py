"""What a client or its method is: blocking or awaited, and the operation that is called."""

from __future__ import annotations

from functools import partial
from typing import Any

from botocore.client import BaseClient
from botocore.model import OperationModel


def is_async(client_class: type) -> bool:
    """Return whether calls are awaited: aiobotocore's, by the module of the base class."""
    for base in client_class.__mro__:  # noqa: SIM110 - not a generator: each wait asks
        if base.__module__.startswith("aiobotocore."):
            return True
    return False


def operation_of(method: Any) -> OperationModel | None:
    """Return the operation that a method of a client calls; None for any other callable."""
    while isinstance(method, partial):
        method = method.func
    client = getattr(method, "__self__", None)
    if not isinstance(client, BaseClient):
        return None
    name = client.meta.method_to_api_mapping.get(method.__name__)
    return None if name is None else client.meta.service_model.operation_model(name)

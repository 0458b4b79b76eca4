"""Waits in the background that have a name: start one, look it up, cancel it (AEP-151).

    operation = operations.start(client, "bucket_exists", max_wait=600, Bucket="my-bucket")
    outcome = operation.result()

An operation lives in the memory of its process, or in a `Store` where it outlives the process and
any worker may drive it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..common.extras import refuse_missing
from .in_memory import get, start
from .operation import CODES, OperationError, StoreError

if TYPE_CHECKING:
    from .http_api import asgi
    from .operation import Operation
    from .store import Store

__all__ = ["CODES", "Operation", "OperationError", "Store", "StoreError", "asgi", "get", "start"]

_MODULE_OF = {"Operation": "operation", "Store": "store", "asgi": "http_api"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f".{_MODULE_OF[name]}", __name__)
    except ImportError as error:
        refuse_missing(f"operations.{name}", "serve", error)
    return getattr(module, name)

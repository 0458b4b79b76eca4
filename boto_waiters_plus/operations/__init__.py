"""Waits in the background that have a name: start one, look it up, cancel it (AEP-151).

    operation = operations.start(client, "bucket_exists", max_wait=600, Bucket="my-bucket")
    outcome = operation.result()

An operation lives in the memory of its process, or in a `Store` where it outlives the process and
any worker may drive it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..common.errors import refuse_missing
from .in_memory import get, start
from .operation import CODES, Operation, OperationError, StoreError
from .store import Store

if TYPE_CHECKING:
    from .http_api import asgi

__all__ = ["CODES", "Operation", "OperationError", "Store", "StoreError", "asgi", "get", "start"]


def __getattr__(name: str) -> Any:
    if name != "asgi":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .http_api import asgi  # noqa: PLC0415 - an extra
    except ImportError as error:
        refuse_missing("operations.asgi", "serve", error)
    return asgi

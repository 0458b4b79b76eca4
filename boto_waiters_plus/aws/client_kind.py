"""Tells an aiobotocore client from a botocore client."""

from __future__ import annotations


def is_async(client_class: type) -> bool:
    """Return whether calls of the client are awaited, judged by the modules of its bases."""
    return any(base.__module__.startswith("aiobotocore.") for base in client_class.__mro__)

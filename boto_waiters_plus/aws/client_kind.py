"""Whether the calls of a client block or are awaited."""

from __future__ import annotations


def is_async(client_class: type) -> bool:
    """Return whether calls are awaited: aiobotocore's, by the module of the base class."""
    return any(base.__module__.startswith("aiobotocore.") for base in client_class.__mro__)

"""Whether the calls of a client block or are awaited."""

from __future__ import annotations


def is_async(client_class: type) -> bool:
    """Return whether calls are awaited: aiobotocore's, by the module of the base class."""
    for base in client_class.__mro__:  # noqa: SIM110 - not a generator: each wait asks
        if base.__module__.startswith("aiobotocore."):
            return True
    return False

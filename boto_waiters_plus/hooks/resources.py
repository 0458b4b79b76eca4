"""The waiter methods of boto3 resources, made to return the outcome that they would drop."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_MARK = "_boto_waiters_plus_resource"
"""The attribute of resource classes that were made while we listened."""


def on_resource_class(**event: Any) -> None:
    """Make the waiter methods of a boto3 resource return the outcome."""
    # The event comes from boto3, which botocore alone does not need.
    from boto3.docs.docstring import ResourceWaiterDocstring  # noqa: PLC0415

    class_attributes: dict[str, Any] = event["class_attributes"]
    class_attributes[_MARK] = True
    for name, value in class_attributes.items():
        # Not by the prefix of the name: a `wait_until_...` of the user's own stays as it is.
        if isinstance(getattr(value, "__doc__", None), ResourceWaiterDocstring):
            class_attributes[name] = _returning_outcome(value)


def returns_outcomes(resource_class: type) -> bool:
    """Return whether the waiters of a resource, and of those made from it, return the outcome."""
    return hasattr(resource_class, _MARK)


def _returning_outcome(method: Callable[..., Any]) -> Callable[..., Any]:
    from .waiter_objects import outcomes_inside  # noqa: PLC0415 - imported by the first waiter

    @functools.wraps(method)
    def wait(self: Any, *args: Any, **keywords: Any) -> Any:
        with outcomes_inside() as collected:
            method(self, *args, **keywords)
        return collected[-1] if collected else None

    @functools.wraps(method)
    async def wait_async(self: Any, *args: Any, **keywords: Any) -> Any:
        with outcomes_inside() as collected:
            await method(self, *args, **keywords)
        return collected[-1] if collected else None

    # Those of aioboto3.
    return wait_async if inspect.iscoroutinefunction(method) else wait

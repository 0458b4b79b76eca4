"""Tokens that are derived from a caller's key."""

from __future__ import annotations

import uuid
from typing import Any, Final

from botocore import xform_name

from ..common.arguments import text, unknown
from ..service.tokens import token_member

_NAMESPACE: Final = uuid.UUID("b7e1a4f2-6f0c-5d3b-9a57-2c8d41e09f63")


def token_for(client: Any, operation: str, key: str, /) -> str:
    """Return the idempotency token of a key: always the same, different for another operation.

    A script that runs again with the same keys, such as job ids, repeats its calls instead of
    making new ones, as long as the service remembers the token.

    Args:
        client: a botocore client.
        operation: `"RunInstances"` or `"run_instances"`.
        key: what tells this call from others of the operation. It cannot be read from the token.

    Raises:
        ValueError: no such operation, it has no token, or the key is empty.
        TypeError: the key is not a string.
    """
    model = client.meta.service_model
    by_method = {xform_name(name): name for name in model.operation_names}
    name = by_method.get(operation, operation)
    if name not in model.operation_names:
        raise ValueError(unknown(operation, [*by_method, *model.operation_names], "operation"))
    text("key", key)
    member = token_member(model.operation_model(name))
    if member is None:
        raise ValueError(f"{name} has no idempotency token")
    return member.fitted(uuid.uuid5(_NAMESPACE, f"{model.service_name}.{name}/{key}"))

"""The operation that a method of a client calls, and the token under which it is repeated."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore import xform_name
from botocore.model import OperationModel

from ..calls.clients import operation_of
from ..common.arguments import text, unknown
from ..service.on_the_spot import only_reads
from ..service.parameters import copied
from ..service.tokens import TokenMember, new_token, token_member

OWN_KEYWORDS = (
    "max_wait",
    "then_wait",
    "allow_repeat",
    "adopt_existing",
    "in_store",
    "cancel_event",
    "propagation_wait",
)


@dataclass(frozen=True, slots=True)
class CallTarget:
    """A client's method with the operation behind it."""

    client: Any
    operation: OperationModel
    member: TokenMember | None
    """The member of the token; None if the operation has none."""

    @classmethod
    def of(cls, method: Any, name: str, *, allow_repeat: bool) -> CallTarget:
        """Return the target of a method; `name` is what takes it, for messages.

        Raises:
            TypeError: not a method of a botocore client.
            ValueError: the operation only reads, or has no token.
        """
        operation = called_operation(name, method)
        target = cls(method.__self__, operation, token_member(operation))
        name = method.__name__
        # Newer models mark what only reads; before that the name has to tell.
        if target.member is None and only_reads(operation):
            raise ValueError(f"{name} only reads: call it directly, it may be repeated at any time")
        if target.member is None and not allow_repeat:
            raise ValueError(
                f"{name} has no idempotency token: a repetition may execute it twice. "
                "Pass allow_repeat=True if that does no harm."
            )
        return target

    def frozen(self, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], str | None, bool]:
        """Return the parameters of all attempts, their token, and whether the caller gave it.

        Raises:
            TypeError: an unknown option, or a parameter that can be sent only once.
            ValueError: the caller's token does not fit the model.
        """
        for name, value in parameters.items():
            if "_" in name:
                raise TypeError(unknown(name, OWN_KEYWORDS, "option"))
            if hasattr(value, "read"):
                raise TypeError(f"{name} is a stream, which can be sent only once: pass bytes")
        if self.member is None:
            return copied(parameters), None, False
        token = self.member.value_in(parameters)
        if token is None:
            token = new_token(self.member)
            return self.member.put_into(parameters, token), token, False
        problem = self.member.problem_of(token)
        if problem is not None:
            raise ValueError(f"{self.member.name} {problem}")
        return copied(parameters), token, True


def called_operation(name: str, method: Any) -> OperationModel:
    """Return the operation that a method calls; `name` is what takes the method.

    Raises:
        TypeError: not a method of a botocore client.
    """
    # No `partial`, whose arguments would be lost.
    operation = operation_of(method) if hasattr(method, "__self__") else None
    if operation is None:
        kind = type(method).__name__
        raise TypeError(f"{name} takes a method of a client, as client.run_instances, not {kind}")
    return operation


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

"""What is called, under which token, and what a store keeps of it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from botocore import xform_name
from botocore.model import OperationModel

from ..calls.clients import client_called_by, operation_called_by
from ..calls.private_names import account_of
from ..common.arguments import text, unknown, unknown_option
from ..common.wrong_arguments import Keyword, WrongValueError
from ..service.on_the_spot import only_reads
from ..service.parameters import copied, from_json
from ..service.tokens import TokenMember, new_token, token_member

OWN_KEYWORDS = (
    *("max_wait", "then_wait", "allow_repeat", "adopt_existing", "in_store", "cancel_event"),
    *("propagation_wait", "busy_wait"),
)


@dataclass(frozen=True, slots=True)
class CallTarget:
    """A client's method with the operation behind it."""

    method: Any
    """What is called: the client's method, or a wrapper of it."""
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
        target = cls(method, client_called_by(method), operation, token_member(operation))
        name = xform_name(operation.name)
        # Newer models mark what only reads; before that the name has to tell.
        if target.member is None and only_reads(operation):
            raise ValueError(f"{name} only reads: call it directly, it may be repeated at any time")
        if target.member is None and not allow_repeat:
            raise WrongValueError(
                f"{name} has no idempotency token: a repetition may execute it twice. Pass ",
                Keyword("allow_repeat=True", "allow_repeat", value=True),
                " if that does no harm.",
                value=False,
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
                raise unknown_option(name, OWN_KEYWORDS)
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
        TypeError: not a method of a botocore client, nor a wrapper of one.
    """
    operation = operation_called_by(method)
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


# --- calls that survive their process: written down before the first attempt, and as they go on

ANSWERED: Final = "answered"
WAITING: Final = "waiting"


class CallStore(Protocol):
    """What `in_store` takes. The methods return when what they were given is durable.

    A store may have two more methods, as `operations.Store` has: `note_call(path, phase, answer)`
    keeps that a call is `"answered"` or `"waiting"`, and with what answer; `get_call(path)` gives
    `phase`, `answer`, `done` and `age` back. Without them, a resumed call is made again under its
    token, and the age of the token is told by the wall clock.
    """

    def save_call(self, record: Mapping[str, Any], /) -> str:
        """Keep a call, as JSON, and return its path."""
        ...

    def finish_call(self, path: str, result: Mapping[str, Any], /) -> None:
        """Keep how a call ended, as JSON; it need not be resumed."""
        ...


def restored_response(answer: Mapping[str, Any]) -> Any:
    """Return the response of an answer that was kept."""
    headers = {"date": answer.get("date")}
    metadata = {"RetryAttempts": 0, "HTTPHeaders": headers}
    return {**from_json(answer["response"]), "ResponseMetadata": metadata}


def target_of(client: Any) -> dict[str, Any]:
    """Return where the calls of a client go: service, region, endpoint, account if it is known."""
    return {
        "service": client.meta.service_model.service_name,
        "region": client.meta.region_name,
        "endpoint": client.meta.endpoint_url,
        "account": account_of(client),
    }


def check_target(client: Any, record: Mapping[str, Any]) -> None:
    """Raise a ValueError if a call belongs to another target than the client's."""
    for name, found in target_of(client).items():
        wanted = record["target"][name]
        # Credentials tell their account only since botocore 1.35, and not all of them.
        if wanted != found and None not in (wanted, found):
            raise ValueError(
                f"the client is for the {name} {found}, but the call was made for {wanted}: "
                "resume it with a client like its own"
            )

"""Idempotency tokens: the member of an operation's input that holds one, and what it may be."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import OperationModel, Shape

from ..definitions.changes import TOKEN, TOKEN_LIFETIME
from ..definitions.shipped import shipped_traits
from .parameters import copied
from .shapes import members_of, shape_id_of, value_at


@dataclass(frozen=True, slots=True)
class TokenMember:
    """The member of an input that holds its idempotency token."""

    path: tuple[str, ...]
    """The members that lead to it."""
    shape: Shape
    lifetime: int | None = None
    """Seconds for which the service knows a token, where its documentation says so."""

    @property
    def name(self) -> str:
        """The member, as messages name it: `DistributionConfig.CallerReference`."""
        return ".".join(self.path)

    @property
    def is_sensitive(self) -> bool:
        """Whether its value must not be shown."""
        return bool(self.shape.metadata.get("sensitive"))

    def value_in(self, parameters: Mapping[str, Any]) -> Any:
        """Return the caller's token; None if there is none."""
        return value_at(parameters, self.name)

    def put_into(self, parameters: Mapping[str, Any], token: str) -> dict[str, Any]:
        """Return a copy of the parameters with this token."""
        changed = copied(parameters)
        *outer, last = self.path
        place = changed
        for member in outer:
            place = place.setdefault(member, {})
        place[last] = token
        return changed

    def problem_of(self, token: Any) -> str | None:
        """Return why a token is not one for this member; None if it is one."""
        limits = self.shape.metadata
        if not isinstance(token, str):
            return f"must be a string, not {type(token).__name__}"
        least, most = limits.get("min", 1), limits.get("max")
        if len(token) < max(1, least) or (most is not None and len(token) > most):
            bounds = f"at least {max(1, least)}" if most is None else f"{max(1, least)} to {most}"
            return f"must have {bounds} characters, not {len(token)}"
        pattern = limits.get("pattern")
        if pattern is not None and not _matches(pattern, token):
            return f"must match {pattern}"
        return None

    def fitted(self, token: uuid.UUID) -> str:
        """Return a UUID in the first form that this member takes.

        Raises:
            ValueError: it takes none of them.
        """
        for text in (str(token), token.hex, token.hex[: self.shape.metadata.get("max")]):
            if self.problem_of(text) is None:
                return text
        raise ValueError(f"{self.name} takes no UUID in any form; pass a token of your own")


def token_member(operation: OperationModel) -> TokenMember | None:
    """Return the member that holds an operation's token; None if it has none.

    It is the one that the model marks, or one that `data/idempotency.json` lists.
    """
    shape: Shape | None = operation.input_shape
    shape_id = shape_id_of(operation)
    listed = shipped_traits(TOKEN).get(shape_id, {}).get("path", ())
    path = tuple(operation.idempotent_members[:1] or listed)
    for member in path:
        shape = members_of(shape).get(member)
    # An older botocore may lack a member that is listed.
    if not path or shape is None:
        return None
    lifetime = shipped_traits(TOKEN_LIFETIME).get(shape_id, {}).get("seconds")
    return TokenMember(path, shape, lifetime)


def new_token(member: TokenMember) -> str:
    """Return a random token that the member takes."""
    return member.fitted(uuid.uuid4())


def with_marked_tokens(
    operation: OperationModel, parameters: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the parameters of a polled operation with one token for all polls.

    botocore would put a new token into every poll and make each another request.
    """
    missing = [name for name in operation.idempotent_members if not parameters.get(name)]
    return {**parameters, **{name: str(uuid.uuid4()) for name in missing}}


def _matches(pattern: str, token: str) -> bool:
    """Whether the whole of a token matches; True for a pattern that Python does not know."""
    try:
        return re.fullmatch(pattern, token) is not None
    except re.error:
        return True

"""The parameters of an operation: copied, checked, as JSON, and with a token."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from botocore.exceptions import ParamValidationError
from botocore.model import OperationModel, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from ..definitions.changes import TOKEN, TOKEN_LIFETIME
from ..definitions.shipped import shipped_traits
from ..engine.redaction import is_signed_url
from .shapes import (
    element_of,
    has_sensitive_names,
    inner_shape,
    is_sensitive,
    members_of,
    shape_id_of,
    value_at,
)

_UNKNOWN: Final = r'Unknown parameter in [^"]*: "(.+?)", must be one of: '
_MISSING: Final = r'Missing required parameter in .*: "(\w+)"\Z'
_INVALID: Final = r"Invalid (\w+) for (?:document )?parameter (\w+)"
"""The lines of botocore's report. What follows a name may quote values."""

SMALLEST_PAGE: Final = 10
"""No service is known whose pages have fewer items unless that is asked for."""


def copied(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that stay as they are whatever the caller does to lists and dicts."""
    return {name: _copied(value) for name, value in parameters.items()}


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return copied(value)
    if isinstance(value, (list, tuple)):
        return [_copied(item) for item in value]
    if isinstance(value, bytearray):
        return bytes(value)
    # Anything else is sent as it is: a file, a stream.
    return set(value) if isinstance(value, set) else value


def refuse_wrong_parameters(
    client: Any, operation: OperationModel, parameters: Mapping[str, Any]
) -> None:
    """Raise the ParamValidationError that a call of the client would raise, without a call."""
    meta = client.meta
    if operation.input_shape is None or not meta.config.parameter_validation:
        return
    params = copied(parameters)
    # Some handlers complete or convert parameters before botocore checks them.
    service = meta.service_model.service_id.hyphenize()
    event = f"before-parameter-build.{service}.{operation.name}"
    context = {"client_region": meta.region_name, "client_config": meta.config}
    # They may fail on what is of the wrong type, before botocore can say so.
    with contextlib.suppress(TypeError, AttributeError):
        meta.events.emit(event, params=params, model=operation, context=context)
    report = ParamValidator().validate(params, operation.input_shape)
    if report.has_errors():
        raise ParamValidationError(report=report.generate_report())


def wrong_parameters(error: ParamValidationError) -> str:
    """Return the parameters that botocore refused, without their values; empty if not known.

    Those that do not exist come first, in the order in which they were given.
    """
    lines = str(error.kwargs.get("report", "")).splitlines()
    unknown = [f"{found[1]} is unknown" for line in lines if (found := re.match(_UNKNOWN, line))]
    missing = [f"{found[1]} is missing" for line in lines if (found := re.match(_MISSING, line))]
    found_invalid = filter(None, (re.match(_INVALID, line) for line in lines))
    invalid = [f"the {found[1]} of {found[2]} is wrong" for found in found_invalid]
    return ", ".join([*unknown, *missing, *invalid])


def empty_id_list(operation: OperationModel, parameters: Mapping[str, Any]) -> str | None:
    """Return a message about a list of identifiers that is empty; None if there is none.

    Most services answer an empty list with all resources there are.
    """
    for name, value in parameters.items():
        if not isinstance(value, (list, tuple)) or value:
            continue
        item = element_of(members_of(operation.input_shape).get(name))
        # A choice of what to include may well be empty.
        if isinstance(item, StringShape) and not item.enum:
            return (
                f"{name} is empty; {operation.name} would match every resource. "
                "Pass at least one value."
            )
    return None


def refuse_empty_id_list(operation: OperationModel, parameters: Mapping[str, Any]) -> None:
    """Refuse a list of identifiers that is empty.

    Raises:
        ValueError: the message names the parameter.
    """
    message = empty_id_list(operation, parameters)
    if message is not None:
        raise ValueError(message)


# --- parameters as JSON --------------------------------------------------------------------------


def as_json(shape: Shape | None, value: Any, name: str = "") -> Any:
    """Return parameters as JSON, which `from_json` reads.

    Raises:
        ValueError: a parameter is sensitive in the model.
        TypeError: a parameter cannot be stored, such as a file.
    """
    if is_sensitive(shape) or has_sensitive_names(shape):
        raise ValueError(f"{name} is sensitive in the model: it cannot be stored")
    match value:
        case Mapping():
            place = f"{name}." if name else ""
            return {
                _escaped(key): as_json(inner_shape(shape, key), each, place + key)
                for key, each in value.items()
            }
        case list() | tuple():
            return [as_json(inner_shape(shape), each, name) for each in value]
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case dt.datetime():
            return {"$time": value.isoformat()}
        case None | str() | int() | float():
            return value
    raise TypeError(f"{name} cannot be stored: it is {type(value).__name__}")


def from_json(value: Any) -> Any:
    """Return the parameters that were stored as this JSON."""
    match value:
        case {"$bytes": text, **others} if not others:
            return base64.b64decode(text)
        case {"$time": text, **others} if not others:
            return dt.datetime.fromisoformat(text)
        case Mapping():
            return {
                name[1:] if name.startswith("$$") else name: from_json(each)
                for name, each in value.items()
            }
        case list():
            return [from_json(each) for each in value]
    return value


def _escaped(name: str) -> str:
    # The caller's own `$bytes` is not our mark.
    return f"${name}" if name.startswith("$") else name


def without_sensitive(shape: Shape | None, value: Any, *, is_answer: bool = True) -> Any:
    """Return a response, or parameters, without sensitive members, streams and presigned URLs."""
    without = partial(without_sensitive, is_answer=is_answer)
    if is_sensitive(shape) or has_sensitive_names(shape):
        return {} if isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        return {
            key: without(inner, item)
            for key, item in value.items()
            if (not isinstance(shape, StructureShape) or key in shape.members)
            and not is_sensitive(inner := inner_shape(shape, key), shape, key, is_answer=is_answer)
        }
    if isinstance(value, (list, tuple)):
        inner = inner_shape(shape)
        return [] if is_sensitive(inner) else [without(inner, item) for item in value]
    # A stream cannot be stored.
    is_left_out = hasattr(value, "read") or (isinstance(value, str) and is_signed_url(value))
    return None if is_left_out else value


# --- tokens that make a call safe to repeat ------------------------------------------------------


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

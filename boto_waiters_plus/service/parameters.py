"""The parameters of an operation: copied, checked, and as JSON."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from botocore.exceptions import ParamValidationError
from botocore.model import OperationModel, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from ..engine.redaction import is_signed_url
from .shapes import element_of, has_sensitive_names, inner_shape, is_sensitive, members_of

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

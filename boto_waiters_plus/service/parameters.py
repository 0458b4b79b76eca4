"""The parameters of a wait: copied once, and checked for what no caller intends."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, Final

from botocore.exceptions import ParamValidationError
from botocore.model import OperationModel, StringShape
from botocore.validate import ParamValidator

from .shapes import element_of, members_of

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

"""The limits of a worker's calls per second, by service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.session import get_session

from ..arguments import seconds, unknown


def call_rates(value: Any) -> dict[str, float]:
    """Return the checked argument `calls_per_second`.

    Raises:
        TypeError: not a mapping of numbers, by the name of a service.
        ValueError: botocore has no such service, or a number is not above 0.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(
            "calls_per_second must be a mapping such as {'ec2': 20}, not " + type(value).__name__
        )
    known = get_session().get_available_services() if value else []
    for service in value:
        if service not in known:
            raise ValueError(f"calls_per_second: {unknown(service, known, 'service')}")
    return {
        name: float(seconds(f"calls_per_second[{name!r}]", rate)) for name, rate in value.items()
    }

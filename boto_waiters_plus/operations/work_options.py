"""How a worker drives the waits of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.session import get_session

from ..arguments import callback, count, seconds, unknown
from .stored_wait import MakeClient


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions:
    """The checked arguments of `Store.work` and `fleet.run` that say how to work; see there."""

    lease: float
    batch_size: int
    max_open: int
    threads: int
    calls_per_second: Mapping[str, float]
    make_client: MakeClient

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> WorkOptions:
        """Return the options among these arguments.

        Raises:
            TypeError: an argument is of the wrong kind.
            ValueError: botocore has no such service, or a number is too small.
        """
        return cls(
            lease=seconds("lease", given["lease"]),
            **{name: count(name, given[name]) for name in ("batch_size", "max_open", "threads")},
            calls_per_second=_call_rates(given["calls_per_second"]),
            make_client=callback("make_client", given["make_client"]),
        )


def _call_rates(value: Any) -> dict[str, float]:
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

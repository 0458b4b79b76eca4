"""How a worker drives the waits of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.session import get_session

from ..common.arguments import callback, count, seconds, unknown
from .stored_wait import MakeClient


@dataclass(slots=True, kw_only=True)
class WorkOptions:
    """The arguments of `Store.work` and `fleet.run` that say how to work; see there.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: botocore has no such service, or a number is too small.
    """

    lease: Any
    batch_size: int
    max_open: int
    threads: int
    calls_per_second: Any
    make_client: MakeClient

    def __post_init__(self) -> None:
        self.lease = seconds("lease", self.lease)
        for name in ("batch_size", "max_open", "threads"):
            setattr(self, name, count(name, getattr(self, name)))
        self.calls_per_second = _call_rates(self.calls_per_second)
        callback("make_client", self.make_client)


def _call_rates(value: Any) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise TypeError(f"calls_per_second must be a mapping such as {{'ec2': 20}}, not {kind}")
    known = get_session().get_available_services() if value else []
    for service in value:
        if service not in known:
            raise ValueError(f"calls_per_second: {unknown(service, known, 'service')}")
    names = {name: f"calls_per_second[{name!r}]" for name in value}
    return {name: float(seconds(names[name], rate)) for name, rate in value.items()}

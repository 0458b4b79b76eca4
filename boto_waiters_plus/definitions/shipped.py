"""The definitions that come with the package (`data/`)."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.model import WaiterDefinition
from .files import parse_text
from .smithy import UnreadWaiter, unread_waiters

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable


COALESCING_FILE = "coalescing.json"

NOT_OF_A_SERVICE = (COALESCING_FILE, "reasons.json", "traits.json")
"""Files of `data/` that hold something else than the waiters of a service."""


@functools.cache
def data_root() -> Traversable:
    """Where `data/` is: inside the installed package, or beside it in a checkout."""
    installed = resources.files("boto_waiters_plus") / "data"
    if installed.is_dir():
        return installed
    return Path(__file__).resolve().parents[2] / "data"


@functools.cache
def shipped_definitions(service_id: str) -> tuple[WaiterDefinition, ...]:
    """The shipped waiters of a service, by its hyphenised service id; empty if there are none."""
    text = _text(service_id)
    return () if text is None else tuple(parse_text(text, source=f"data/{service_id}.json"))


@functools.cache
def unread_shipped(service_id: str) -> tuple[UnreadWaiter, ...]:
    """The same, by name only: parsing the hundred of EC2 takes longer than reading them."""
    text = _text(service_id)
    if text is None:
        return ()
    return tuple(unread_waiters(json.loads(text), source=f"data/{service_id}.json"))


def _text(service_id: str) -> bytes | None:
    file = data_root() / f"{service_id}.json"
    if file.name in NOT_OF_A_SERVICE or not file.is_file():
        return None
    return file.read_bytes()


def shipped_services() -> Iterator[str]:
    """The hyphenised ids of the services that definitions are shipped for."""
    for file in sorted(data_root().iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".json") and file.name not in NOT_OF_A_SERVICE:
            yield file.name.removesuffix(".json")

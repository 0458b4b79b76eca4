"""The definitions that come with the package (`data/`)."""

from __future__ import annotations

import functools
import io
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..common.errors import logger
from ..engine.model import GENERATED, WaiterDefinition
from .smithy import AWS_NAMESPACE, REPORTS, WAITABLE, UnreadWaiter, parse_waiter

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable


ARCHIVE = "data.zip"
"""`data/` in the wheel: three hundred files of their own would take five times the room."""

FILE_OF: Final = {
    "boto.waiters#coalescing": "coalescing.json",
    "boto.waiters#effect": "effects.json",
    "boto.waiters#refusedItems": "effects.json",
    "boto.waiters#evidence": "evidence.json",
    "boto.waiters#explains": "explains.json",
    "boto.waiters#alreadyExists": "idempotency.json",
    "boto.waiters#describedBy": "idempotency.json",
    "boto.waiters#inProgress": "idempotency.json",
    "boto.waiters#noChange": "idempotency.json",
    "boto.waiters#token": "idempotency.json",
    "boto.waiters#tokenLifetime": "idempotency.json",
    "boto.waiters#propagating": "propagating.json",
    "boto.waiters#reason": "reasons.json",
    REPORTS: "reports.json",
    "boto.waiters#screen": "screens.json",
}
"""The file of `data/` that has a trait of shapes, which `data/traits.json` defines."""

OTHER_FILES: Final = frozenset({
    *FILE_OF.values(),
    "no-effect.json", "no-waiter.json", "pollable.json", "sensitive.json", "states.json",
    "traits.json", "unread.json",
})  # fmt: skip
"""The files of `data/` that do not hold the waiters of a service."""

_SOURCE: Final = "data/"

WRITTEN_FOR = "1.44.8"
"""The version of botocore whose models the definitions were checked against."""


@functools.cache
def data_root() -> Traversable:
    """Return the folder `data/`: beside the package in a checkout, else inside its `data.zip`."""
    archive = resources.files("boto_waiters_plus") / ARCHIVE
    if archive.is_file():
        # In memory: a process and its forks would share the place in an open file.
        return zipfile.Path(io.BytesIO(archive.read_bytes()))
    folder = Path(__file__).parents[2] / "data"
    if not folder.is_dir():
        # The archive was left out when the program was packed.
        logger.warning("no definitions are at %s: only botocore's waiters exist", archive)
    return folder


@functools.cache
def shipped_json(name: str) -> Any:
    """Return the content of a file of `data/`, which is read once; empty if there is none."""
    try:
        text = (data_root() / name).read_bytes()
    except (OSError, KeyError):  # a zip file raises KeyError
        return {}
    return json.loads(text)


@functools.cache
def shipped_traits(trait: str) -> Mapping[str, Any]:
    """Return a trait of `FILE_OF` by the ids of the shapes that have it."""
    # Without the files there are botocore's waiters, which need none of them.
    shapes = shipped_json(FILE_OF[trait]).get("shapes", {})
    applied = ((shape_id, shape["traits"]) for shape_id, shape in shapes.items())
    return {shape_id: traits[trait] for shape_id, traits in applied if trait in traits}


@functools.cache
def shipped_states(service_id: str) -> Mapping[str, frozenset[str]]:
    """Return the states of a service that were known when the definitions were written.

    Args:
        service_id: the hyphenised service id.

    Returns:
        By the enumerations of botocore's model that shipped waiters read.
    """
    enums = shipped_json("states.json").get(service_id, {})
    return {name: frozenset(values.split(", ")) for name, values in enums.items()}


@functools.cache
def shipped_definitions(service_id: str) -> tuple[WaiterDefinition, ...]:
    """Return the shipped waiters of a service; none if nothing is shipped for it.

    Args:
        service_id: the hyphenised service id.
    """
    return tuple(waiter.read() for waiter in unread_shipped(service_id).values())


@functools.cache
def unread_shipped(service_id: str) -> Mapping[str, UnreadWaiter]:
    """Return the shipped waiters of a service by name, unparsed; see `shipped_definitions`."""
    file = f"{service_id}.json"
    if file in OTHER_FILES:
        return {}
    waiters, source = {}, _SOURCE + file
    for shape_id, shape in shipped_json(file).get("shapes", {}).items():
        namespace, _, operation = shape_id.partition("#")
        service = namespace.removeprefix(AWS_NAMESPACE)
        # Most of EC2's waiters are never asked for; parsing them all takes 20 ms.
        for name, body in shape["traits"][WAITABLE].items():
            waiters[name] = UnreadWaiter(name, operation, service, source, body, _parse)
    return waiters


def is_from_data(definition: WaiterDefinition) -> bool:
    """Return whether a definition was read from `data/`; a changed copy of one was, too."""
    service_id, _, kind = definition.source.removeprefix(_SOURCE).partition(".")
    found = definition.source.startswith(_SOURCE) and kind == "json"
    return found and definition.name in unread_shipped(service_id)


def _parse(name: str, body: Any, **place: Any) -> WaiterDefinition:
    definition = parse_waiter(name, body, **place)
    if GENERATED not in definition.tags:
        return definition
    # The converter keeps botocore's delay as the longest.
    return replace(definition, botocore_delay=definition.max_delay)


def shipped_services() -> Iterator[str]:
    """Yield the hyphenised ids of the services with shipped definitions."""
    for file in sorted(data_root().iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".json") and file.name not in OTHER_FILES:
            yield file.name.removesuffix(".json")


# --- operations that may be polled by a definition from outside: `data/pollable.json` ------------
# A person read each; `tools/pollable.py` lists the operations of a newer botocore that nobody has
# read yet.


class PollableList(NamedTuple):
    """What a person decided, by the hyphenised id of a service."""

    allowed: Mapping[str, str]
    """Operations by their verbs: `Get Key User, List Keys`."""
    refused: Mapping[str, Mapping[str, str]]
    """Operations that botocore or their names call reads, and why they are not polled."""
    private: Mapping[str, Mapping[str, str]]
    """Operations that only read, and what they answer that is for their caller alone."""

    def allows(self, service_id: str, operation: str) -> bool:
        """Return whether an operation may be polled from outside."""
        return operation in from_groups(self.allowed.get(service_id, ""))

    def reason(self, service_id: str, operation: str) -> str | None:
        """Return why an operation is never polled; None if nothing is known against it."""
        return self.refused.get(service_id, {}).get(operation)


@functools.cache
def pollable_list() -> PollableList:
    """Return what `data/pollable.json` says; without the file nothing is allowed."""
    body = shipped_json("pollable.json")
    return PollableList(*(body.get(group, {}) for group in PollableList._fields))


def from_groups(text: str) -> frozenset[str]:
    """Return the names in `Get Key User, List Keys, =Other`: by their verbs, or each as it is."""
    groups = [group.split() for group in text.split(", ")] if text else []
    return frozenset(
        name if verb == "=" else verb + name for verb, *names in groups for name in names
    )

"""Whether a resource that exists is the one that a call was to make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def differences(parameters: Mapping[str, Any], description: Any) -> tuple[str, ...] | None:
    """Return the parameters in which a resource differs from what a call asked for.

    Compared are the parameters that the description has under the same name, a token included.
    What the service added is no difference.

    Args:
        parameters: of the call.
        description: the response of the operation that describes the resource.

    Returns:
        The names; None if the description has none of the parameters.
    """
    resource = max(
        _structures(description), key=lambda each: len(parameters.keys() & each.keys()), default={}
    )
    common = parameters.keys() & resource.keys()
    if not common:
        return None
    return tuple(sorted(name for name in common if not _is_met(parameters[name], resource[name])))


def _structures(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        value = [each for name, each in value.items() if name != "ResponseMetadata"]
    if isinstance(value, list):
        for each in value:
            yield from _structures(each)


def _is_met(wanted: Any, found: Any) -> bool:
    """Whether a value is as wanted; a structure may have more members, a list another order."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and _is_met(value, found[name]) for name, value in wanted.items()
        )
    if isinstance(wanted, (list, tuple)):
        if not isinstance(found, list) or len(wanted) != len(found):
            return False
        return all(any(_is_met(value, each) for each in found) for value in wanted)
    return bool(wanted == found)

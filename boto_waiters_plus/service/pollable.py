"""Which operations may be polled for a waiter that does not come with the package."""

from __future__ import annotations

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from ..calls.private_names import is_marked_readonly
from ..definitions.shipped import pollable_list
from ..definitions.words import CHANGES, CHANGING_METHODS, READS, verb_of
from .sensitive_members import is_sensitive


def reason_not_to_poll(operation: OperationModel, *, is_shown: bool = True) -> str | None:
    """Return why an operation may not be polled, in words.

    It may if it only reads and its output is no stream.

    Args:
        operation: the operation.
        is_shown: whether somebody else than its caller brings the definition and may see the
            output: `data/pollable.json` has to allow the operation then, and no member of the
            output may be sensitive.

    Returns:
        The reason; None: it may be polled.
    """
    name = operation.name
    known = known_against(operation)
    if known is not None:
        return known
    if not only_reads(operation):
        return f"{name} may modify resources; every attempt would call it"
    if operation.has_streaming_output or operation.has_event_stream_output:
        return f"the output of {name} is a stream"
    if not is_shown:
        return None
    sensitive = _sensitive_member(operation.output_shape)
    if sensitive is not None:
        return f"the output of {name} has a sensitive member, {sensitive}"
    if not pollable_list().allows(_service_id(operation), name):
        return f"{name} is not among the operations that may be polled from outside"
    return None


def only_reads(operation: OperationModel) -> bool:
    """Return whether an operation modifies nothing, by the model's mark or by its name.

    The name is that of an operation that reads, its HTTP method is none that modifies, and
    `data/pollable.json` knows nothing against it.
    """
    verb = verb_of(operation.name)
    if is_marked_readonly(operation):
        # Some operations that start or stop something are marked too.
        reads = verb not in CHANGES
    else:
        reads = verb in READS and operation.http.get("method") not in CHANGING_METHODS
    return reads and known_against(operation) is None


def known_against(operation: OperationModel) -> str | None:
    """Return why an operation that looks like a read is not polled; None if nothing is known."""
    reason = pollable_list().reason(_service_id(operation), operation.name)
    return None if reason is None else f"{operation.name} is not polled: {reason}"


def _service_id(operation: OperationModel) -> str:
    return str(operation.service_model.service_id.hyphenize())


def _sensitive_member(output: Shape | None) -> str | None:
    """Return the path of the first sensitive member of an output; None if it has none."""
    found: list[tuple[str, Shape | None]] = [("", output)]
    seen = set()
    # In the order of their depth: the shortest path is the easiest to understand.
    for path, shape in found:
        if shape is None or shape.name in seen:
            continue
        seen.add(shape.name)
        if is_sensitive(shape):
            return path
        match shape:
            case StructureShape():
                for name, member in shape.members.items():
                    place = f"{path}.{name}".lstrip(".")
                    if is_sensitive(member, shape, name):
                        return place
                    found.append((place, member))
            case ListShape():
                found.append((f"{path}[]", shape.member))
            case MapShape():
                found += [(path, shape.key), (f"{path}.*", shape.value)]
    return None

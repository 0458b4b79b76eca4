"""Which operations may be polled for a waiter that does not come with the package."""

from __future__ import annotations

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from ..definitions.operation_names import CHANGES, CHANGING_METHODS, READS, verb_of
from .private_names import is_marked_readonly


def reason_not_to_poll(operation: OperationModel, *, is_shown: bool = True) -> str | None:
    """Return why an operation may not be polled, in words.

    It may if it only reads and its output is no stream.

    Args:
        operation: the operation.
        is_shown: whether somebody else than its caller may see the output: no member of it may be
            sensitive in the model then.

    Returns:
        The reason; None: it may be polled.
    """
    if not only_reads(operation):
        return f"{operation.name} may modify resources; every attempt would call it"
    if operation.has_streaming_output or operation.has_event_stream_output:
        return f"the output of {operation.name} is a stream"
    sensitive = _sensitive_member(operation.output_shape) if is_shown else None
    if sensitive is not None:
        return f"the output of {operation.name} has a sensitive member, {sensitive}"
    return None


def only_reads(operation: OperationModel) -> bool:
    """Return whether an operation modifies nothing, by the model's mark or by its name.

    The name is that of an operation that reads, and its HTTP method is none that modifies.
    """
    verb = verb_of(operation.name)
    if is_marked_readonly(operation):
        # Some operations that start or stop something are marked too.
        return verb not in CHANGES
    return verb in READS and operation.http.get("method") not in CHANGING_METHODS


def _sensitive_member(output: Shape | None) -> str | None:
    """Return the path of the first sensitive member of an output; None if it has none."""
    found: list[tuple[str, Shape | None]] = [("", output)]
    seen = set()
    # In the order of their depth: the shortest path is the easiest to understand.
    for path, shape in found:
        if shape is None or shape.name in seen:
            continue
        seen.add(shape.name)
        if shape.metadata.get("sensitive"):
            return path
        match shape:
            case StructureShape():
                found += [
                    (f"{path}.{name}".lstrip("."), each) for name, each in shape.members.items()
                ]
            case ListShape():
                found.append((f"{path}[]", shape.member))
            case MapShape():
                found += [(path, shape.key), (f"{path}.*", shape.value)]
    return None

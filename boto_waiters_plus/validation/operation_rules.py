"""Whether an operation can be polled, and whether a path reads a page of a longer list.

| rule | severity | id |
|---|---|---|
| name and method do not say that the operation changes anything | DANGER | \
`WaiterOperationNotReadOnly.W` |
| name and method say that it changes nothing | NOTE | `WaiterOperationNotReadOnly.W` |
| no path reads a paginated member | NOTE | `WaiterPaginatedPath.W.i` |
"""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions.operation_names import READS, SAFE_METHODS, is_changing, verb_of
from ..engine.model import WaiterDefinition
from .documents import Target
from .events import Severity, ValidationEvent
from .paths import TracedPath, members_read
from .shapes import Operation


def check_operation(
    target: Target, operation: Operation, waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> Iterator[ValidationEvent]:
    """Check the operation of a waiter, and what its paths read; see `check_acceptors`."""
    name, method = operation.name, operation.http_method
    severity = None
    if operation.read_only:
        pass
    elif is_changing(name, method):
        severity, doubt = Severity.DANGER, "which may modify resources"
    elif verb_of(name) not in READS and method not in (*SAFE_METHODS, None):
        severity, doubt = Severity.NOTE, f"which is not known to be read-only ({method})"
    if severity is not None:
        event_id = f"WaiterOperationNotReadOnly.{waiter.name}"
        text = f"Waiter `{waiter.name}` polls {name}, {doubt}"
        yield target.event(severity, event_id, text, waiter=waiter.name)
    for page in operation.pages:
        members = members_read(page, operation.output)
        for index, path in enumerate(paths):
            if path is not None and members and members <= path.members:
                yield target.event(
                    Severity.NOTE,
                    f"WaiterPaginatedPath.{waiter.name}.{index}",
                    f"`{page}` is paginated; each attempt sees only the first page",
                    waiter=waiter.name,
                    acceptor=index,
                )

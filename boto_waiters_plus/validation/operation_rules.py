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
from .events import Finding, Severity
from .paths import TracedPath, members_read
from .shapes import Operation


def check_operation(operation: Operation, paths: list[TracedPath | None]) -> Iterator[Finding]:
    """Check the operation of a waiter, and what its paths read; see `check_acceptors`."""
    name, method = operation.name, operation.http_method
    rule, text = "WaiterOperationNotReadOnly", f"every attempt calls {name}, which"
    if operation.read_only:
        pass
    elif is_changing(name, method):
        yield Finding(Severity.DANGER, rule, f"{text} may modify resources")
    elif verb_of(name) not in READS and method not in (*SAFE_METHODS, None):
        yield Finding(Severity.NOTE, rule, f"{text} is not known to be read-only ({method})")
    for page in operation.pages:
        members = members_read(page, operation.output)
        text = f"`{page}` is paginated; each attempt sees only the first page"
        for index, path in enumerate(paths):
            if path is not None and members and members <= path.members:
                yield Finding(Severity.NOTE, "WaiterPaginatedPath", text, index)

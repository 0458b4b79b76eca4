"""Whether an operation is one to ask again and again.

| rule | severity | id |
|---|---|---|
| it changes nothing, as far as name and method tell | DANGER | `WaiterOperationNotReadOnly.W` |
| that it changes nothing can be told | NOTE | `WaiterOperationNotReadOnly.W` |
| no path reads what comes in pages: a look sees the first only | NOTE | `WaiterPaginatedPath.W.i` |
"""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions.operation_names import READS, SAFE_METHODS, is_changing, verb_of
from ..engine.model import WaiterDefinition
from .events import Severity, Target, ValidationEvent
from .expressions import ExpressionSyntaxError, parse
from .paths import TracedPath
from .shapes import Operation
from .tracing import trace


def check_operation(
    target: Target, operation: Operation, waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> Iterator[ValidationEvent]:
    """Check the operation of a waiter, and what its paths read of it.

    Args:
        target: what events are about.
        operation: the operation.
        waiter: the waiter.
        paths: its acceptors' paths; None for an acceptor that has none, or none that parses.
    """
    found = _doubt(operation)
    if found is not None:
        severity, message = found
        event_id = f"WaiterOperationNotReadOnly.{waiter.name}"
        text = f"Waiter `{waiter.name}`: {message}"
        yield target.event(severity, event_id, text, waiter=waiter.name)
    for index, path in enumerate(paths):
        for page in () if path is None else _paginated(operation, path):
            yield target.of_acceptor(
                Severity.NOTE,
                f"WaiterPaginatedPath.{waiter.name}.{index}",
                f"`{page}` comes in pages, of which each look sees the first only",
                waiter=waiter.name,
                acceptor=index,
            )


def _doubt(operation: Operation) -> tuple[Severity, str] | None:
    if operation.read_only:
        return None
    method = operation.http_method
    if is_changing(operation.name, method):
        return Severity.DANGER, f"every look calls {operation.name}, which does not only read"
    if verb_of(operation.name) in READS or method in SAFE_METHODS or method is None:
        return None
    return Severity.NOTE, f"nothing tells that {operation.name} ({method}) only reads"


def _paginated(operation: Operation, path: TracedPath) -> Iterator[str]:
    for page in operation.pages:
        try:
            _, met = trace(parse(page).root, operation.output)
        except ExpressionSyntaxError:  # a model's own business
            continue
        if met.members and met.members <= path.members:
            yield page

"""The names of waiters are unique in the closure of a service (section "Waiter names").

The loader and the checker share this rule. Names differ by more than case. One name may be defined
several times, on one operation. Between places the nearer one wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..engine.model import WaiterDefinition
from .parsing import Place, as_mapping

UNIQUE_NAMES = "UniqueWaiterNames"
"""The id of the rule in Smithy's validator."""

_RESOURCE_OPERATIONS = ("create", "put", "read", "update", "delete", "list")


def conflicts(
    waiters: Iterable[WaiterDefinition],
) -> Iterator[tuple[WaiterDefinition, WaiterDefinition]]:
    """Yield the waiters of one service whose name is taken, each after the one that took it."""
    taken: dict[str, WaiterDefinition] = {}
    for waiter in waiters:
        first = taken.setdefault(waiter.name.lower(), waiter)
        if (first.name, first.operation) != (waiter.name, waiter.operation):
            yield first, waiter


def refuse_conflicts(definitions: Iterable[WaiterDefinition]) -> None:
    """Refuse waiters of one service whose names conflict."""
    for first, other in conflicts(definitions):
        where = "" if first.source == other.source else f" in {first.source}"
        problem = f"name already taken by {first.name} of {first.operation}{where} "
        problem += "(names must differ by more than case)"
        raise Place(other.source, other.name).error(problem, UNIQUE_NAMES)


def closures(shapes: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the operations of each service of a Smithy model, those of its resources included."""
    # A broken model, whose ids need not be strings, is refused elsewhere.
    named = (name for name, shape in shapes.items() if as_mapping(shape).get("type") == "service")
    names = sorted(name for name in named if isinstance(name, str))
    return {name: _operations_of(name, shapes) for name in names}


def services_by_operation(shapes: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the services in whose closures each operation is."""
    services: dict[str, list[str]] = {}
    for service, operations in closures(shapes).items():
        for operation in operations:
            services.setdefault(operation, []).append(service)
    return services


def _operations_of(service: str, shapes: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    visited: set[str] = set()
    waiting = [service]
    while waiting:
        shape_id = waiting.pop()
        if shape_id not in visited:
            visited.add(shape_id)
            shape = as_mapping(shapes.get(shape_id))
            found.update(targets_of([shape.get(member) for member in _RESOURCE_OPERATIONS]))
            for member in ("operations", "collectionOperations"):
                found.update(targets_of(shape.get(member)))
            waiting += targets_of(shape.get("resources"))
    return found


def targets_of(references: Any) -> list[str]:
    """Return the shape ids of a list of references; those that are malformed are left out."""
    if not isinstance(references, list):
        return []
    targets = [as_mapping(reference).get("target") for reference in references]
    return [target for target in targets if isinstance(target, str)]

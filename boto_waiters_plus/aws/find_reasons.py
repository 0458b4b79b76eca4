"""Writes `data/reasons.json`: where the services put their own words for a failure.

    python -m boto_waiters_plus.aws.find_reasons data

botocore's waiters say which state is a failure, not where its reason stands. The models have it
next to the state: `StackStatusReason` beside `StackStatus`, `StateReason.Message` beside
`State.Name`. For every state that a failure acceptor without a `message` compares, the table has
the expression that gives the reason: Smithy's JSON AST, the trait `boto.waiters#reasons` on the
operation, with the path of the state as key. In a list the expression picks the item that failed;
`{expected}` in it stands for the value that the acceptor compares with.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import botocore.session
from botocore.model import ServiceModel

from ..definitions.files import load_definitions
from ..engine.model import AcceptorState, OutputMatcher, WaiterDefinition
from .reasons import REASONS, TRAIT, namespace_of, reason_beside


def main(arguments: list[str] | None = None) -> None:
    """Rewrite the table; it is written only if its content changes."""
    parser = argparse.ArgumentParser(description=__doc__, prog="find_reasons")
    parser.add_argument("folder", type=Path, help="the data folder")
    folder: Path = parser.parse_args(arguments).folder
    table = document(folder)
    text = json.dumps(table, indent=2, ensure_ascii=False) + "\n"
    path = folder / REASONS
    changed = not path.is_file() or path.read_text(encoding="utf-8") != text
    if changed:
        path.write_text(text, encoding="utf-8")
    found = sum(len(shape["traits"][TRAIT]) for shape in table["shapes"].values())
    print(f"{found} reasons, file {'written' if changed else 'as it was'}")  # noqa: T201 - a command


def document(folder: Path) -> dict[str, Any]:
    """The table for the definitions of a data folder, from the installed botocore's models."""
    shapes: dict[str, dict[str, Any]] = {}
    for service in _services():
        file = folder / f"{service.service_id.hyphenize()}.json"
        if file.is_file():
            shapes.update(reasons_of(service, load_definitions(file)))
    return {"smithy": "2.0", "shapes": dict(sorted(shapes.items()))}


def reasons_of(
    service: ServiceModel, definitions: Iterable[WaiterDefinition]
) -> dict[str, dict[str, Any]]:
    """The `apply` statements for the definitions of one service.

    Args:
        service: the service.
        definitions: its waiters; those of operations it does not have are passed over.
    """
    found: dict[str, dict[str, str]] = {}
    for definition in definitions:
        if definition.operation not in service.operation_names:
            continue
        output = service.operation_model(definition.operation).output_shape
        for path in _unexplained(definition):
            expression = reason_beside(output, path)
            if expression is not None:
                found.setdefault(definition.operation, {})[path] = expression
    namespace = namespace_of(service)
    return {
        f"{namespace}#{operation}": {
            "type": "apply",
            "traits": {TRAIT: dict(sorted(paths.items()))},
        }
        for operation, paths in sorted(found.items())
    }


def _services() -> Iterator[ServiceModel]:
    loader = botocore.session.Session().get_component("data_loader")
    for name in loader.list_available_services("service-2"):
        yield ServiceModel(loader.load_service_model(name, "service-2"), service_name=name)


def _unexplained(definition: WaiterDefinition) -> Iterator[str]:
    """The paths of the failure acceptors that do not say where the reason is."""
    for acceptor in definition.acceptors:
        unexplained = acceptor.state is AcceptorState.FAILURE and acceptor.message is None
        if unexplained and isinstance(acceptor.matcher, OutputMatcher):
            yield acceptor.matcher.matcher.path


if __name__ == "__main__":
    main()

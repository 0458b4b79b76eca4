"""Write the generated part of `data/` from the installed botocore, and give all files one form.

    python tools/generate_data.py data

Waiters without the tag `generated` are written by hand and stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
from botocore.exceptions import DataNotFoundError
from botocore.model import ServiceModel

from boto_waiters_plus.aws.service_waiters import generated_definitions
from boto_waiters_plus.definitions.shipped import OTHER_FILES
from boto_waiters_plus.definitions.smithy import AWS_NAMESPACE, WAITABLE
from boto_waiters_plus.engine.model import Acceptor, ErrorTypeMatcher, WaiterDefinition

GENERATED = "generated"

ALSO_ACCEPTED = {
    ("SageMaker", "ImageDeleted"): ("ResourceNotFound", "ResourceNotFoundException"),
    ("SageMaker", "ImageVersionDeleted"): ("ResourceNotFound", "ResourceNotFoundException"),
}
"""Errors whose name in botocore's model is not that of AWS's Smithy model: either ends the wait."""


def main(arguments: list[str] | None = None) -> None:
    """Rewrite every file whose content changes."""
    parser = argparse.ArgumentParser(description=__doc__, prog="generate_data")
    parser.add_argument("folder", type=Path, help="the data folder")
    folder: Path = parser.parse_args(arguments).folder
    written = waiters = 0
    content = {path.stem: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
    content = {name: content[name] for name in content if f"{name}.json" not in OTHER_FILES}
    for service_id, document in {**content, **dict(documents(folder))}.items():
        path = folder / f"{service_id}.json"
        text = file_text(document)
        waiters += sum(len(shape["traits"][WAITABLE]) for shape in document["shapes"].values())
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written += 1
    print(f"{waiters} waiters, {written} files changed")


def file_text(document: dict[str, Any]) -> str:
    """Return the text of a file of `data/`: indented by two blanks, an acceptor or list a line."""
    text = json.dumps(document, indent=2, ensure_ascii=False)

    def in_one_line(found: re.Match[str]) -> str:
        return found[1] + json.dumps(json.loads(found[2]), ensure_ascii=False)

    text = re.sub(r"(?ms)^( {14})(\{\n.*?^ {14}\})", in_one_line, text)
    return re.sub(r'(?ms)^( {12}"tags": )(\[\n.*?^ {12}\])', in_one_line, text) + "\n"


def documents(folder: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the id of each service that botocore has waiters for, and the content of its file."""
    loader = botocore.session.Session().get_component("data_loader")
    for name in loader.list_available_services("waiters-2"):
        service = ServiceModel(loader.load_service_model(name, "service-2"), service_name=name)
        try:
            document = loader.load_service_model(name, "waiters-2", service.api_version)
        except DataNotFoundError:
            continue
        definitions = generated_definitions(service, document)
        if definitions:
            service_id = str(service.service_id.hyphenize())
            path = folder / f"{service_id}.json"
            yield service_id, _merged(service, definitions, path)


def _merged(
    service: ServiceModel, definitions: Iterable[WaiterDefinition], path: Path
) -> dict[str, Any]:
    namespace = AWS_NAMESPACE + "".join(c for c in str(service.service_id).lower() if c.isalnum())
    by_operation = _kept(path)
    for definition in definitions:
        waiters = by_operation.setdefault(f"{namespace}#{definition.operation}", {})
        tagged = replace(_with_both_names(service, definition), tags=(GENERATED,))
        waiters[tagged.name] = tagged.to_json()
    shapes = {
        shape_id: {"type": "apply", "traits": {WAITABLE: dict(sorted(waiters.items()))}}
        for shape_id, waiters in sorted(by_operation.items())
    }
    return {"smithy": "2.0", "shapes": shapes}


def _with_both_names(service: ServiceModel, definition: WaiterDefinition) -> WaiterDefinition:
    known, other = ALSO_ACCEPTED.get((str(service.service_id), definition.name), (None, None))
    acceptors: list[Acceptor] = []
    for acceptor in definition.acceptors:
        acceptors.append(acceptor)
        if other is not None and acceptor.matcher == ErrorTypeMatcher(str(known)):
            acceptors.append(replace(acceptor, matcher=ErrorTypeMatcher(other)))
    return replace(definition, acceptors=tuple(acceptors))


def _kept(path: Path) -> dict[str, dict[str, Any]]:
    """Return the waiters of a file that were not generated."""
    if not path.is_file():
        return {}
    shapes = json.loads(path.read_text(encoding="utf-8"))["shapes"]
    kept = {
        shape_id: {
            name: waiter
            for name, waiter in shape["traits"][WAITABLE].items()
            if GENERATED not in waiter.get("tags", [])
        }
        for shape_id, shape in shapes.items()
    }
    return {shape_id: waiters for shape_id, waiters in kept.items() if waiters}


if __name__ == "__main__":
    main()

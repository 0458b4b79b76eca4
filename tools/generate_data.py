"""Write the generated part of `data/` from the installed botocore, and give all files one form.

    python tools/generate_data.py data

Waiters without the tag `generated` are written by hand and stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import botocore.session
from botocore.exceptions import DataNotFoundError
from botocore.model import ServiceModel

from boto_waiters_plus.check.model import enum_of, service_by_any_name
from boto_waiters_plus.check.paths import traced_path
from boto_waiters_plus.definitions.parsing import Place, read_acceptor
from boto_waiters_plus.definitions.shipped import (
    OTHER_FILES,
    shipped_definitions,
    shipped_services,
    unread_shipped,
)
from boto_waiters_plus.definitions.smithy import AWS_NAMESPACE, WAITABLE
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
)
from boto_waiters_plus.engine.model import GENERATED, WaiterDefinition
from boto_waiters_plus.service.new_states import comparisons_of, state_enums
from boto_waiters_plus.service.service_waiters import generated_definitions

CORRECTED = "corrected"
"""The tag of a generated waiter that is not botocore's to the letter."""


class Correction(NamedTuple):
    """What a generated waiter lacks, and why it matters."""

    reason: str
    failures: Sequence[str] = ()
    """Further states that are failures, besides those that the waiter compares."""
    also_gone: str | None = None
    """Another error that says that the resource is gone."""
    none_listed: str | None = None
    """The condition on which an empty list says so: a wait that gives no names would never end.
    It does not hold if names are given, since a list may lack an item that is new."""
    more: str | None = None
    """The member of the answer that says that more pages follow, where an empty list is a success.
    Such a page is a retry."""
    before: Sequence[Mapping[str, Any]] = ()
    """Acceptors before the waiter's own, where those would succeed too early, as in files."""
    after: Sequence[Mapping[str, Any]] = ()
    """Acceptors behind the waiter's own: an end that another member or a condition tells."""


CORRECTIONS_FILE = Path(__file__).resolve().parent / "corrections.json"
"""What AWS's definitions overlook, by service id and waiter. `get_waiter` keeps botocore's own
acceptors."""


def corrections() -> dict[tuple[str, str], Correction]:
    """Return what is changed in generated waiters, by service id and waiter."""
    rows = json.loads(CORRECTIONS_FILE.read_text(encoding="utf-8"))
    return {
        (service, name): Correction(**row)
        for service, waiters in rows.items()
        for name, row in waiters.items()
    }


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
    text = json.dumps(known_states(), indent=1, ensure_ascii=False) + "\n"
    if (folder / "states.json").read_text(encoding="utf-8") != text:
        (folder / "states.json").write_text(text, encoding="utf-8")
        written += 1
    print(f"{waiters} waiters, {written} files changed")


def known_states() -> dict[str, dict[str, str]]:
    """Return the content of `data/states.json`: the enumerations that shipped waiters read."""
    found: dict[str, dict[str, str]] = {}
    shipped_definitions.cache_clear()
    unread_shipped.cache_clear()
    for service_id in shipped_services():
        for definition in shipped_definitions(service_id):
            service = service_by_any_name(definition.service)
            if service is None or definition.operation not in service.operation_names:
                continue
            operation = service.operation(definition.operation)
            paths = (traced_path(each, operation) for each in definition.acceptors)
            shapes = [each.shape for path in paths if path for each in path.comparisons]
            shapes += state_enums(
                comparisons_of(definition), service.model.operation_model(definition.operation)
            )
            enums = {shape.name: ", ".join(enum_of(shape)) for shape in shapes}
            found.setdefault(service_id, {}).update(enums)
    return {service: dict(sorted(enums.items())) for service, enums in found.items() if enums}


def file_text(document: dict[str, Any]) -> str:
    """Return the text of a file of `data/`: indented by two blanks, an acceptor or list a line."""
    text = json.dumps(document, indent=2, ensure_ascii=False)

    def in_one_line(found: re.Match[str]) -> str:
        return found[1] + json.dumps(json.loads(found[2]), ensure_ascii=False)

    text = re.sub(r"(?ms)^( {14})(\{\n.*?^ {14}\})", in_one_line, text)
    text = re.sub(
        r'(?ms)^( {10}"\w+": )(\{\n {12}"(?:documented|enum|recorded)".*?^ {10}\})',
        in_one_line,
        text,
    )
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
        tagged = _corrected(service, replace(definition, tags=(GENERATED,)))
        waiters[tagged.name] = tagged.to_json()
    shapes = {
        shape_id: {"type": "apply", "traits": {WAITABLE: dict(sorted(waiters.items()))}}
        for shape_id, waiters in sorted(by_operation.items())
    }
    return {"smithy": "2.0", "shapes": shapes}


def _corrected(service: ServiceModel, definition: WaiterDefinition) -> WaiterDefinition:
    correction = corrections().get((str(service.service_id), definition.name))
    if correction is None:
        return definition
    acceptors = list(definition.acceptors)
    if correction.also_gone is not None:
        gone = Acceptor(state=AcceptorState.SUCCESS, matcher=ErrorTypeMatcher(correction.also_gone))
        known = [each for each in acceptors if isinstance(each.matcher, ErrorTypeMatcher)]
        is_first = bool(known) and known[0].state is AcceptorState.SUCCESS
        acceptors.insert(acceptors.index(known[0]) + 1 if is_first else len(acceptors), gone)
    if correction.none_listed is not None:
        matched = _matching(correction.none_listed)
        acceptors.append(Acceptor(state=AcceptorState.SUCCESS, matcher=matched))
    if correction.more is not None:
        matchers = [m for m in (each.matcher for each in acceptors) if isinstance(m, OutputMatcher)]
        [empty] = [m.matcher.path for m in matchers if m.matcher.path.startswith("length(")]
        unfinished = _matching(f"{empty} && !(!{correction.more})")
        acceptors.insert(0, Acceptor(state=AcceptorState.RETRY, matcher=unfinished))
    state = next(each for each in acceptors if isinstance(each.matcher, OutputMatcher)).matcher
    # One that failed is enough where all are compared.
    all_items = state.matcher.comparator is PathComparator.ALL_STRING_EQUALS
    comparator = PathComparator.ANY_STRING_EQUALS if all_items else state.matcher.comparator
    for value in correction.failures:
        matcher = OutputMatcher(replace(state.matcher, expected=value, comparator=comparator))
        acceptors.append(Acceptor(state=AcceptorState.FAILURE, matcher=matcher))
    acceptors = [*_read(correction.before), *acceptors, *_read(correction.after)]
    tags = (*definition.tags, CORRECTED)
    return replace(definition, acceptors=tuple(acceptors), tags=tags)


def _read(acceptors: Sequence[Mapping[str, Any]]) -> list[Acceptor]:
    """Return acceptors that are written as in a file."""
    return [read_acceptor(each, Place(str(CORRECTIONS_FILE))) for each in acceptors]


def _matching(condition: str) -> OutputMatcher | InputOutputMatcher:
    """Return what matches where a condition holds."""
    holds = PathMatcher(path=condition, expected="true", comparator=PathComparator.BOOLEAN_EQUALS)
    return InputOutputMatcher(holds) if "input." in condition else OutputMatcher(holds)


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

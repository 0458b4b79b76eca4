"""Check `data/idempotency.json` against `data/traits.json` and the service models of botocore.

    python tools/check_traits.py [FILE]

`boto-wait check` knows the traits that a user may write; those that say what a service does with
tokens and errors are written here only, so their rules are not shipped. Each problem is one line:
file, shape, trait, member, what is wrong. The exit code is 1 if there is one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from botocore.model import Shape

from boto_waiters_plus.definitions.idempotency_traits import (
    ALREADY_EXISTS,
    DESCRIBED_BY,
    IN_PROGRESS,
)
from boto_waiters_plus.validation.botocore_services import BotocoreService, service_by_namespace
from boto_waiters_plus.validation.expressions import ExpressionSyntaxError, parse
from boto_waiters_plus.validation.samples import sample
from boto_waiters_plus.validation.shapes import members_of
from boto_waiters_plus.validation.type_checker import ANY, lint

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "data/idempotency.json"
TRAITS: Final = json.loads((ROOT / "data/traits.json").read_text(encoding="utf-8"))["shapes"]
JSON_TYPES: Final = {
    "String": str,
    "Integer": int,
    "Boolean": bool,
    "list": list,
    "map": dict,
    "structure": dict,
}

Problems = Iterator[tuple[str, str]]
"""The member, and what is wrong with it."""


def main(words: list[str]) -> int:
    """Print the problems of a file; return the exit code."""
    path = Path(words[0]) if words else FILE
    found = list(problems(json.loads(path.read_text(encoding="utf-8"))))
    for problem in found:
        print(f"{path.name}: {problem}")
    return bool(found)


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of a document: shape, trait, member and text."""
    in_progress = document["metadata"][IN_PROGRESS]
    for word in in_progress["words"]:
        if word != word.lower() or not word:
            yield f"metadata {IN_PROGRESS}.words: {word!r} is no lowercase text"
    for code, value in in_progress["codes"].items():
        for member, text in _form(IN_PROGRESS, value):
            yield f"metadata {IN_PROGRESS}.codes.{code}{member}: {text}"
    for shape_id, shape in document["shapes"].items():
        for trait, value in shape["traits"].items():
            for member, text in _applied(shape_id, trait, value):
                yield f"{shape_id}: {trait}{member}: {text}"


def _applied(shape_id: str, trait: str, value: Any) -> Problems:
    if trait not in TRAITS:
        yield "", "there is no such trait"
        return
    found = list(_form(trait, value))
    yield from found
    namespace, _, name = shape_id.partition("#")
    service = service_by_namespace(namespace)
    if service is None:
        yield "", f"botocore has no service {namespace}"
    elif TRAITS[trait]["traits"]["smithy.api#trait"]["selector"] == "operation":
        if name not in service.operation_names:
            yield "", f"{service.name} has no operation {name}"
        elif trait == DESCRIBED_BY and not found:
            yield from _description(service, name, value)
    else:
        yield from _error(service, name, value, is_existence=trait == ALREADY_EXISTS)


def _form(shape_id: str, value: Any, member: str = "") -> Problems:
    """Compare a value with the shape that `data/traits.json` gives it."""
    shape = TRAITS.get(shape_id, {})
    kind = shape.get("type") or shape_id.rpartition("#")[2]
    if kind == "enum":
        names = [each["traits"]["smithy.api#enumValue"] for each in shape["members"].values()]
        if value not in names:
            yield member, f"must be one of {', '.join(names)}"
    elif type(value) is not JSON_TYPES[kind] or value == "":
        yield member, f"must be a {kind}, and not empty"
    elif kind == "structure":
        yield from _structure(shape["members"], value, member)
    elif kind in ("map", "list"):
        if not value and "smithy.api#length" in shape.get("traits", {}):
            yield member, "must not be empty"
        parts = value.items() if kind == "map" else enumerate(value)
        target = shape["value" if kind == "map" else "member"]["target"]
        for name, each in parts:
            yield from _form(target, each, f"{member}.{name}")


def _structure(members: Mapping[str, Any], value: Mapping[str, Any], member: str) -> Problems:
    for name in value.keys() - members.keys():
        yield f"{member}.{name}", "is not a member"
    for name, each in members.items():
        if name in value:
            yield from _form(each["target"], value[name], f"{member}.{name}")
        elif "smithy.api#required" in each["traits"]:
            yield f"{member}.{name}", "is missing"


def _description(service: BotocoreService, name: str, value: Mapping[str, Any]) -> Problems:
    """Check the call that tells whose a resource is."""
    if value["operation"] not in service.operation_names:
        yield ".operation", f"{service.name} has no operation {value['operation']}"
        return
    calling, described = service.operation(name), service.operation(value["operation"])
    known = members_of(described.input)
    required = getattr(described.input, "required_members", [])
    for missing in [each for each in required if each not in value["parameters"]]:
        yield f".parameters.{missing}", f"{value['operation']} needs it"
    errors = _error_members(service, calling.errors)
    document = {"input": sample(calling.input), "error": errors}
    for parameter, path in value["parameters"].items():
        if parameter not in known:
            yield f".parameters.{parameter}", f"{value['operation']} has no such parameter"
        yield from _expression(f".parameters.{parameter}", path, document)
    output = sample(described.output)
    resources = value.get("resources", "@")
    found = list(_expression(".resources", resources, output))
    yield from found
    if found:
        return
    kind = lint(parse(resources), output).return_type
    resource = f"({resources})[0]" if kind == "array" else f"({resources})"
    for member in ("token", "response"):
        if member in value:
            expression = f"{resource} | {value[member]}"
            yield from _expression(f".{member}", expression, output)


def _error_members(service: BotocoreService, errors: Any) -> dict[str, Any]:
    """Return a sample with the members of all errors of an operation."""
    names = {each.shape.partition("#")[2] for each in errors}
    shapes = [each for each in service.model.error_shapes if each.name in names]
    return {name: ANY for each in shapes for name in members_of(each)}


def _expression(member: str, text: str, document: Any) -> Problems:
    try:
        for problem in lint(parse(text), document).problems:
            yield member, f"`{text}`: {problem.message}"
    except ExpressionSyntaxError as error:
        yield member, f"`{text}`: {error}"


def _error(service: BotocoreService, name: str, value: Any, *, is_existence: bool) -> Problems:
    """Check what an error says."""
    shapes: list[Shape] = [
        each
        for each in service.model.error_shapes
        if name in (each.name, each.metadata.get("error", {}).get("code"))
    ]
    if not shapes:
        yield "", f"{service.name} has no error {name}"
    if not is_existence or not isinstance(value, dict):
        return
    members = {member for each in shapes for member in members_of(each)}
    read = [("token", value["token"])] if "token" in value else []
    read += [(f"members.{each}", each) for each in value.get("members", {})]
    for place, member in read:
        if member not in members:
            yield f".{place}", f"the error has no member {member}"
    if not value.keys() & {"token", "madeUnder"}:
        yield "", "it says nothing: madeUnder or token is missing"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

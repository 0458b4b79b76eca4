"""Check two files of `data/` against `data/traits.json` and the service models of botocore.

    python tools/check_traits.py [FILE ...]

The files are `idempotency.json` and `explains.json`. `boto-wait check` knows the traits that a user
may write; those that say what a service does with tokens and errors, and what tells the cause of a
failure, are written here only, so their rules are not shipped. Each problem is one line:
file, shape, trait, member, what is wrong. The exit code is 1 if there is one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from botocore.model import OperationModel, Shape

from boto_waiters_plus.check.botocore_services import BotocoreService, service_by_namespace
from boto_waiters_plus.check.expressions import ExpressionSyntaxError, parse
from boto_waiters_plus.check.samples import sample
from boto_waiters_plus.check.shapes import members_of
from boto_waiters_plus.check.type_checker import ANY, lint
from boto_waiters_plus.definitions.explains_trait import EXPLAINS, Explanation, with_values
from boto_waiters_plus.definitions.idempotency_traits import (
    ALREADY_EXISTS,
    DESCRIBED_BY,
    IN_PROGRESS,
)
from boto_waiters_plus.service.data_model import DataModel, member_names
from boto_waiters_plus.service.pollable import only_reads

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "data/idempotency.json"
EXPLAINS_FILE: Final = ROOT / "data/explains.json"
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
    has_problem = False
    for path in list(map(Path, words)) or [FILE, EXPLAINS_FILE]:
        for problem in problems(json.loads(path.read_text(encoding="utf-8"))):
            has_problem = True
            print(f"{path.name}: {problem}")
    return has_problem


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of a document: shape, trait, member and text."""
    in_progress = document.get("metadata", {}).get(IN_PROGRESS, {"words": [], "codes": {}})
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
        elif trait == EXPLAINS and not found:
            yield from _explanation(service, name, Explanation.of(value))
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


def _explanation(service: BotocoreService, name: str, explanation: Explanation) -> Problems:
    """Check the reads about a failure, and that none of their texts is sensitive."""
    operations = [service.model.operation_model(name)]
    names = {"input", "output", "call", "started"} | _members_within(operations[0])
    paths = _of_cause(explanation.values, "otherwise", explanation.otherwise)
    yield from _cause_paths("", paths, operations, names)
    for index, read in enumerate(explanation.reads):
        member = f".reads.{index}"
        given = {**read.parameters, **read.options}
        if read.operation not in service.operation_names:
            yield f"{member}.operation", f"{service.name} has no operation {read.operation}"
            continue
        operation = service.model.operation_model(read.operation)
        if not only_reads(operation):
            yield f"{member}.operation", f"{read.operation} may modify resources"
        taken = operation.input_shape
        for each in given.keys() - members_of(taken).keys():
            yield f"{member}.parameters.{each}", f"{read.operation} has no such parameter"
        for each in set(getattr(taken, "required_members", ())) - given.keys():
            yield f"{member}.parameters.{each}", f"{read.operation} needs it"
        # A member of a structure that is sent is a name of the input.
        sent = names | _members_within(operation)
        yield from _cause_paths(f"{member}.parameters", given.items(), (), sent)
        operations.append(operation)
        names |= {read.name} | _members_within(operation)
        paths = _of_cause(read.values, "text", read.text)
        yield from _cause_paths(member, paths, operations, names)


def _of_cause(values: Mapping[str, str], name: str, text: str | None) -> list[tuple[str, str]]:
    return [*values.items(), *([] if text is None else [(name, text)])]


def _cause_paths(
    place: str,
    paths: Iterable[tuple[str, str]],
    operations: Iterable[OperationModel],
    names: set[str],
) -> Problems:
    """Check expressions whose members are to be known; each is a name for those after it."""
    for name, path in paths:
        member, text = f"{place}.{name}", with_values(path, {})
        try:
            parse(text)
        except ExpressionSyntaxError as error:
            yield member, f"`{path}`: {error}"
            continue
        for unknown in sorted(member_names(text) - names):
            yield member, f"`{path}`: nothing has a member {unknown}"
        if any(DataModel(each, [("output", text)]).sensitive for each in operations):
            yield member, f"`{path}` reads a sensitive member"
        names.add(name)


def _members_within(operation: OperationModel) -> set[str]:
    """Return the names of the members of an operation's input and output, however deep."""
    found: set[str] = set()
    seen: set[str] = set()
    rest = [operation.input_shape, operation.output_shape]
    while rest:
        shape: Any = rest.pop()
        if shape is None or shape.name in seen:
            continue
        seen.add(shape.name)
        found |= set(members_of(shape))
        rest += members_of(shape).values()
        rest += [getattr(shape, each, None) for each in ("member", "value")]
    return found


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

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
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import botocore.session
from botocore.model import ListShape, ServiceModel, Shape, StructureShape

from ..catalog.files import load_definitions
from ..catalog.smithy import AWS_NAMESPACE
from ..engine.model import AcceptorState, OutputMatcher, WaiterDefinition

EXPECTED = "{expected}"
"""Stands in an expression for the value that the acceptor compares with."""

REASONS = "reasons.json"

TRAIT = "boto.waiters#reasons"

_Path = list[tuple[str, str]]
"""Members with the brackets behind them."""

_STEP = re.compile(r"(\w+)((?:\[[*\d]*\])?)\Z")

# What a member is called that says why, after the name of the state, the best word first.
_SUFFIXES = (
    "Reason", "ChangeReason", "TransitionReason", "Message", "Reasons", "ReasonMessage", "Messages",
    "Details", "Detail", "Description", "Information", "Info",
)  # fmt: skip

# The same without the name of the state.
_NAMES = (
    "FailureReason", "FailureReasons", "FailureMessage", "FailureMessages", "FailureDescription",
    "FailureDetails", "FailureCause", "StoppedReason", "LastFailureMessage", "ErrorMessage",
    "ErrorMessages", "ErrorDetails", "ErrorDetail", "ErrorInfo", "ErrorInformation", "Error",
    "Errors", "Reason", "Message", "ExitMessage",
)  # fmt: skip

# Which member of a structure that says why has the words.
_WORDS = ("message", "errormessage", "description", "reason", "details", "detail", "code")

# A state may be wrapped: `State: {Code, Name}` has its reason beside the structure.
_WRAPPED = ("Name", "Code", "Value", "Status", "State")


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
    namespace = AWS_NAMESPACE + re.sub(r"[^a-z0-9]", "", str(service.service_id).lower())
    return {
        f"{namespace}#{operation}": {
            "type": "apply",
            "traits": {TRAIT: dict(sorted(paths.items()))},
        }
        for operation, paths in sorted(found.items())
    }


def reason_beside(output: Shape | None, state_path: str) -> str | None:
    """The expression that gives the reason of a state.

    Args:
        output: the shape of the operation's output.
        state_path: members joined by dots, each perhaps with `[]`, `[*]` or an index.

    Returns:
        The expression, None if the model has no such member or the path is of another kind.
    """
    steps = [_STEP.match(step) for step in state_path.split(".")]
    if output is None or not all(steps):
        return None
    path = [(step[1], step[2]) for step in steps if step]
    for outer, state in _readings(path):
        owner = _shape_at(output, outer)
        if isinstance(owner, StructureShape):
            for member in _candidates(state[0], owner):
                words = _words(owner.members[member])
                if words is not None:
                    return _expression(outer, ".".join(state), f"{member}{words}")
    return None


def _readings(path: _Path) -> Iterator[tuple[_Path, list[str]]]:
    """A path as that of the owner and the state: its last member, or its last two if wrapped."""
    for size in (1, 2) if path[-1][0].title() in _WRAPPED else (1,):
        outer, state = path[:-size], path[-size:]
        if state and not any(brackets for _, brackets in state):
            yield outer, [name for name, _ in state]


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


def _candidates(state: str, owner: StructureShape) -> Iterator[str]:
    """The members of a structure that may say why, the most particular first."""
    members: Mapping[str, str] = {name.lower(): name for name in owner.members}
    stems = dict.fromkeys([state, *re.findall(r"(?i)(?:status|state)\Z", state)])
    wanted = [stem + suffix for stem in stems for suffix in _SUFFIXES]
    for name in (*wanted, *_NAMES):
        if name.lower() in members and name.lower() != state.lower():
            yield members[name.lower()]


def _words(shape: Shape, *, in_list: bool = False) -> str | None:
    """The rest of the path from a member to its text; None if it has none that may be shown."""
    if _is_text(shape):
        return ""
    if isinstance(shape, ListShape) and not in_list and not shape.metadata.get("sensitive"):
        rest = _words(shape.member, in_list=True)
        return None if rest is None else f"[]{rest}"
    if isinstance(shape, StructureShape) and not shape.metadata.get("sensitive"):
        texts = {name.lower(): name for name, each in shape.members.items() if _is_text(each)}
        return next((f".{texts[word]}" for word in _WORDS if word in texts), None)
    return None


def _is_text(shape: Shape) -> bool:
    return bool(shape.type_name == "string" and not shape.metadata.get("sensitive"))


def _expression(outer: _Path, state: str, reason: str) -> str:
    """The reason of the item whose state is the expected one, or of the one resource there is."""
    projections = [index for index, (_, brackets) in enumerate(outer) if brackets in ("[]", "[*]")]
    steps = [name + brackets for name, brackets in outer]
    if projections:
        name = outer[projections[-1]][0]
        # not_null has any type: a checker that evaluates on samples takes the item as found.
        between = ".".join([*steps[projections[-1] + 1 :], state])
        flatten = "[]" if len(projections) > 1 else ""
        steps[projections[-1]] = f"{name}[?not_null({between}) == '{EXPECTED}']{flatten}"
    text = ".".join([*steps, reason])
    return f"{text} | [0]" if projections or "[]" in reason else text


def _shape_at(shape: Shape, path: _Path) -> Shape | None:
    for name, brackets in path:
        if not isinstance(shape, StructureShape) or name not in shape.members:
            return None
        shape = shape.members[name]
        if brackets:
            if not isinstance(shape, ListShape):
                return None
            shape = shape.member
    return shape


if __name__ == "__main__":
    main()
